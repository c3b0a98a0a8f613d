//! Linkifiers: statements, and the compiled form that the renderer uses.

pub mod compiled;
mod sql;

pub use self::sql::*;

use serde::{Deserialize, Serialize};

/// The tables of linkifiers, whose changes the writer has to notice ([`Tx::kept`](crate::store::Tx::kept)).
pub const TABLES: &[&str] = &["linkifier"];

/// A linkifier on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkifierRecord {
    /// A regular expression with named groups.
    pub pattern: String,
    /// A URL template (RFC 6570), whose variables are the groups.
    pub url_template: String,
    /// Identifies the linkifier.
    pub id: i64,
}
