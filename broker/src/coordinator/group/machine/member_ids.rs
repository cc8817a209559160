//! Member ids: readable beginnings with a random end.

use super::names::{InstanceId, MemberId};

/// Makes member ids from a seed given at birth, so that the same seed gives the same ids.
#[derive(Debug)]
pub(super) struct MemberIds {
    state: u64,
}

impl MemberIds {
    /// Starts at `seed`. Two coordinators need different seeds, or their members could share ids after a failover.
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Makes an id for a member that brought none: `<instance id or client id>-<uuid>`.
    pub(super) fn next(&mut self, client_id: &str, instance_id: Option<&InstanceId>) -> MemberId {
        let mut random = [0; 16];
        let (high, low) = random.split_at_mut(8);
        high.copy_from_slice(&self.draw().to_be_bytes());
        low.copy_from_slice(&self.draw().to_be_bytes());
        let uuid = uuid::Builder::from_random_bytes(random).into_uuid();
        let beginning = instance_id.map_or(client_id, InstanceId::as_str);
        MemberId::from(format!("{beginning}-{uuid}"))
    }

    /// `SplitMix64`: every state is visited once before any repeats, and ids need no secrecy.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_begin_with_the_instance_id_or_else_the_client_id() {
        let mut ids = MemberIds::new(7);
        let dynamic = ids.next("kcat", None);
        let fixed = ids.next("kcat", Some(&"worker-1".into()));
        assert!(dynamic.as_str().starts_with("kcat-"), "{dynamic}");
        assert!(fixed.as_str().starts_with("worker-1-"), "{fixed}");
        assert_ne!(ids.next("kcat", None), dynamic);
        assert_eq!(MemberIds::new(7).next("kcat", None), dynamic);
    }
}
