//! Custom profile fields: definitions, rules for them, built-in external accounts, and stored values. Changes of values
//! are in [`crate::domain::profile_values`], which depends on users and messages.

pub mod external_accounts;
pub mod field;
pub mod rules;
mod sql;
pub mod values;

pub use self::sql::*;
