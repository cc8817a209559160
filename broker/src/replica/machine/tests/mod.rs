//! Conversations of one machine as golden transcripts, rules as tables, and three machines in a small seeded world.

mod conversations;
mod rules;
mod support;
mod world;
