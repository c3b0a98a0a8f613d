//! The organization.

mod deactivate;
mod groups;
mod restart;
mod settings;
mod welcome;
