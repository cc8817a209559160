//! The plain forms that all of these records use: 16-bit lengths for strings, 32-bit ones for bytes and arrays.

use bytes::Bytes;

use crate::wire::{DecodeError, DecodeErrorKind, EncodeError, Field, Form, Reader, Writer};

const PLAIN: Form = Form { version: 0, flexible: false, nullable: true, lenient: false, name: "" };

/// Reads a value that may be null where its type allows it.
pub(super) fn read<T: Field>(reader: &mut Reader, name: &'static str) -> Result<T, DecodeError> {
    reader.named(name, |reader| T::decode(reader, PLAIN))
}

/// Writes a value that may be null where its type allows it.
pub(super) fn write<T: Field>(writer: &mut Writer, name: &'static str, value: &T) -> Result<(), EncodeError> {
    value.encode(writer, Form { name, ..PLAIN })
}

/// Reads an array of structures.
pub(super) fn read_array<T>(
    reader: &mut Reader,
    name: &'static str,
    least_bytes: usize,
    mut element: impl FnMut(&mut Reader) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    reader.named(name, |reader| {
        let length: i32 = read(reader, "length")?;
        let count = reader.count(i64::from(length), least_bytes)?;
        let mut elements = Vec::with_capacity(count.min(64));
        for index in 0..count {
            elements.push(reader.element(index, &mut element)?);
        }
        Ok(elements)
    })
}

/// Reads the version in front of a record.
pub(super) fn version(bytes: &Bytes) -> Result<i16, DecodeError> {
    read(&mut Reader::new("version", bytes.clone()), "version")
}

/// The error for a version that was never written.
pub(super) fn unknown_version(reader: &Reader, version: i16) -> DecodeError {
    reader.error(DecodeErrorKind::Version(version))
}
