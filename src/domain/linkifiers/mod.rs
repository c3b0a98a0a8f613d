//! Linkifiers: statements, and the compiled form that the renderer uses.

pub mod compiled;
mod sql;

pub use self::sql::*;

use serde::{Deserialize, Serialize};

/// The tables of linkifiers, whose changes the writer has to notice ([`Tx::kept`](crate::store::Tx::kept)).
pub const TABLES: &[&str] = &["linkifier"];

/// A linkifier: it makes links of the parts of messages and topics that match a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkifierRecord {
    /// A regular expression with named groups, in Python's syntax.
    pub pattern: String,
    /// The target of the links: a URL template (RFC 6570) whose variables are the groups of the pattern.
    pub url_template: String,
    /// The linkifier's id.
    pub id: i64,
}
