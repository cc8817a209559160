//! One file per view: its state, its bindings, its drawing.
