//! Kafka's messages and record formats: types and safe codecs, no I/O.
//!
//! Every message is declared once, as data, in a file of its own under [`message`]; encoder and decoder of every
//! version come from that declaration. [`record`] holds the batches that messages carry and logs store,
//! [`internal_topic`] what the internal topics' records mean, and [`wire`] the bounded reader and writer below all of
//! them.
//!
//! Nothing here allocates more than the bytes at hand can fill, and no input makes it panic. Record bytes are slices
//! of what was received and are never copied. Start reading at [`wire`], then `message/fetch.rs`.

pub mod internal_topic;
pub mod message;
pub mod record;
pub mod wire;
