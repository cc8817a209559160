//! One frame: header and body of any request, or a handshake.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ottla_zookeeper::jute::{ConnectRequest, Reader, Request, RequestHeader};

fuzz_target!(|bytes: &[u8]| {
    let mut reader = Reader::new(bytes);
    if let Ok(header) = RequestHeader::decode(&mut reader) {
        let _understood = Request::decode(header.op, &mut reader);
    }
    let _understood = ConnectRequest::decode(&mut Reader::new(bytes));
});
