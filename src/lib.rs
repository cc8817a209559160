//! The console and command line.
