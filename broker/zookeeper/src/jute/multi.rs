//! Several operations in one request.

use std::borrow::Cow;

use super::request::{Create, CreateKind};
use super::{DecodeError, ErrorCode, Reader, Writer, op};

/// The operations of one request, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multi<T>(pub Vec<T>);

/// An operation that a multi can write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the operations that `op` describes")]
pub enum WriteOperation<'a> {
    Create(Create<'a>),
    Delete { path: Cow<'a, str>, version: i32 },
    SetData { path: Cow<'a, str>, data: Option<&'a [u8]>, version: i32 },
    Check { path: Cow<'a, str>, version: i32 },
}

/// An operation that a multi can read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the operations that `op` describes")]
pub enum ReadOperation<'a> {
    GetData { path: Cow<'a, str> },
    GetChildren { path: Cow<'a, str> },
}

/// What can be an item of a multi.
pub(super) trait Item<'a>: Sized {
    fn decode(code: i32, reader: &mut Reader<'a>) -> Result<Self, DecodeError>;
}

/// Reads items until the header that ends them. Each header takes nine bytes, so the frame bounds their count.
pub(super) fn decode_items<'a, T: Item<'a>>(reader: &mut Reader<'a>) -> Result<Multi<T>, DecodeError> {
    let mut items = Vec::new();
    loop {
        let code = reader.i32("type")?;
        let done = reader.bool("done")?;
        let _error = reader.i32("err")?;
        if done {
            return Ok(Multi(items));
        }
        items.push(T::decode(code, reader)?);
    }
}

impl<'a> Item<'a> for WriteOperation<'a> {
    fn decode(code: i32, reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match code {
            op::CREATE => create(CreateKind::Create, reader)?,
            op::CREATE2 => create(CreateKind::Create2, reader)?,
            op::CREATE_CONTAINER => create(CreateKind::Container, reader)?,
            op::CREATE_TTL => create(CreateKind::Ttl, reader)?,
            op::DELETE => {
                WriteOperation::Delete { path: reader.string("path")?, version: reader.i32("version")? }
            }
            op::SET_DATA => WriteOperation::SetData {
                path: reader.string("path")?,
                data: reader.buffer("data")?,
                version: reader.i32("version")?,
            },
            op::CHECK => {
                WriteOperation::Check { path: reader.string("path")?, version: reader.i32("version")? }
            }
            _ => return Err(reader.error("type", "is no write operation")),
        })
    }
}

/// In a multi the flags say what is created, not the operation (`Op.create`): the container's flag makes a container.
fn create<'a>(kind: CreateKind, reader: &mut Reader<'a>) -> Result<WriteOperation<'a>, DecodeError> {
    let mut create = Create::decode(kind, reader)?;
    create.kind = match (kind, create.flags) {
        (CreateKind::Ttl, _) => CreateKind::Ttl,
        (_, 4) => CreateKind::Container,
        (CreateKind::Container, _) => CreateKind::Create2,
        (CreateKind::Create | CreateKind::Create2, _) => kind,
    };
    Ok(WriteOperation::Create(create))
}

impl<'a> Item<'a> for ReadOperation<'a> {
    fn decode(code: i32, reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let path = match code {
            op::GET_DATA | op::GET_CHILDREN => reader.string("path")?,
            _ => return Err(reader.error("type", "is no read operation")),
        };
        // A multi leaves no watches, whatever the flag says.
        let _watch = reader.bool("watch")?;
        Ok(if code == op::GET_DATA {
            ReadOperation::GetData { path }
        } else {
            ReadOperation::GetChildren { path }
        })
    }
}

/// Writes the header of a successful item.
pub fn write_multi_header(code: i32, writer: &mut Writer) {
    writer.i32(code);
    writer.bool(false);
    writer.i32(0);
}

/// Writes a failed item, header and body. `None` is the code 0 of the items before the one that failed.
pub fn write_multi_error(error: Option<ErrorCode>, writer: &mut Writer) {
    let code = error.map_or(0, ErrorCode::code);
    writer.i32(op::ERROR);
    writer.bool(false);
    writer.i32(code);
    writer.i32(code);
}

/// Writes the header that ends the items.
pub fn write_multi_end(writer: &mut Writer) {
    writer.i32(op::ERROR);
    writer.bool(true);
    writer.i32(-1);
}
