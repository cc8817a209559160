//! The payload of a log batch.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ottla_zookeeper::jute::{Reader, Writer};
use ottla_zookeeper::state::Transaction;

fuzz_target!(|bytes: &[u8]| {
    let mut reader = Reader::new(bytes);
    if let Ok(transaction) = Transaction::decode(&mut reader) {
        let mut writer = Writer::new();
        transaction.encode(&mut writer);
        let again = Transaction::decode(&mut Reader::new(writer.as_bytes()));
        assert_eq!(again.as_ref(), Ok(&transaction));
    }
});
