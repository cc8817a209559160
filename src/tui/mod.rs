//! The terminal: the one loop, the key map, and pictures of the screen.
