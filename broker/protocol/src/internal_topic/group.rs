//! Groups in `__consumer_offsets`.

use bytes::Bytes;

use super::fields::{form, read, read_array, read_as, skip_tags, unknown_version, write};
use crate::wire::{DecodeError, EncodeError, Form, Reader, Writer};

/// Which group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey {
    /// The group.
    pub group: String,
}

impl GroupKey {
    /// Writes the key, in version 2.
    ///
    /// # Errors
    /// When the name is too long.
    pub fn encode(&self) -> Result<Bytes, EncodeError> {
        let mut writer = Writer::new();
        write(&mut writer, "version", &2_i16)?;
        write(&mut writer, "group", &self.group)?;
        Ok(writer.into_bytes())
    }

    pub(super) fn decode(bytes: &Bytes) -> Result<Self, DecodeError> {
        let mut reader = Reader::new("GroupKey", bytes.clone());
        let _: i16 = read(&mut reader, "version")?;
        Ok(Self { group: read(&mut reader, "group")? })
    }
}

/// A generation of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupValue {
    /// What kind of group, `consumer` as a rule.
    pub protocol_type: String,
    /// Counts the rebalances.
    pub generation: i32,
    /// The protocol that the members agreed on.
    pub protocol: Option<String>,
    /// The member that assigns.
    pub leader: Option<String>,
    /// When it came into this state, -1 for unknown.
    pub state_timestamp: i64,
    /// The members.
    pub members: Vec<GroupMember>,
}

/// A member of a generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMember {
    /// Its id.
    pub member_id: String,
    /// What it calls itself across restarts, if it is a static member.
    pub group_instance_id: Option<String>,
    /// What its client calls itself.
    pub client_id: String,
    /// Where it is.
    pub client_host: String,
    /// How long a rebalance waits for it.
    pub rebalance_timeout_ms: i32,
    /// How long it may be silent.
    pub session_timeout_ms: i32,
    /// What it wants.
    pub subscription: Bytes,
    /// What it got.
    pub assignment: Bytes,
}

impl GroupValue {
    /// Writes the value, in version 3.
    ///
    /// # Errors
    /// When a string is too long.
    pub fn encode(&self) -> Result<Bytes, EncodeError> {
        let mut writer = Writer::new();
        write(&mut writer, "version", &3_i16)?;
        write(&mut writer, "protocol_type", &self.protocol_type)?;
        write(&mut writer, "generation", &self.generation)?;
        write(&mut writer, "protocol", &self.protocol)?;
        write(&mut writer, "leader", &self.leader)?;
        write(&mut writer, "state_timestamp", &self.state_timestamp)?;
        writer.length("members", self.members.len())?;
        for member in &self.members {
            write(&mut writer, "member_id", &member.member_id)?;
            write(&mut writer, "group_instance_id", &member.group_instance_id)?;
            write(&mut writer, "client_id", &member.client_id)?;
            write(&mut writer, "client_host", &member.client_host)?;
            write(&mut writer, "rebalance_timeout", &member.rebalance_timeout_ms)?;
            write(&mut writer, "session_timeout", &member.session_timeout_ms)?;
            write(&mut writer, "subscription", &member.subscription)?;
            write(&mut writer, "assignment", &member.assignment)?;
        }
        Ok(writer.into_bytes())
    }

    /// Reads a value of any version, 0 to 4.
    ///
    /// # Errors
    /// When the bytes are not one.
    pub fn decode(bytes: &Bytes) -> Result<Self, DecodeError> {
        let mut reader = Reader::new("GroupValue", bytes.clone());
        let version: i16 = read(&mut reader, "version")?;
        if !(0..=4).contains(&version) {
            return Err(unknown_version(&reader, version));
        }
        let form = form(version, 4);
        let value = Self {
            protocol_type: read_as(&mut reader, form, "protocol_type")?,
            generation: read(&mut reader, "generation")?,
            protocol: read_as(&mut reader, form, "protocol")?,
            leader: read_as(&mut reader, form, "leader")?,
            state_timestamp: if version >= 2 { read(&mut reader, "state_timestamp")? } else { -1 },
            // The shortest member has four empty strings, two lengths of nothing and two numbers.
            members: read_array(&mut reader, form, "members", 14, |reader| member(reader, form))?,
        };
        skip_tags(&mut reader, form)?;
        Ok(value)
    }
}

fn member(reader: &mut Reader, form: Form) -> Result<GroupMember, DecodeError> {
    let version = form.version;
    let member_id = read_as(reader, form, "member_id")?;
    let group_instance_id = if version >= 3 { read_as(reader, form, "group_instance_id")? } else { None };
    let client_id = read_as(reader, form, "client_id")?;
    let client_host = read_as(reader, form, "client_host")?;
    let rebalance_timeout = if version >= 1 { Some(read(reader, "rebalance_timeout")?) } else { None };
    let session_timeout_ms = read(reader, "session_timeout")?;
    let member = GroupMember {
        member_id,
        group_instance_id,
        client_id,
        client_host,
        // Before there was one, a rebalance waited as long as a session.
        rebalance_timeout_ms: rebalance_timeout.unwrap_or(session_timeout_ms),
        session_timeout_ms,
        subscription: read_as(reader, form, "subscription")?,
        assignment: read_as(reader, form, "assignment")?,
    };
    skip_tags(reader, form)?;
    Ok(member)
}
