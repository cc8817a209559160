//! Demo producers and consumers.
