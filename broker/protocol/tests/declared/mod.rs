//! The declarations in `src/message/` read as data, and valid messages made from them.
//!
//! This is a second, independent implementation of the encoding: it walks the text of the declarations and writes
//! bytes, so that what the macro generates is compared with something that shares no code with it.
#![allow(dead_code, reason = "each test binary uses its part")]

pub(crate) mod generate;
pub(crate) mod random;
pub(crate) mod schema;
