//! Users: statements, rules of names, emails and passwords, the record on the wire, and `realm_user` events.

pub mod emails;
pub mod events;
pub mod find;
pub mod names;
pub mod passwords;
pub mod record;
pub mod rules;
pub mod sql;
