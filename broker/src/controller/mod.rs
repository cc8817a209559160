//! The cluster's one decision maker: who leads what, and who must know.

pub mod machine;
