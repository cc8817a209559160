//! How a value of each type is read and written, given the version at hand.

use bytes::Bytes;

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::reader::Reader;
use super::uuid::Uuid;
use super::writer::{Records, Writer};

/// What decides the form of a field: the version, whether it is a flexible one, and whether the field may be null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The version of the message.
    pub version: i16,
    /// Whether lengths are compact and structures end in tagged fields.
    pub flexible: bool,
    /// Whether null is allowed here.
    pub nullable: bool,
    /// Whether fields that the version does not have are left out without complaint, as in answers: who answers says
    /// as much as the asker understands.
    pub lenient: bool,
    /// The field's name, for errors.
    pub name: &'static str,
}

/// A type that fields can have.
pub trait Field: Sized {
    /// The fewest bytes a value takes: what bounds a count that is read.
    const LEAST_BYTES: usize;

    /// Reads a value.
    ///
    /// # Errors
    /// When the bytes are not one.
    fn decode(reader: &mut Reader, form: Form) -> Result<Self, DecodeError>;

    /// Writes the value.
    ///
    /// # Errors
    /// When the form cannot carry it.
    fn encode(&self, writer: &mut Writer, form: Form) -> Result<(), EncodeError>;
}

macro_rules! number {
    ($($type:ty),*) => {$(
        impl Field for $type {
            const LEAST_BYTES: usize = size_of::<$type>();

            fn decode(reader: &mut Reader, _form: Form) -> Result<Self, DecodeError> {
                Ok(<$type>::from_be_bytes(reader.array()?))
            }

            fn encode(&self, writer: &mut Writer, _form: Form) -> Result<(), EncodeError> {
                writer.raw(&self.to_be_bytes());
                Ok(())
            }
        }
    )*};
}

number!(i8, i16, u16, i32, u32, i64, f64);

impl Field for bool {
    const LEAST_BYTES: usize = 1;

    fn decode(reader: &mut Reader, _form: Form) -> Result<Self, DecodeError> {
        let [byte] = reader.array()?;
        Ok(byte != 0)
    }

    fn encode(&self, writer: &mut Writer, _form: Form) -> Result<(), EncodeError> {
        writer.raw(&[u8::from(*self)]);
        Ok(())
    }
}

impl Field for Uuid {
    const LEAST_BYTES: usize = 16;

    fn decode(reader: &mut Reader, _form: Form) -> Result<Self, DecodeError> {
        Ok(Self(reader.array()?))
    }

    fn encode(&self, writer: &mut Writer, _form: Form) -> Result<(), EncodeError> {
        writer.raw(&self.0);
        Ok(())
    }
}

/// A field that must have a value gets one, or the error that null is.
fn present<T>(value: Option<T>, reader: &Reader, form: Form) -> Result<T, DecodeError> {
    value.ok_or_else(|| reader.error(DecodeErrorKind::Null(form.version)))
}

/// A field that may be null only in some versions.
fn allowed<T>(value: Option<T>, reader: &Reader, form: Form) -> Result<Option<T>, DecodeError> {
    if value.is_none() && !form.nullable {
        return Err(reader.error(DecodeErrorKind::Null(form.version)));
    }
    Ok(value)
}

fn null_refused(form: Form) -> EncodeError {
    EncodeError::Null { field: form.name, version: form.version }
}

/// Reads a length: compact, or of 32 bits (16 for strings). `None` is null.
fn read_length(
    reader: &mut Reader,
    form: Form,
    short: bool,
    least: usize,
) -> Result<Option<usize>, DecodeError> {
    let length = if form.flexible {
        i64::from(reader.unsigned_varint()?) - 1
    } else if short {
        i64::from(i16::from_be_bytes(reader.array()?))
    } else {
        i64::from(i32::from_be_bytes(reader.array()?))
    };
    if length == -1 { Ok(None) } else { reader.count(length, least).map(Some) }
}

fn read_string(reader: &mut Reader, form: Form) -> Result<Option<String>, DecodeError> {
    let Some(length) = read_length(reader, form, true, 1)? else { return Ok(None) };
    let bytes = reader.take(length)?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(Some(text.to_owned())),
        Err(_) => Err(reader.error(DecodeErrorKind::Utf8)),
    }
}

fn write_string(writer: &mut Writer, form: Form, text: &str) -> Result<(), EncodeError> {
    if form.flexible {
        writer.compact_length("string", text.len())?;
    } else {
        let length = i16::try_from(text.len())
            .map_err(|_too_long| EncodeError::TooLong { what: "string", size: text.len() })?;
        writer.raw(&length.to_be_bytes());
    }
    writer.raw(text.as_bytes());
    Ok(())
}

fn read_bytes(reader: &mut Reader, form: Form) -> Result<Option<Bytes>, DecodeError> {
    match read_length(reader, form, false, 1)? {
        None => Ok(None),
        Some(length) => reader.take(length).map(Some),
    }
}

fn write_length(writer: &mut Writer, form: Form, what: &'static str, size: usize) -> Result<(), EncodeError> {
    if form.flexible { writer.compact_length(what, size) } else { writer.length(what, size) }
}

/// Null as a length: -1, or 0 in the compact form.
fn write_null_length(writer: &mut Writer, form: Form, short: bool) {
    match (form.flexible, short) {
        (true, _) => writer.raw(&[0]),
        (false, true) => writer.raw(&(-1_i16).to_be_bytes()),
        (false, false) => writer.raw(&(-1_i32).to_be_bytes()),
    }
}

