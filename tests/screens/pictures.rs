//! The pictures in `screenshots/` are what the program draws.

use std::fs;
use std::path::PathBuf;

use ottla::tui::picture::{Palette, svg};
use ottla::widget::Tier;

use crate::screen::{console, draw, press};
use crate::story::Story;

/// A picture: its name, what it shows, the theme, the size, the keys pressed before.
struct Picture {
    name: &'static str,
    title: &'static str,
    story: fn() -> Story,
    theme: &'static str,
    size: (u16, u16),
    keys: &'static str,
}

const PICTURES: [Picture; 11] = [
    Picture {
        name: "overview",
        title: "Overview of a local cluster two seconds after broker 2 was killed",
        story: Story::failover,
        theme: "dark",
        size: (140, 40),
        keys: "",
    },
    Picture {
        name: "first-frame",
        title: "The first frame: brokers are about to start",
        story: Story::first_frame,
        theme: "dark",
        size: (100, 24),
        keys: "",
    },
    Picture {
        name: "brokers",
        title: "Brokers and their processes",
        story: Story::healthy,
        theme: "dark",
        size: (140, 36),
        keys: "2",
    },
    Picture {
        name: "partitions",
        title: "Partitions and the leadership matrix during a failover",
        story: Story::failover,
        theme: "dark",
        size: (160, 44),
        keys: "3",
    },
    Picture {
        name: "move-leadership",
        title: "Choosing the in-sync replica that is to lead a partition",
        story: Story::recovered,
        theme: "dark",
        size: (100, 30),
        keys: "3 j j m",
    },
    Picture {
        name: "groups",
        title: "Consumer groups, their members, offsets and lag",
        story: Story::healthy,
        theme: "dark",
        size: (140, 40),
        keys: "4",
    },
    Picture {
        name: "network",
        title: "Request channel, handlers, processors, and where the time of requests goes",
        story: Story::healthy,
        theme: "dark",
        size: (140, 36),
        keys: "5",
    },
    Picture {
        name: "events",
        title: "The timeline of a failover and a recovery, with how long each partition had no leader",
        story: Story::recovered,
        theme: "dark",
        size: (140, 36),
        keys: "6 j j j j j j j j j j",
    },
    Picture {
        name: "help",
        title: "The keys that work in the partitions view",
        story: Story::healthy,
        theme: "dark",
        size: (100, 30),
        keys: "3 ?",
    },
    Picture {
        name: "overview-light",
        title: "The overview in the light theme",
        story: Story::healthy,
        theme: "light",
        size: (120, 36),
        keys: "",
    },
    Picture {
        name: "overview-terminal-80x24",
        title: "The overview at 80 by 24 in the terminal's own 16 colours",
        story: Story::failover,
        theme: "terminal",
        size: (80, 24),
        keys: "",
    },
];

#[test]
fn screenshots_are_what_the_program_draws() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("screenshots");
    let rewrite = std::env::var_os("OTTLA_SCREENSHOTS").is_some();
    let mut stale = Vec::new();
    for picture in &PICTURES {
        let story = (picture.story)();
        let mut console = console(picture.theme, Tier::Braille);
        press(&mut console, &story.model, story.now, picture.keys);
        let buffer = draw(&mut console, &story.model, story.now, picture.size);
        let palette = if picture.theme == "light" { Palette::light() } else { Palette::default() };
        let drawn = svg(&buffer, &palette, picture.title);
        let path = folder.join(format!("{}.svg", picture.name));
        if rewrite {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, drawn).unwrap();
        } else if fs::read_to_string(&path).ok().as_deref() != Some(&*drawn) {
            stale.push(picture.name);
        }
    }
    let known: Vec<String> = PICTURES.iter().map(|picture| format!("{}.svg", picture.name)).collect();
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.ends_with(".svg") || known.contains(&name), "{name} is made by nothing");
    }
    assert!(
        stale.is_empty(),
        "stale pictures: {stale:?}; OTTLA_SCREENSHOTS=write cargo test --test screens makes them anew"
    );
}
