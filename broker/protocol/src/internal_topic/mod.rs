//! Keys and values of internal topics.
