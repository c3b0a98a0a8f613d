//! Changing the values of custom profile fields: commands, rules and events.

pub mod change;
pub mod events;
mod rules;
