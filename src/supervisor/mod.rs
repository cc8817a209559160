//! Keeps the processes of a local cluster: what should run, what does, and how to get there.
