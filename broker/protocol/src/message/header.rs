//! What stands before every body, and whole frames without their length.

use bytes::Bytes;

use super::declare::{Message, Request};
use super::{ApiKey, ErrorCode};
use crate::wire::{
    DecodeError, DecodeErrorKind, EncodeError, Field as _, Form, Part, Reader, TaggedFields, Writer,
};

/// The header of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestHeader {
    /// The key, which need not be one that is known.
    pub api_key: i16,
    /// The version of the body.
    pub api_version: i16,
    /// What the response repeats.
    pub correlation_id: i32,
    /// What the client calls itself.
    pub client_id: Option<String>,
    /// Tagged fields that are not known.
    pub unknown_tagged_fields: TaggedFields,
}

/// The header of a response.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResponseHeader {
    /// What the request said.
    pub correlation_id: i32,
    /// Tagged fields that are not known.
    pub unknown_tagged_fields: TaggedFields,
}

fn form(name: &'static str) -> Form {
    // A client id keeps its 16-bit length even in the flexible header.
    Form { version: 0, flexible: false, nullable: true, lenient: false, name }
}

/// Reads a request's header; the reader then stands before the body. Of a key or version that is not known only the
/// first three numbers are read, since the form of the rest is not known either.
///
/// # Errors
/// When the bytes are no header.
pub fn decode_request_header(reader: &mut Reader) -> Result<RequestHeader, DecodeError> {
    let api_key = i16::decode(reader, form("api_key"))?;
    let api_version = i16::decode(reader, form("api_version"))?;
    let correlation_id = i32::decode(reader, form("correlation_id"))?;
    let mut header = RequestHeader { api_key, api_version, correlation_id, ..RequestHeader::default() };
    let known = ApiKey::from_number(api_key).filter(|key| key.versions().contains(&api_version));
    let Some(key) = known else { return Ok(header) };
    let header_version = key.request_header_version(api_version);
    if header_version >= 1 {
        header.client_id = reader.named("client_id", |reader| Option::decode(reader, form("client_id")))?;
    }
    if header_version >= 2 {
        header.unknown_tagged_fields = reader.tagged_fields(|_, _| Ok(false))?;
    }
    Ok(header)
}

/// Writes a request: header and body, without the length in front.
///
/// # Errors
/// When the version cannot carry the body.
pub fn encode_request<R: Request>(
    request: &R,
    version: i16,
    correlation_id: i32,
    client_id: Option<&str>,
) -> Result<Vec<Part>, EncodeError> {
    let mut writer = Writer::new();
    writer.raw(&R::KEY.number().to_be_bytes());
    writer.raw(&version.to_be_bytes());
    writer.raw(&correlation_id.to_be_bytes());
    let header_version = R::KEY.request_header_version(version);
    if header_version >= 1 {
        client_id.map(str::to_owned).encode(&mut writer, form("client_id"))?;
    }
    if header_version >= 2 {
        writer.tagged_fields(Vec::new(), &TaggedFields::new())?;
    }
    request.encode(&mut writer, version)?;
    Ok(writer.into_parts())
}

/// Writes a response to a request of `key` and `version`: header and body, without the length in front.
///
/// # Errors
/// When the version cannot carry the body.
pub fn encode_response<M: Message>(
    response: &M,
    key: ApiKey,
    version: i16,
    correlation_id: i32,
) -> Result<Vec<Part>, EncodeError> {
    let mut writer = Writer::new();
    writer.raw(&correlation_id.to_be_bytes());
    if key.response_header_version(version) >= 1 {
        writer.tagged_fields(Vec::new(), &TaggedFields::new())?;
    }
    response.encode(&mut writer, version)?;
    Ok(writer.into_parts())
}

/// Reads the response to a request of type `R` and this version, without the length in front.
///
/// ApiVersions may be answered in version 0 by a broker that does not know the version asked in (KIP-511); that is
/// read too.
///
/// # Errors
/// When the bytes are not such a response, or more than one.
pub fn decode_response<R: Request>(
    frame: Bytes,
    version: i16,
) -> Result<(ResponseHeader, R::Response), DecodeError> {
    let mut reader = Reader::new(R::Response::NAME, frame);
    let mut header = ResponseHeader {
        correlation_id: i32::decode(&mut reader, form("correlation_id"))?,
        ..Default::default()
    };
    if R::KEY.response_header_version(version) >= 1 {
        header.unknown_tagged_fields = reader.tagged_fields(|_, _| Ok(false))?;
    }
    let body = reader.rest();
    let refused = R::KEY == ApiKey::ApiVersions
        && version > 0
        && body.first_chunk() == Some(&ErrorCode::UnsupportedVersion.code().to_be_bytes());
    let version = if refused { 0 } else { version };
    let mut reader = Reader::new(R::Response::NAME, body);
    let response = R::Response::decode(&mut reader, version)?;
    match reader.left() {
        0 => Ok((header, response)),
        surplus => Err(reader.error(DecodeErrorKind::Surplus(surplus))),
    }
}
