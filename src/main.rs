//! Chooses the role from the arguments.
fn main() {}
