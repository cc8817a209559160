//! What commands print: results on standard output, trouble on standard error.

mod demo;
mod process;
mod status;

pub(super) use demo::demo;
pub(super) use process::{cluster_line, failure, line, said, warning};
pub(super) use status::status;
