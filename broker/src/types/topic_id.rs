//! Topic ids: `uuid::Uuid` inside, 16 bytes on the wire, where all zeros mean none.

use uuid::Uuid;

/// Returns the id that a message carries, if it carries one.
#[must_use]
pub fn topic_id_of_wire(id: ottla_protocol::wire::Uuid) -> Option<Uuid> {
    Some(Uuid::from_bytes(id.0)).filter(|id| !id.is_nil())
}

/// Returns what a message carries for an id, or for none.
#[must_use]
pub fn topic_id_to_wire(id: Option<Uuid>) -> ottla_protocol::wire::Uuid {
    id.map_or(ottla_protocol::wire::Uuid::ZERO, |id| ottla_protocol::wire::Uuid(id.into_bytes()))
}
