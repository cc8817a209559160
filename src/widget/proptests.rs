//! Whatever the size, nothing panics and nothing is drawn outside.

use std::cell::Cell as Memory;

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use tui_input::Input;

use super::*;

/// What every cell holds before: anything else outside the area was drawn there.
const GROUND: &str = "~";

fn tiers() -> impl Strategy<Value = Glyphs> {
    prop_oneof![Just(Tier::Braille), Just(Tier::Block), Just(Tier::Ascii)].prop_map(Glyphs::new)
}

/// An area within a buffer, of any size down to nothing.
fn areas() -> impl Strategy<Value = (Rect, Rect)> {
    (0..300_u16, 0..100_u16, 0..20_u16, 0..20_u16, 0..10_u16, 0..10_u16).prop_map(
        |(width, height, x, y, right, bottom)| {
            let area = Rect { x, y, width, height };
            (area, Rect::new(0, 0, x + width + right, y + height + bottom))
        },
    )
}

fn check(area: Rect, whole: Rect, draw: impl Fn(Rect, &mut Buffer)) {
    let mut buffer = Buffer::empty(whole);
    for position in whole.positions() {
        buffer[position].set_symbol(GROUND);
    }
    draw(area, &mut buffer);
    for position in whole.positions().filter(|position| !area.contains(*position)) {
        assert_eq!(buffer[position].symbol(), GROUND, "drawn outside at {position:?}");
    }
}

fn columns() -> Vec<Column> {
    vec![Column::text("NAME", 8, 40, 0), Column::figure("LAG", 7, 2), Column::fixed("STATE", 10, 1)]
}

fn popups(text: &str) -> Vec<Popup> {
    let lines = vec![text.to_owned(), String::new()];
    let field =
        Field { label: "name", input: Input::new(text.to_owned()), hint: text.to_owned(), check: |_| Ok(()) };
    let entry = HelpEntry { keys: "ctrl-x".to_owned(), text: "does a thing that takes some words" };
    vec![
        Popup::Confirm(Confirm::ask(text, lines.clone(), "Yes")),
        Popup::Confirm(Confirm::ask(text, lines.clone(), "Yes").typed(text).danger()),
        Popup::Choice(Choice {
            title: text.to_owned(),
            lines: lines.clone(),
            items: vec![ChoiceItem { label: text.to_owned(), note: text.to_owned() }; 30],
            chosen: 17,
        }),
        Popup::Form(Form { title: text.to_owned(), lines, fields: vec![field; 3], focus: 1, error: None }),
        Popup::Help(Help {
            title: text.to_owned(),
            sections: vec![HelpSection { title: text.to_owned(), entries: vec![entry; 20] }; 3],
            scroll: Memory::new(7),
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn tables_stay_inside((area, whole) in areas(), glyphs in tiers(), text in ".{0,60}", count in 0..200_usize, step in -5..400_isize) {
        let mut list = Listing::default();
        list.set((0..count).collect());
        list.step(step);
        let style = TableStyle { heading: Style::new(), sorted: Style::new(), selection: Style::new() };
        check(area, whole, |area, buffer| {
            let cells = |row: usize| vec![
                Cell::Text(text.as_str().into(), Style::new()),
                Cell::Line(vec![(row.to_string().into(), Style::new()), (text.as_str().into(), Style::new())]),
                Cell::Draw(Box::new(move |area, buffer| {
                    Bar { ratio: 0.4, style: Style::new(), empty: Style::new() }.draw(&glyphs, area, buffer);
                })),
            ];
            let rows = list.visible(usize::from(area.height.saturating_sub(1)));
            let table = Table { columns: &columns(), sorted: Some((1, true)), rows, selected: Some(list.place()), cells: &cells, style };
            table.draw(&glyphs, area, buffer);
        });
    }

    #[test]
    fn charts_stay_inside((area, whole) in areas(), glyphs in tiers(), points in proptest::collection::vec(proptest::option::of(-10.0..1e9_f64), 0..200)) {
        check(area, whole, |area, buffer| {
            Sparkline { points: &points, span: None, max: None, style: &Style::new() }.draw(&glyphs, area, buffer);
            Sparkline { points: &points, span: Some(60), max: None, style: &Style::new() }.draw(&glyphs, area, buffer);
        });
        let marks: Vec<_> = points.iter().flatten().map(|value| Mark { ago: value / 1e8, weight: 1, style: Style::new() }).collect();
        check(area, whole, |area, buffer| Strip { marks: &marks, empty: Style::new() }.draw(&glyphs, area, buffer));
    }

    #[test]
    fn a_matrix_stays_inside((area, whole) in areas(), glyphs in tiers(), wide in 0..200_usize, rows in 0..12_usize, section in 0..6_usize, column in 0..200_usize) {
        let sections: Vec<_> = (0..5).map(|n| MatrixSection { title: format!("a-topic-with-a-name-{n}"), columns: wide / (n + 1) }).collect();
        let names: Vec<_> = (0..rows).map(|n| (format!("broker {n}").into(), Style::new())).collect();
        check(area, whole, |area, buffer| {
            Matrix {
                sections: &sections,
                rows: &names,
                cell: &|_, row, column| (row < column).then_some(MatrixCell { symbol: "L", style: Style::new() }),
                selected: Some(MatrixPosition { section, column }),
                title: Style::new(),
                label: Style::new(),
                empty: Style::new(),
                selection: Style::new(),
            }
            .draw(&glyphs, area, buffer);
        });
    }

    #[test]
    fn frames_and_lines_stay_inside((area, whole) in areas(), glyphs in tiers(), text in ".{0,80}") {
        let line = || vec![(text.as_str().into(), Style::new())];
        check(area, whole, |area, buffer| {
            let panel = Panel { title: line(), right: line(), bottom: line(), border: Style::new() };
            let inner = panel.draw(&glyphs, area, buffer);
            assert!(inner.is_empty() || area.union(inner) == area);
        });
        let segment = || Segment::new(text.as_str(), Style::new(), 1);
        check(area, whole, |area, buffer| {
            StatusBar { left: vec![segment(), segment()], right: vec![segment()], separator: " | ".into(), ..StatusBar::default() }.draw(area, buffer);
        });
        check(area, whole, |area, buffer| {
            Toast { glyph: glyphs.ok, text: text.as_str().into(), style: Style::new() }.draw(area, buffer);
        });
    }

    #[test]
    fn popups_stay_inside((area, whole) in areas(), glyphs in tiers(), text in ".{0,200}") {
        for popup in popups(&text) {
            check(area, whole, |area, buffer| popup.draw(&glyphs, &PopupStyle::default(), area, buffer));
        }
    }
}
