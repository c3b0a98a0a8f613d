//! Custom profile fields: definitions, statements and rules.

pub mod external_accounts;
pub mod field;
pub mod rules;
pub mod sql;
pub mod values;
