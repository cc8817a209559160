//! Every configuration key once: name, type, default, range, whether it changes while running, and its documentation.
