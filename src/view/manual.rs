//! The page of keys in the documentation.

use std::fmt::Write as _;

use super::binding::{BINDINGS, Binding, Place};
use super::key_action::ViewId;

/// Says whether what works at a place belongs to a section.
type Belongs = fn(Place) -> bool;

/// Returns the page of keys, in Markdown. A test keeps `docs/keys.md` the same.
pub fn manual() -> String {
    let mut page = String::from(
        "# Keys\n\nThis page is made from the console's own table of keys. Lower-case letters look, upper-case letters \
         change something. `?` shows the keys that work where you are.\n\nA key map file (`--keys FILE` or the \
         variable `OTTLA_KEYS`) puts other keys in place by name:\n\n```toml\n[keys]\n\"broker.kill\" = \"K\"\n\
         \"move.down\" = [\"j\", \"down\"]\n\"pause\" = []   # no key\n```\n",
    );
    let sections: [(&str, Belongs); 7] = [
        ("Everywhere", |place| place == Place::Everywhere),
        ("In views", |place| matches!(place, Place::In(_))),
        ("While typing a filter", |place| place == Place::Filter),
        ("In a question", |place| matches!(place, Place::Confirm | Place::TypedConfirm)),
        ("In a choice", |place| place == Place::Choice),
        ("In a form", |place| place == Place::Form),
        ("In the help", |place| place == Place::Help),
    ];
    for (title, belongs) in sections {
        write_section(&mut page, title, &mut BINDINGS.iter().filter(|binding| belongs(binding.place)));
    }
    page
}

fn write_section(page: &mut String, title: &str, bindings: &mut dyn Iterator<Item = &Binding>) {
    let views = title == "In views";
    let (heading, rule) = if views {
        ("| keys | what | views | name |", "|---|---|---|---|")
    } else {
        ("| keys | what | name |", "|---|---|---|")
    };
    let _ = write!(page, "\n## {title}\n\n{heading}\n{rule}\n");
    for binding in bindings {
        let keys: Vec<_> = binding.keys.iter().map(|key| format!("`{key}`")).collect();
        let place = match binding.place {
            Place::In(places) if places.len() == ViewId::ALL.len() => " all |".to_owned(),
            Place::In(places) => {
                format!(" {} |", places.iter().map(|view| view.name()).collect::<Vec<_>>().join(", "))
            }
            _ => String::new(),
        };
        let _ = writeln!(page, "| {} | {} |{place} `{}` |", keys.join(" "), binding.help, binding.name);
    }
}
