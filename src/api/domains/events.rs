//! Events about domains, and the domains in the answer of `POST /register`.

use crate::domain::domains::{RealmDomain, sql};
use crate::domain::realm::user_ids as users;
use crate::events::{Audience, Event};
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use serde::Serialize;
use serde_json::json;

/// `realm_domains`, `op: add` and `change`.
#[derive(Serialize)]
struct DomainChanged<'a> {
    r#type: &'static str,
    op: &'static str,
    realm_domain: &'a RealmDomain,
}

impl Event for DomainChanged<'_> {
    const TYPE: &'static str = "realm_domains";
}

/// `realm_domains`, `op: remove`.
#[derive(Serialize)]
struct DomainRemoved<'a> {
    r#type: &'static str,
    op: &'static str,
    domain: &'a str,
}

impl Event for DomainRemoved<'_> {
    const TYPE: &'static str = "realm_domains";
}

/// Tells everybody of a domain that is new or has changed.
pub fn tell_changed(tx: &mut Tx<'_>, op: &'static str, realm_domain: &RealmDomain) -> ApiResult<()> {
    let everybody = Audience::set(users::active_ids(tx)?);
    tx.emit(&DomainChanged { r#type: DomainChanged::TYPE, op, realm_domain }, everybody);
    Ok(())
}

/// Tells everybody of a domain that is gone.
pub fn tell_removed(tx: &mut Tx<'_>, domain: &str) -> ApiResult<()> {
    let everybody = Audience::set(users::active_ids(tx)?);
    tx.emit(&DomainRemoved { r#type: DomainRemoved::TYPE, op: "remove", domain }, everybody);
    Ok(())
}

/// Word `realm_domains`.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("realm_domains".into(), json!(sql::all(request.connection)?));
    Ok(())
}
