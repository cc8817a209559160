//! Tagged fields: what flexible versions carry at the end of every structure (KIP-482).

use std::collections::BTreeMap;

use bytes::Bytes;

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::reader::Reader;
use super::writer::Writer;

/// Tagged fields that the declaration does not know, carried through as they came.
pub type TaggedFields = BTreeMap<u32, Bytes>;

/// The most tags one structure may have; the declared ones have fewer than ten.
const TAGS_MAX: u32 = 1_024;

impl Reader {
    /// Reads a section of tagged fields. `known` reads the fields it knows and returns whether it did; the others are
    /// kept.
    ///
    /// # Errors
    /// When tags do not rise, a size is wrong, or `known` fails.
    pub fn tagged_fields(
        &mut self,
        mut known: impl FnMut(&mut Self, u32) -> Result<bool, DecodeError>,
    ) -> Result<TaggedFields, DecodeError> {
        let count = self.unsigned_varint()?;
        if count > TAGS_MAX {
            return Err(self.error(DecodeErrorKind::Length(i64::from(count))));
        }
        let mut unknown = TaggedFields::new();
        let mut last = None;
        for _ in 0..count {
            let tag = self.unsigned_varint()?;
            if last.is_some_and(|last| tag <= last) {
                return Err(self.error(DecodeErrorKind::TagOrder(tag)));
            }
            last = Some(tag);
            let size = self.unsigned_varint()?;
            let size = self.count(i64::from(size), 1)?;
            let mut is_known = false;
            let start = self.position();
            let bytes = self.exactly(size, |reader| {
                is_known = known(reader, tag)?;
                debug_assert!(is_known || reader.position() == start, "what is not known is not touched");
                Ok(if is_known { Bytes::new() } else { reader.rest() })
            })?;
            if !is_known {
                unknown.insert(tag, bytes);
            }
        }
        Ok(unknown)
    }
}

impl Writer {
    /// Writes a section of tagged fields: the declared ones that are set, and those carried through, by rising tag.
    ///
    /// # Errors
    /// When one is too long.
    pub fn tagged_fields(
        &mut self,
        declared: Vec<(u32, Self)>,
        unknown: &TaggedFields,
    ) -> Result<(), EncodeError> {
        let mut all: BTreeMap<u32, Self> = declared.into_iter().collect();
        for (tag, bytes) in unknown {
            all.entry(*tag).or_insert_with(|| {
                let mut writer = Self::new();
                writer.shared(bytes);
                writer
            });
        }
        let count = u32::try_from(all.len())
            .map_err(|_too_many| EncodeError::TooLong { what: "tagged fields", size: all.len() })?;
        self.unsigned_varint(count);
        for (tag, writer) in all {
            let size = writer.size();
            let length = u32::try_from(size)
                .map_err(|_too_large| EncodeError::TooLong { what: "tagged field", size })?;
            self.unsigned_varint(tag);
            self.unsigned_varint(length);
            self.append(writer);
        }
        Ok(())
    }
}
