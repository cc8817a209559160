//! The bodies of replies.

use super::{Acl, Stat, Writer};

/// An identity of a connection as `whoAmI` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientInfo<'a> {
    /// The scheme.
    pub scheme: &'a str,
    /// The user within the scheme.
    pub user: &'a str,
}

/// The body of a successful reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the fields that they carry, in order")]
pub enum Reply<'a> {
    Empty,
    Path(&'a str),
    PathAndStat(&'a str, Stat),
    Stat(Stat),
    Data(Option<&'a [u8]>, Stat),
    Acl(&'a [Acl], Stat),
    Children(&'a [&'a str]),
    ChildrenAndStat(&'a [&'a str], Stat),
    Count(i32),
    Identities(&'a [ClientInfo<'a>]),
    /// Already encoded.
    Encoded(&'a [u8]),
}

impl Reply<'_> {
    /// Writes the body.
    pub fn encode(&self, writer: &mut Writer) {
        match self {
            Reply::Empty => {}
            Reply::Path(path) => writer.string(path),
            Reply::PathAndStat(path, stat) => {
                writer.string(path);
                stat.encode(writer);
            }
            Reply::Stat(stat) => stat.encode(writer),
            Reply::Data(data, stat) => {
                writer.buffer(*data);
                stat.encode(writer);
            }
            Reply::Acl(acl, stat) => {
                Acl::encode_list(acl, writer);
                stat.encode(writer);
            }
            Reply::Children(children) => strings(children, writer),
            Reply::ChildrenAndStat(children, stat) => {
                strings(children, writer);
                stat.encode(writer);
            }
            Reply::Count(count) => writer.i32(*count),
            Reply::Identities(identities) => {
                writer.count(identities.len());
                for identity in *identities {
                    writer.string(identity.scheme);
                    writer.string(identity.user);
                }
            }
            Reply::Encoded(bytes) => writer.raw(bytes),
        }
    }
}

fn strings(values: &[&str], writer: &mut Writer) {
    writer.count(values.len());
    for value in values {
        writer.string(value);
    }
}
