//! Rules, conversations and invariants of groups.

mod admission;
mod commit_rules;
mod conversations;
mod expiry_rules;
mod heartbeat_rules;
mod invariants;
mod join_rules;
mod leave_rules;
mod load_rules;
mod removal_rules;
mod static_member_rules;
mod sync_rules;
mod transcript;
mod world;
