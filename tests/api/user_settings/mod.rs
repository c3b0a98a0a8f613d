//! User settings.

mod account;
mod defaults;
mod update;
