//! What each update changes, and what follows for the rest of the model.

mod broker;
mod cluster;
mod group;
mod partition;
mod step;
mod topic;
