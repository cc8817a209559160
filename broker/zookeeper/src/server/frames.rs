//! Frames out of a stream of bytes.

/// Cuts a stream into frames of four bytes of length and a body. Keeps only what is incomplete.
#[derive(Debug)]
pub(super) struct Frames {
    partial: Vec<u8>,
    frame_bytes_max: usize,
}

/// A frame and what follows it.
type Cut<'a> = (&'a [u8], &'a [u8]);

/// A frame whose length is negative or beyond the limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadLength;

impl Frames {
    pub(super) fn new(frame_bytes_max: usize) -> Self {
        Frames { partial: Vec::new(), frame_bytes_max }
    }

    /// Returns the bytes that are kept.
    pub(super) fn kept_bytes(&self) -> usize {
        self.partial.len()
    }

    /// Gives every whole frame to `take`, as long as that returns true, and keeps the rest for the next call.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(&[u8]) -> bool,
    ) -> Result<(), BadLength> {
        let mut input = bytes;
        let kept;
        if !self.partial.is_empty() {
            self.partial.extend_from_slice(bytes);
            kept = std::mem::take(&mut self.partial);
            input = &kept;
        }
        loop {
            match self.split(input)? {
                Some((frame, rest)) => {
                    input = rest;
                    if !take(frame) {
                        return Ok(());
                    }
                }
                None => {
                    self.partial.extend_from_slice(input);
                    return Ok(());
                }
            }
        }
    }

    fn split<'a>(&self, input: &'a [u8]) -> Result<Option<Cut<'a>>, BadLength> {
        let Some((length, body)) = input.split_first_chunk::<4>() else { return Ok(None) };
        let length = usize::try_from(i32::from_be_bytes(*length)).map_err(|_negative| BadLength)?;
        if length > self.frame_bytes_max {
            return Err(BadLength);
        }
        Ok(body.split_at_checked(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(frames: &mut Frames, bytes: &[u8]) -> Result<Vec<Vec<u8>>, BadLength> {
        let mut taken = Vec::new();
        frames.push(bytes, |frame| {
            taken.push(frame.to_vec());
            true
        })?;
        Ok(taken)
    }

    #[test]
    fn frames_are_the_same_wherever_the_stream_is_cut() {
        let stream = [0, 0, 0, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 1, 9];
        let expected = vec![vec![1, 2], vec![], vec![9]];
        for cut in 0..=stream.len() {
            let mut frames = Frames::new(10);
            let mut taken = collect(&mut frames, &stream[..cut]).unwrap();
            taken.extend(collect(&mut frames, &stream[cut..]).unwrap());
            assert_eq!(taken, expected, "cut at {cut}");
            assert!(frames.partial.is_empty());
        }
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused_before_its_body_arrives() {
        assert_eq!(collect(&mut Frames::new(10), &[0, 0, 0, 11]), Err(BadLength));
        assert_eq!(collect(&mut Frames::new(10), &[0xff, 0xff, 0xff, 0xff]), Err(BadLength));
        assert_eq!(collect(&mut Frames::new(10), &[0x7f, 0xff, 0xff, 0xff]), Err(BadLength));
        assert!(collect(&mut Frames::new(10), &[0, 0, 0, 10]).is_ok());
    }
}
