//! Ottla: a terminal console for Kafka clusters, with the cluster inside. The modules of the program, so that tests
//! reach them.

pub mod action;
pub mod cli;
pub mod config;
pub mod effect;
pub mod load;
pub mod model;
pub mod recording;
pub mod source;
pub mod supervisor;
pub mod tui;
pub mod view;
pub mod widget;
