//! Users: what other resources need of them.
//!
//! - [`find`]: the user that a request identifies; [`rules`]: who may change or deactivate whom;
//! - [`names`], [`emails`], [`passwords`]: checks of these values, and who may see a real email;
//! - [`sql`]: statements; [`record`]: the wire form; [`events`]: `realm_user` events and initial state.

pub mod emails;
pub mod events;
pub mod find;
pub mod names;
pub mod passwords;
pub mod record;
pub mod rules;
pub mod sql;
