//! User settings.

mod account;
mod consents;
mod defaults;
mod update;
