//! Every statement about domains.

use crate::domain::domains::RealmDomain;
use rusqlite::Connection;

/// All of them, the oldest first.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<RealmDomain>> {
    connection
        .prepare_cached("SELECT domain, allow_subdomains FROM realm_domain ORDER BY id")?
        .query_map([], |row| Ok(RealmDomain { domain: row.get(0)?, allow_subdomains: row.get(1)? }))?
        .collect()
}

/// Adds one; answers its id.
pub fn insert(connection: &Connection, domain: &RealmDomain) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("INSERT INTO realm_domain (domain, allow_subdomains) VALUES (?1, ?2)")?
        .insert((&domain.domain, domain.allow_subdomains))
}

/// Changes one; answers whether it was there.
pub fn update(connection: &Connection, domain: &RealmDomain) -> rusqlite::Result<bool> {
    let changed = connection
        .prepare_cached("UPDATE realm_domain SET allow_subdomains = ?2 WHERE domain = ?1")?
        .execute((&domain.domain, domain.allow_subdomains))?;
    Ok(changed > 0)
}

/// Removes one; answers whether it was there.
pub fn delete(connection: &Connection, domain: &str) -> rusqlite::Result<bool> {
    Ok(connection.prepare_cached("DELETE FROM realm_domain WHERE domain = ?1")?.execute([domain])? > 0)
}
