//! Changing the values of custom profile fields.

pub mod change;
pub mod events;
pub mod rules;
