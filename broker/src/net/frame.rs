//! Cutting frames out of what a socket gives.
//!
//! A frame is a length in 4 bytes and that many bytes. The length is a claim: memory is taken for what arrived, and at
//! most as much again, never for what was claimed.

use bytes::{Buf as _, Bytes, BytesMut};

/// Bytes of a frame's length.
const LENGTH_BYTES: usize = 4;
/// What an idle connection is given to read into: holds nearly every request but produces.
const FIRST_READ_BYTES: usize = 8 * 1024;
/// The least that a frame's buffer grows by.
const LEAST_GROWTH_BYTES: usize = 32 * 1024;

/// Why a length was not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("a frame of {length} bytes: a length cannot be negative")]
    Negative { length: i32 },
    #[error("a frame of {length} bytes is larger than the {limit} allowed")]
    TooLarge { length: i32, limit: usize },
}

/// Bytes that arrived and are not yet cut into frames.
#[derive(Debug)]
pub(crate) struct FrameBuffer {
    arrived: BytesMut,
    limit: usize,
}

impl FrameBuffer {
    /// Makes a buffer that refuses frames of more than `limit` bytes. It holds no memory yet.
    pub(crate) fn new(limit: usize) -> Self {
        Self { arrived: BytesMut::new(), limit }
    }

    /// Returns the next whole frame, without its length; none when more bytes must arrive.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Bytes>, FrameError> {
        let Some(length) = self.claimed()? else { return Ok(None) };
        if self.arrived.len() < LENGTH_BYTES + length {
            return Ok(None);
        }
        let mut frame = self.arrived.split_to(LENGTH_BYTES + length);
        frame.advance(LENGTH_BYTES);
        if self.arrived.is_empty() {
            // Gives up the rest of the allocation: an idle connection holds none, and a frame only its own.
            self.arrived = BytesMut::new();
        }
        Ok(Some(frame.freeze()))
    }

    /// Returns room to read into: some for the first bytes, then at most as much as has already arrived of the frame.
    pub(crate) fn room(&mut self) -> &mut BytesMut {
        let arrived = self.arrived.len();
        let wanted = match self.claimed() {
            Ok(Some(length)) => {
                let missing = (LENGTH_BYTES + length).saturating_sub(arrived);
                missing.min(arrived.max(LEAST_GROWTH_BYTES))
            }
            Ok(None) | Err(_) => FIRST_READ_BYTES,
        };
        if self.arrived.capacity() == arrived {
            self.arrived.reserve(wanted);
        }
        &mut self.arrived
    }

    /// Gives back the memory of a buffer that holds nothing.
    pub(crate) fn release(&mut self) {
        if self.arrived.is_empty() {
            self.arrived = BytesMut::new();
        }
    }

    /// Returns whether a part of a frame has arrived.
    pub(crate) fn is_within_frame(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// Returns the length that the next frame claims, once its four bytes are there.
    fn claimed(&self) -> Result<Option<usize>, FrameError> {
        let Some(bytes) = self.arrived.first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let length = i32::from_be_bytes(*bytes);
        match usize::try_from(length) {
            Err(_) => Err(FrameError::Negative { length }),
            Ok(size) if size > self.limit => Err(FrameError::TooLarge { length, limit: self.limit }),
            Ok(size) => Ok(Some(size)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn framed(payload: &[u8]) -> Vec<u8> {
        let mut bytes = u32::try_from(payload.len()).unwrap().to_be_bytes().to_vec();
        bytes.extend_from_slice(payload);
        bytes
    }

    fn filled(bytes: &[u8]) -> FrameBuffer {
        let mut buffer = FrameBuffer::new(1 << 20);
        buffer.room().extend_from_slice(bytes);
        buffer
    }

    #[test]
    fn a_claim_costs_no_memory() {
        let mut buffer = FrameBuffer::new(i32::MAX as usize);
        buffer.room().extend_from_slice(&i32::MAX.to_be_bytes());
        buffer.room().extend_from_slice(&[0; 100]);
        assert!(buffer.next_frame().unwrap().is_none());
        assert!(buffer.room().capacity() < 256 * 1024, "{}", buffer.arrived.capacity());
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        assert_eq!(filled(&[0xff; 4]).next_frame(), Err(FrameError::Negative { length: -1 }));
        let too_large = FrameError::TooLarge { length: i32::MAX, limit: 1 << 20 };
        assert_eq!(filled(&i32::MAX.to_be_bytes()).next_frame(), Err(too_large));
        // What a browser or another protocol sends first reads as a huge length.
        assert!(filled(b"GET / HTTP/1.1\r\n\r\n").next_frame().is_err());
    }

    #[test]
    fn half_a_frame_is_waited_for() {
        for bytes in [&framed(b"hello")[..8], &[0, 0][..], &[]] {
            let mut buffer = filled(bytes);
            assert_eq!(buffer.next_frame(), Ok(None));
            assert_eq!(buffer.is_within_frame(), !bytes.is_empty());
        }
    }

    #[test]
    fn an_empty_buffer_holds_no_memory() {
        let mut buffer = filled(&framed(b"hello"));
        assert_eq!(buffer.next_frame().unwrap().unwrap(), "hello");
        assert_eq!(buffer.arrived.capacity(), 0);
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..5_000), 0..8),
            chunk in 1_usize..9_000,
        ) {
            let stream: Vec<u8> = payloads.iter().flat_map(|payload| framed(payload)).collect();
            let mut buffer = FrameBuffer::new(1 << 20);
            let mut frames = Vec::new();
            for bytes in stream.chunks(chunk) {
                buffer.room().extend_from_slice(bytes);
                while let Some(frame) = buffer.next_frame().unwrap() {
                    frames.push(frame.to_vec());
                }
            }
            prop_assert_eq!(frames, payloads);
            prop_assert!(!buffer.is_within_frame());
        }
    }
}
