//! A buffer as an SVG picture, the same bytes for the same buffer.
//!
//! Runs of one style become one rectangle and one text. Blocks, lines and braille are drawn as shapes: a font's glyphs
//! leave gaps between rows, and many fonts have no braille.

mod palette;
mod shape;
mod svg;

pub use palette::Palette;
pub use svg::svg;
