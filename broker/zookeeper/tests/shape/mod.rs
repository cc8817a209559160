//! Replies in a form in which those of two servers can be compared: without times, with sessions by number, with
//! lists that have no order sorted.
#![allow(unreachable_pub, missing_docs, dead_code, reason = "a module of a test")]

use std::fmt::Write;

use ottla_zookeeper::jute::{Acl, DecodeError, Reader, Stat, op};

/// The sessions of one server, in the order in which they were opened.
pub type Sessions = Vec<i64>;

/// Returns the body of a reply to `operation` as text.
pub fn reply(operation: i32, body: &[u8], sessions: &Sessions) -> String {
    let mut text = String::new();
    let mut reader = Reader::new(body);
    match write(operation, &mut reader, sessions, &mut text) {
        Ok(()) if reader.remaining() == 0 => text,
        Ok(()) => format!("{text} and {} bytes more", reader.remaining()),
        Err(error) => format!("{text} and then {error} in {body:?}"),
    }
}

fn write(
    operation: i32,
    reader: &mut Reader<'_>,
    sessions: &Sessions,
    text: &mut String,
) -> Result<(), DecodeError> {
    match operation {
        op::CREATE | op::SYNC => text.push_str(&reader.string("path")?),
        op::CREATE2 | op::CREATE_CONTAINER | op::CREATE_TTL => {
            text.push_str(&reader.string("path")?);
            stat(reader, sessions, text)?;
        }
        op::EXISTS | op::SET_DATA | op::SET_ACL => stat(reader, sessions, text)?,
        op::GET_DATA => {
            write!(text, "{:?}", reader.buffer("data")?).unwrap();
            stat(reader, sessions, text)?;
        }
        op::GET_ACL => {
            // The identities that `auth` stands for come in no particular order.
            let mut acl = Acl::decode_list(reader)?;
            acl.sort();
            for entry in acl {
                write!(text, "{} {}:{}, ", entry.permissions.0, entry.scheme, entry.id).unwrap();
            }
            stat(reader, sessions, text)?;
        }
        op::GET_CHILDREN | op::GET_EPHEMERALS => strings(reader, text)?,
        op::GET_CHILDREN2 => {
            strings(reader, text)?;
            stat(reader, sessions, text)?;
        }
        op::GET_ALL_CHILDREN_NUMBER | op::ADD_WATCH => write!(text, "{}", reader.i32("number")?).unwrap(),
        op::WHO_AM_I => {
            let mut identities = Vec::new();
            for _ in 0..reader.count("clientInfo", 8)? {
                identities.push(format!("{}:{}", reader.string("authScheme")?, reader.string("user")?));
            }
            identities.sort();
            write!(text, "{identities:?}").unwrap();
        }
        op::MULTI | op::MULTI_READ => multi(reader, sessions, text)?,
        _ => {}
    }
    Ok(())
}

/// A create2 in a multi answers without a stat in 3.8 and with one in 3.9, so what creations answer beyond the path is
/// left out.
fn multi(reader: &mut Reader<'_>, sessions: &Sessions, text: &mut String) -> Result<(), DecodeError> {
    loop {
        let (code, done, error) = (reader.i32("type")?, reader.bool("done")?, reader.i32("err")?);
        if done {
            return Ok(());
        }
        match code {
            op::ERROR => write!(text, "[error {error} {}]", reader.i32("err")?).unwrap(),
            op::CREATE => write!(text, "[created {}]", reader.string("path")?).unwrap(),
            op::CREATE2 => {
                write!(text, "[created {}]", reader.string("path")?).unwrap();
                Stat::decode(reader)?;
            }
            other => {
                write!(text, "[{other} ").unwrap();
                write_item(other, reader, sessions, text)?;
                text.push(']');
            }
        }
    }
}

fn write_item(
    operation: i32,
    reader: &mut Reader<'_>,
    sessions: &Sessions,
    text: &mut String,
) -> Result<(), DecodeError> {
    if matches!(operation, op::DELETE | op::CHECK) {
        Ok(())
    } else {
        write(operation, reader, sessions, text)
    }
}

fn strings(reader: &mut Reader<'_>, text: &mut String) -> Result<(), DecodeError> {
    let mut strings = Vec::new();
    for _ in 0..reader.count("strings", 4)? {
        strings.push(reader.string("string")?);
    }
    strings.sort();
    write!(text, "{strings:?}").unwrap();
    Ok(())
}

fn stat(reader: &mut Reader<'_>, sessions: &Sessions, text: &mut String) -> Result<(), DecodeError> {
    let stat = Stat::decode(reader)?;
    let owner = stat.ephemeral_owner.map(|owner| sessions.iter().position(|session| *session == owner.0));
    write!(
        text,
        " c{} m{} p{} v{} cv{} av{} owner {owner:?} length {} children {} timed {}",
        stat.czxid.0,
        stat.mzxid.0,
        stat.pzxid.0,
        stat.version,
        stat.cversion,
        stat.aversion,
        stat.data_length,
        stat.num_children,
        stat.ctime_ms > 0 && stat.mtime_ms >= stat.ctime_ms
    )
    .unwrap();
    Ok(())
}

/// Returns an event as text, without its zxid, which 3.8 does not tell.
pub fn event(body: &[u8]) -> String {
    let mut reader = Reader::new(body);
    let (kind, state) = (reader.i32("type").unwrap(), reader.i32("state").unwrap());
    format!("event {kind} in state {state} on {}", reader.string("path").unwrap())
}
