//! The plain forms that these records use, 16-bit lengths for strings and 32-bit ones for bytes and arrays, and the
//! flexible ones of later versions.

use bytes::Bytes;

use crate::wire::{DecodeError, DecodeErrorKind, EncodeError, Field, Form, Reader, Writer};

const PLAIN: Form = Form { version: 0, flexible: false, nullable: true, lenient: false, name: "" };

/// Returns the form of a record that is flexible from some version on. Kafka 3.9 writes none of those; later ones may
/// have, before they were downgraded (KIP-915).
pub(super) fn form(version: i16, flexible_from: i16) -> Form {
    Form { version, flexible: version >= flexible_from, ..PLAIN }
}

/// Reads a value that may be null where its type allows it.
pub(super) fn read<T: Field>(reader: &mut Reader, name: &'static str) -> Result<T, DecodeError> {
    read_as(reader, PLAIN, name)
}

/// Reads a value in the form of its record's version.
pub(super) fn read_as<T: Field>(
    reader: &mut Reader,
    form: Form,
    name: &'static str,
) -> Result<T, DecodeError> {
    reader.named(name, |reader| T::decode(reader, Form { name, ..form }))
}

/// Writes a value that may be null where its type allows it.
pub(super) fn write<T: Field>(writer: &mut Writer, name: &'static str, value: &T) -> Result<(), EncodeError> {
    value.encode(writer, Form { name, ..PLAIN })
}

/// Reads an array of structures, which must not be null.
pub(super) fn read_array<T>(
    reader: &mut Reader,
    form: Form,
    name: &'static str,
    least_bytes: usize,
    element: impl FnMut(&mut Reader) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let elements = read_nullable_array(reader, form, name, least_bytes, element)?;
    elements.ok_or_else(|| reader.error(DecodeErrorKind::Null(form.version)))
}

/// Reads an array of structures.
pub(super) fn read_nullable_array<T>(
    reader: &mut Reader,
    form: Form,
    name: &'static str,
    least_bytes: usize,
    mut element: impl FnMut(&mut Reader) -> Result<T, DecodeError>,
) -> Result<Option<Vec<T>>, DecodeError> {
    reader.named(name, |reader| {
        let length = if form.flexible {
            i64::from(reader.unsigned_varint()?) - 1
        } else {
            i64::from(read::<i32>(reader, "length")?)
        };
        if length == -1 {
            return Ok(None);
        }
        let count = reader.count(length, least_bytes)?;
        let mut elements = Vec::with_capacity(count.min(64));
        for index in 0..count {
            elements.push(reader.element(index, &mut element)?);
        }
        Ok(Some(elements))
    })
}

/// Reads past the tagged fields at the end of a structure, where its form has them.
pub(super) fn skip_tags(reader: &mut Reader, form: Form) -> Result<(), DecodeError> {
    if form.flexible {
        reader.tagged_fields(|_, _| Ok(false))?;
    }
    Ok(())
}

/// Reads the version in front of a record.
pub(super) fn version(bytes: &Bytes) -> Result<i16, DecodeError> {
    read(&mut Reader::new("version", bytes.clone()), "version")
}

/// The error for a version that was never written.
pub(super) fn unknown_version(reader: &Reader, version: i16) -> DecodeError {
    reader.error(DecodeErrorKind::Version(version))
}
