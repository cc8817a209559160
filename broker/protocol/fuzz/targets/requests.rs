//! Feeds bytes to `entry::requests`, which the hostile tests run too, over the corpus beside this.
#![no_main]

#[path = "../../tests/hostile/entry.rs"]
mod entry;
#[path = "../../tests/hostile/messages.rs"]
mod messages;

libfuzzer_sys::fuzz_target!(|data: &[u8]| entry::requests(data));
