//! Alert words: statements, and the automaton that finds them in messages.

pub mod automaton;
pub mod sql;
