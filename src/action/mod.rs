//! What can be done: consequence, guard, confirmation. Makes commands.
