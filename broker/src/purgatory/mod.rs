//! Operations that wait for something to happen or for their time to run out.
