//! The stream of updates to and from a file.