impl Field for String {
    const LEAST_BYTES: usize = 1;

    fn decode(reader: &mut Reader, form: Form) -> Result<Self, DecodeError> {
        let value = read_string(reader, form)?;
        present(value, reader, form)
    }

    fn encode(&self, writer: &mut Writer, form: Form) -> Result<(), EncodeError> {
        write_string(writer, form, self)
    }
}

impl Field for Option<String> {
    const LEAST_BYTES: usize = 1;

    fn decode(reader: &mut Reader, form: Form) -> Result<Self, DecodeError> {
        let value = read_string(reader, form)?;
        allowed(value, reader, form)
    }

    fn encode(&self, writer: &mut Writer, form: Form) -> Result<(), EncodeError> {
        match self {
            Some(text) => write_string(writer, form, text),
            None if form.nullable => {
                write_null_length(writer, form, true);
                Ok(())
            }
            None => Err(null_refused(form)),
        }
    }
}

impl Field for Bytes {
    const LEAST_BYTES: usize = 1;

    fn decode(reader: &mut Reader, form: Form) -> Result<Self, DecodeError> {
        let value = read_bytes(reader, form)?;
        present(value, reader, form)
    }

    fn encode(&self, writer: &mut Writer, form: Form) -> Result<(), EncodeError> {
        write_length(writer, form, "bytes", self.len())?;
        writer.shared(self);
        Ok(())
    }
}

impl Field for Option<Bytes> {
    const LEAST_BYTES: usize = 1;

    fn decode(reader: &mut Reader, form: Form) -> Result<Self, DecodeError> {
        let value = read_bytes(reader, form)?;
        allowed(value, reader, form)
    }

    fn encode(&self, writer: &mut Writer, form: Form) -> Result<(), EncodeError> {
        match self {
            Some(bytes) => bytes.encode(writer, form),
            None if form.nullable => {
                write_null_length(writer, form, false);
                Ok(())
            }
            None => Err(null_refused(form)),
        }
    }
}

impl Field for Records {
    const LEAST_BYTES: usize = 1;

    fn decode(reader: &mut Reader, form: Form) -> Result<Self, DecodeError> {
        let value = read_bytes(reader, form)?;
        Ok(allowed(value, reader, form)?.map_or(Self::Null, Self::Bytes))
    }

    fn encode(&self, writer: &mut Writer, form: Form) -> Result<(), EncodeError> {
        match self {
            Self::Bytes(bytes) => bytes.encode(writer, form),
            Self::Regions(regions) => {
                write_length(writer, form, "records", self.size())?;
                for region in regions.iter().filter(|region| region.size() > 0) {
                    writer.region(std::sync::Arc::clone(region));
                }
                Ok(())
            }
            Self::Null if form.nullable => {
                write_null_length(writer, form, false);
                Ok(())
            }
            Self::Null => Err(null_refused(form)),
        }
    }
}

fn read_array<T: Field>(reader: &mut Reader, form: Form) -> Result<Option<Vec<T>>, DecodeError> {
    let Some(count) = read_length(reader, form, false, T::LEAST_BYTES)? else { return Ok(None) };
    let form = Form { nullable: false, ..form };
    // An element in memory may be many times its bytes, so the room grows with what really comes.
    let mut elements = Vec::with_capacity(count.min(64));
    for index in 0..count {
        elements.push(reader.element(index, |reader| T::decode(reader, form))?);
    }
    Ok(Some(elements))
}

impl<T: Field> Field for Vec<T> {
    const LEAST_BYTES: usize = 1;

    fn decode(reader: &mut Reader, form: Form) -> Result<Self, DecodeError> {
        let value = read_array(reader, form)?;
        present(value, reader, form)
    }

    fn encode(&self, writer: &mut Writer, form: Form) -> Result<(), EncodeError> {
        write_length(writer, form, "array", self.len())?;
        let form = Form { nullable: false, ..form };
        self.iter().try_for_each(|element| element.encode(writer, form))
    }
}

impl<T: Field> Field for Option<Vec<T>> {
    const LEAST_BYTES: usize = 1;

    fn decode(reader: &mut Reader, form: Form) -> Result<Self, DecodeError> {
        let value = read_array(reader, form)?;
        allowed(value, reader, form)
    }

    fn encode(&self, writer: &mut Writer, form: Form) -> Result<(), EncodeError> {
        match self {
            Some(elements) => elements.encode(writer, form),
            None if form.nullable => {
                write_null_length(writer, form, false);
                Ok(())
            }
            None => Err(null_refused(form)),
        }
    }
}

/// A structure that may be null has a byte in front: -1 for null, 1 otherwise.
impl<T: Field> Field for Option<Box<T>> {
    const LEAST_BYTES: usize = 1;

    fn decode(reader: &mut Reader, form: Form) -> Result<Self, DecodeError> {
        let marker = i8::decode(reader, form)?;
        if marker >= 0 {
            return Ok(Some(Box::new(T::decode(reader, Form { nullable: false, ..form })?)));
        }
        allowed(None, reader, form)
    }

    fn encode(&self, writer: &mut Writer, form: Form) -> Result<(), EncodeError> {
        match self {
            Some(value) => {
                1_i8.encode(writer, form)?;
                value.encode(writer, Form { nullable: false, ..form })
            }
            None if form.nullable => (-1_i8).encode(writer, form),
            None => Err(null_refused(form)),
        }
    }
}
