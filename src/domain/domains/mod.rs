//! Domains whose addresses may join while the organization is restricted to some.

pub mod rules;
pub mod sql;

use serde::Serialize;

/// A domain on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RealmDomain {
    /// Lower case.
    pub domain: String,
    /// Whether addresses of its subdomains may join too.
    pub allow_subdomains: bool,
}
