//! Users: statements, rules, names, emails, passwords, records on the wire, and `realm_user` events.
//!
//! - [`find`]: the user that a request identifies; [`rules`]: permissions to change and deactivate users;
//! - [`names`], [`emails`], [`passwords`]: checks of these values, and who may see a real email;
//! - [`record`]: the wire form; [`events`]: `realm_user` events and initial state. Statements are in the module itself.

pub mod emails;
pub mod events;
pub mod find;
pub mod names;
pub mod passwords;
pub mod record;
pub mod rules;
mod sql;

pub use self::sql::*;
