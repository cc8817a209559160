//! Tables, matrices, sparklines, timelines and popups that know no Kafka.
//!
//! Each draws into a part of a [`Buffer`](ratatui::buffer::Buffer) and never outside it, at any size down to nothing.
//! What is drawn costs what is visible: tables and matrices ask only for the rows that fit. Styles and glyphs are
//! given; a widget has no colours of its own.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod bar;
mod glyphs;
mod listing;
mod matrix;
mod panel;
mod popup;
#[cfg(test)]
mod proptests;
mod sparkline;
mod status_bar;
mod table;
mod text;
mod timeline;
mod toast;

pub use bar::Bar;
pub use glyphs::{Glyphs, Tier};
pub use listing::Listing;
pub use matrix::{Matrix, MatrixCell, MatrixPosition, MatrixSection};
pub use panel::{Panel, inset};
pub use popup::{
    Button, Choice, ChoiceItem, Confirm, Field, Form, Help, HelpEntry, HelpSection, Popup, PopupKey,
    PopupStyle, Reply, edit,
};
pub use sparkline::Sparkline;
pub use status_bar::{Segment, StatusBar};
pub use table::{Align, Cell, Column, Painter, Shorten, Table, TableStyle, Width};
pub use text::{Line, fit, put, put_line, width};
pub use timeline::{Mark, Strip};
pub use toast::Toast;
