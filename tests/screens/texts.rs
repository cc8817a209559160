//! What every view says, at three sizes, and in what colours.

use insta::assert_snapshot;
use ottla::tui::Depth;
use ottla::widget::Tier;

use crate::screen::{console, draw, press, styles, text};
use crate::story::Story;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 36), (200, 60)];
const VIEWS: [&str; 6] = ["overview", "brokers", "partitions", "groups", "network", "events"];

fn every_view(moment: &str, story: &Story) {
    for (number, view) in VIEWS.iter().enumerate() {
        for (width, height) in SIZES {
            let mut console = console("dark", Tier::Braille);
            press(&mut console, &story.model, story.now, &(number + 1).to_string());
            let buffer = draw(&mut console, &story.model, story.now, (width, height));
            assert_snapshot!(format!("{moment}-{view}-{width}x{height}"), text(&buffer));
        }
    }
}

#[test]
fn when_nothing_is_known_yet() {
    let story = Story::first_frame();
    for (width, height) in SIZES {
        let mut console = console("dark", Tier::Braille);
        let buffer = draw(&mut console, &story.model, story.now, (width, height));
        assert_snapshot!(format!("first-overview-{width}x{height}"), text(&buffer));
    }
}

#[test]
fn when_all_is_well() {
    every_view("healthy", &Story::healthy());
}

#[test]
fn when_a_broker_is_dead_and_a_group_rebalances() {
    every_view("failover", &Story::failover());
}

#[test]
fn when_the_broker_is_back() {
    let story = Story::recovered();
    for (key, view) in [("3", "partitions"), ("6", "events")] {
        let mut console = console("dark", Tier::Braille);
        press(&mut console, &story.model, story.now, key);
        let buffer = draw(&mut console, &story.model, story.now, (120, 36));
        assert_snapshot!(format!("recovered-{view}-120x36"), text(&buffer));
    }
}

#[test]
fn in_ascii_nothing_else_is_drawn() {
    let story = Story::failover();
    for number in 1..=6 {
        for (width, height) in SIZES {
            let mut console = console("mono", Tier::Ascii);
            press(&mut console, &story.model, story.now, &number.to_string());
            let text = text(&draw(&mut console, &story.model, story.now, (width, height)));
            // What the timeline says in words keeps its arrows and dashes; everything drawn is ASCII.
            let foreign: String = text.chars().filter(|c| !c.is_ascii() && !matches!(c, '→' | '…')).collect();
            assert_eq!(foreign, "", "view {number} at {width}x{height}:\n{text}");
        }
    }
}

#[test]
fn the_same_screen_at_every_colour_depth() {
    let story = Story::failover();
    for (depth, name, theme) in [
        (Depth::TrueColor, "true", "dark"),
        (Depth::Ansi256, "256", "dark"),
        (Depth::Ansi16, "16", "dark"),
        (Depth::Ansi16, "16-terminal", "terminal"),
        (Depth::None, "none", "mono"),
    ] {
        let mut console = console(theme, Tier::Braille);
        let buffer = draw(&mut console, &story.model, story.now, (80, 24));
        assert_snapshot!(format!("depth-{name}"), styles(&buffer, depth));
    }
}
