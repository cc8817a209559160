//! One file per thing read. Sends updates, decides nothing.
