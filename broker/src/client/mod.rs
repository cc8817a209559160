//! One connection to one broker: frames, correlation, version negotiation. The console uses the same.
