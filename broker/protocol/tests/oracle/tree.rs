//! Values as trees, read from what `{:?}` prints, so that messages of different crates can be compared by field name.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

use ottla_protocol::wire::Uuid;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    /// Null, which is `None` or records that are not there.
    Null,
    /// Something that might have been null.
    Present(Box<Tree>),
    /// A structure, or a map.
    Fields(BTreeMap<String, Tree>),
    List(Vec<Tree>),
    /// A number, a string or bytes, as printed.
    Leaf(String),
}

impl Tree {
    pub(crate) fn parse(text: &str) -> Self {
        let mut input = text.chars().peekable();
        let tree = value(&mut input);
        assert_eq!(input.next(), None, "{text}");
        tree
    }

    /// Returns where two trees differ. When not `exact`, fields that only one of them has are passed over, as are
    /// fields that may be null in one definition only.
    pub(crate) fn difference(&self, other: &Self, exact: bool) -> Option<String> {
        match (self, other) {
            (Self::Fields(mine), Self::Fields(theirs)) => {
                // A message without flexible versions has no such field at all in other crates.
                let names = |fields: &BTreeMap<String, Self>| {
                    fields.keys().filter(|name| *name != "unknown_tagged_fields").cloned().collect::<Vec<_>>()
                };
                if exact && names(mine) != names(theirs) {
                    return Some(format!("fields {:?} against {:?}", names(mine), names(theirs)));
                }
                mine.iter().find_map(|(name, mine)| {
                    let theirs = theirs.get(name)?;
                    mine.difference(theirs, exact).map(|inner| format!("{name}: {inner}"))
                })
            }
            (Self::List(mine), Self::List(theirs)) => {
                if mine.len() != theirs.len() {
                    return Some(format!("{} elements against {}", mine.len(), theirs.len()));
                }
                let mut pairs = mine.iter().zip(theirs).enumerate();
                pairs.find_map(|(index, (mine, theirs))| {
                    mine.difference(theirs, exact).map(|inner| format!("[{index}] {inner}"))
                })
            }
            (Self::Present(mine), Self::Present(theirs)) => mine.difference(theirs, exact),
            (Self::Present(inner), other) | (other, Self::Present(inner)) if !exact => {
                inner.difference(other, exact)
            }
            _ if self == other => None,
            _ => Some(format!("{self:?} against {other:?}")),
        }
    }
}

type Input<'a> = Peekable<Chars<'a>>;

fn value(input: &mut Input<'_>) -> Tree {
    match *input.peek().expect("a value") {
        '"' => Tree::Leaf(quoted(input)),
        '[' => Tree::List(list(input, '[', ']')),
        '{' => Tree::Fields(fields(input)),
        _ => named(input),
    }
}

/// A number, an identifier with what it holds, or bytes.
fn named(input: &mut Input<'_>) -> Tree {
    let mut word = String::new();
    while let Some(next) = input.next_if(|next| !" ,(){}[]:\"".contains(*next)) {
        word.push(next);
    }
    match input.peek() {
        Some('"') => Tree::Leaf(word + &quoted(input)),
        Some('(') => {
            let inner = list(input, '(', ')').pop().expect("one value");
            match word.as_str() {
                "Some" | "Bytes" => Tree::Present(Box::new(inner)),
                "Uuid" => uuid(&inner),
                _ => inner,
            }
        }
        Some(' ') if word.starts_with(char::is_uppercase) => {
            assert_eq!(input.next(), Some(' '));
            Tree::Fields(fields(input))
        }
        _ if word == "None" || word == "Null" => Tree::Null,
        _ => Tree::Leaf(word),
    }
}

/// Other crates print UUIDs in hexadecimal with dashes.
fn uuid(tree: &Tree) -> Tree {
    let Tree::Leaf(text) = tree else { panic!("{tree:?}") };
    let id: Uuid = text.parse().unwrap();
    Tree::Leaf(uuid::Uuid::from_bytes(id.0).to_string())
}

fn quoted(input: &mut Input<'_>) -> String {
    let mut text = String::from(input.next().unwrap());
    while let Some(next) = input.next() {
        text.push(next);
        match next {
            '\\' => text.push(input.next().unwrap()),
            '"' => break,
            _ => {}
        }
    }
    text
}

fn list(input: &mut Input<'_>, open: char, close: char) -> Vec<Tree> {
    assert_eq!(input.next(), Some(open));
    let mut elements = Vec::new();
    loop {
        skip(input);
        if input.next_if_eq(&close).is_some() {
            return elements;
        }
        elements.push(value(input));
    }
}

/// Fields of a structure, `name: value`, or entries of a map, `key: value`.
fn fields(input: &mut Input<'_>) -> BTreeMap<String, Tree> {
    assert_eq!(input.next(), Some('{'));
    let mut found = BTreeMap::new();
    loop {
        skip(input);
        if input.next_if_eq(&'}').is_some() {
            return found;
        }
        let mut name = String::new();
        while let Some(next) = input.next_if(|next| *next != ':') {
            name.push(next);
        }
        assert_eq!(input.next(), Some(':'));
        skip(input);
        let name = name.trim_start_matches("r#").trim_start_matches('_').to_owned();
        found.insert(name, value(input));
    }
}

fn skip(input: &mut Input<'_>) {
    while input.next_if(|next| *next == ' ' || *next == ',').is_some() {}
}

#[test]
fn what_is_printed_is_read() {
    let tree = Tree::parse(
        r#"A { b: Some(-1), c: [B { d: "x\"," }], e: {7: b"\0]"}, f: None, g: Uuid(AAAAAAAAAAAAAAAAAAAAAA) }"#,
    );
    let Tree::Fields(fields) = &tree else { panic!("{tree:?}") };
    assert_eq!(fields["b"], Tree::Present(Box::new(Tree::Leaf("-1".to_owned()))));
    assert_eq!(fields["f"], Tree::Null);
    assert_eq!(fields["g"], Tree::Leaf("00000000-0000-0000-0000-000000000000".to_owned()));
    let other = Tree::parse(r#"A { b: -1, c: [B { d: "x\",y" }] }"#);
    assert!(tree.difference(&other, true).is_some());
    assert!(tree.difference(&other, false).unwrap().starts_with("c: [0] d: "));
}
