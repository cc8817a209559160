//! Blocks, lines and braille as paths.

use std::fmt::Write as _;

/// How thick a line is.
const LINE: f64 = 1.2;
/// How thick a heavy line is.
const HEAVY: f64 = 4.0;
/// The radius of a rounded corner.
const CORNER: f64 = 3.5;
/// The radius of a braille dot.
const DOT: f64 = 1.15;

/// Writes a character as a path into the cell at this place; returns false when it is to be written as text.
pub(super) fn write(out: &mut String, c: char, x: f64, y: f64, (width, height): (f64, f64)) -> bool {
    let middle = (x + width / 2.0, y + height / 2.0);
    match c {
        '█' => rectangle(out, x, y, width, height),
        // ▁ to ▇ grow from the bottom by eighths.
        '\u{2581}'..='\u{2587}' => {
            let part = height * f64::from(c as u32 - 0x2580) / 8.0;
            rectangle(out, x, y + height - part, width, part);
        }
        // ▉ to ▏ shrink from the left by eighths.
        '\u{2589}'..='\u{258f}' => {
            rectangle(out, x, y, width * f64::from(0x2590 - c as u32) / 8.0, height);
        }
        '─' => rectangle(out, x, middle.1 - LINE / 2.0, width, LINE),
        '━' => rectangle(out, x, middle.1 - HEAVY / 2.0, width, HEAVY),
        '╸' => rectangle(out, x, middle.1 - HEAVY / 2.0, width / 2.0, HEAVY),
        '│' => rectangle(out, middle.0 - LINE / 2.0, y, LINE, height),
        '╭' => corner(out, (x + width, middle.1), (middle.0, y + height), (CORNER, CORNER), middle),
        '╮' => corner(out, (x, middle.1), (middle.0, y + height), (-CORNER, CORNER), middle),
        '╰' => corner(out, (x + width, middle.1), (middle.0, y), (CORNER, -CORNER), middle),
        '╯' => corner(out, (x, middle.1), (middle.0, y), (-CORNER, -CORNER), middle),
        '\u{2800}'..='\u{28ff}' => braille(out, c as u32 - 0x2800, x, y, (width, height)),
        _ => return false,
    }
    true
}

fn rectangle(out: &mut String, x: f64, y: f64, width: f64, height: f64) {
    let _ = write!(out, "M{x:.1} {y:.1}h{width:.1}v{height:.1}h{:.1}z", -width);
}

/// Draws two arms from the edges of a cell that meet in a rounded corner at its middle, as a thin outline.
fn corner(out: &mut String, side: (f64, f64), end: (f64, f64), (dx, dy): (f64, f64), middle: (f64, f64)) {
    let half = LINE / 2.0;
    let (sign_x, sign_y) = (dx.signum(), dy.signum());
    let outer = |offset: f64| {
        let (arm_y, arm_x) = (middle.1 - sign_y * offset, middle.0 - sign_x * offset);
        ((side.0, arm_y), (middle.0 + dx, arm_y), (arm_x, arm_y), (arm_x, middle.1 + dy), (arm_x, end.1))
    };
    let (a, b, control, d, e) = outer(half);
    let (a2, b2, control2, d2, e2) = outer(-half);
    let _ = write!(
        out,
        "M{:.1} {:.1}L{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}L{:.1} {:.1}z",
        a.0,
        a.1,
        b.0,
        b.1,
        control.0,
        control.1,
        d.0,
        d.1,
        e.0,
        e.1,
        e2.0,
        e2.1,
        d2.0,
        d2.1,
        control2.0,
        control2.1,
        b2.0,
        b2.1,
        a2.0,
        a2.1
    );
}

/// Draws the dots of a braille cell; bit 0 is the upper left one, counted down first, the lowest row last.
fn braille(out: &mut String, dots: u32, x: f64, y: f64, (width, height): (f64, f64)) {
    const PLACES: [(f64, f64); 8] =
        [(0.0, 0.0), (0.0, 1.0), (0.0, 2.0), (1.0, 0.0), (1.0, 1.0), (1.0, 2.0), (0.0, 3.0), (1.0, 3.0)];
    for (bit, (column, row)) in PLACES.iter().enumerate() {
        if dots & (1 << bit) == 0 {
            continue;
        }
        let (centre_x, centre_y) = (x + width * (0.25 + 0.5 * column), y + height * (0.125 + 0.25 * row));
        let _ = write!(
            out,
            "M{:.1} {centre_y:.1}a{DOT} {DOT} 0 1 0 {:.1} 0a{DOT} {DOT} 0 1 0 {:.1} 0z",
            centre_x - DOT,
            2.0 * DOT,
            -2.0 * DOT
        );
    }
}
