//! Does what a command says and reports what came of it.
