//! Moving an organization from or to another server, by archives.
//!
//! - [`import`]: archives of other servers become a new database.

pub mod import;
