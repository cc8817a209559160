//! Any size, any view, any popup: nothing panics, nothing wraps, nothing is cut in silence.

use ottla::widget::Tier;
use proptest::prelude::*;

use crate::screen::{console, draw, press, text};
use crate::story::Story;

/// Keys that lead to each place there is.
const PLACES: [&str; 19] = [
    "1",
    "2",
    "2 j j j",
    "3",
    "3 v",
    "3 i w",
    "4",
    "4 enter j j",
    "5",
    "6",
    "6 j j j j j",
    "1 ?",
    "3 m",
    "3 n",
    "3 j D",
    "2 x",
    "2 X",
    "1 q",
    "3 / o r d",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn no_size_is_too_small_or_too_large(
        width in 0..300_u16,
        height in 0..100_u16,
        place in 0..PLACES.len(),
        tier in prop_oneof![Just(Tier::Braille), Just(Tier::Block), Just(Tier::Ascii)],
        moment in 0..3_usize,
    ) {
        let story = [Story::first_frame, Story::healthy, Story::failover][moment]();
        let mut console = console("dark", tier);
        press(&mut console, &story.model, story.now, PLACES[place]);
        draw(&mut console, &story.model, story.now, (width, height));
    }
}

#[test]
fn too_small_a_window_is_said_in_a_sentence() {
    let story = Story::healthy();
    let mut console = console("dark", Tier::Braille);
    let buffer = draw(&mut console, &story.model, story.now, (59, 30));
    assert!(text(&buffer).starts_with("ottla needs 60x16, this is 59x30."));
}

#[test]
fn the_smallest_window_shows_every_broker_and_what_is_wrong() {
    let story = Story::failover();
    let mut console = console("dark", Tier::Braille);
    let shown = text(&draw(&mut console, &story.model, story.now, (60, 16)));
    for words in ["2/3 brokers up", "1 offline", "down"] {
        assert!(shown.contains(words), "{words} is missing:\n{shown}");
    }
}
