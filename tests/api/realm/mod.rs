//! The organization.

mod deactivate;
mod groups;
mod settings;
mod welcome;
