//! The group coordinator: members, generations, assignments and committed offsets, kept in `__consumer_offsets`.

pub mod machine;
