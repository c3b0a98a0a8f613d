//! Adding, changing and removing domains.

use crate::api::domains::events;
use crate::domain::domains::{RealmDomain, rules, sql};
use crate::domain::realm;
use crate::http::{ApiError, ApiResult, Owner, Reply};
use crate::store::Tx;
use serde::Deserialize;

/// Parameters of `POST /realm/domains`.
#[derive(Deserialize)]
pub struct AddParams {
    /// In any case, with white space at its ends or without.
    domain: String,
    /// Whether addresses of its subdomains may join too.
    allow_subdomains: bool,
}

/// `POST /realm/domains`.
pub fn add_domain(tx: &mut Tx<'_>, _caller: &Owner, params: AddParams) -> ApiResult<Reply> {
    let domain = params.domain.trim().to_lowercase();
    rules::check_domain(&domain)
        .map_err(|reason| ApiError::bad_request(format!("Invalid domain: {reason}")))?;
    if sql::all(tx)?.iter().any(|known| known.domain == domain) {
        let msg = format!("The domain {domain} is already a part of your organization.");
        return Err(ApiError::bad_request(msg));
    }
    let new = RealmDomain { domain, allow_subdomains: params.allow_subdomains };
    let id = sql::insert(tx, &new)?;
    events::tell_changed(tx, "add", &new)?;
    Reply::field("new_domain", &(id, &new.domain))
}

/// Parameters of `PATCH /realm/domains/{domain}`.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// Which one.
    domain: String,
    /// Whether addresses of its subdomains may join too.
    allow_subdomains: bool,
}

/// `PATCH /realm/domains/{domain}`.
pub fn update_domain(tx: &mut Tx<'_>, _caller: &Owner, params: UpdateParams) -> ApiResult<Reply> {
    let changed = RealmDomain { domain: params.domain, allow_subdomains: params.allow_subdomains };
    if !sql::update(tx, &changed)? {
        return Err(not_found(&changed.domain));
    }
    events::tell_changed(tx, "change", &changed)?;
    Ok(Reply::ok())
}

/// Parameters of `DELETE /realm/domains/{domain}`.
#[derive(Deserialize)]
pub struct RemoveParams {
    /// Which one.
    domain: String,
}

/// `DELETE /realm/domains/{domain}`. With the last one the restriction to domains goes, which would let nobody in.
pub fn remove_domain(tx: &mut Tx<'_>, _caller: &Owner, params: RemoveParams) -> ApiResult<Reply> {
    if !sql::delete(tx, &params.domain)? {
        return Err(not_found(&params.domain));
    }
    if sql::all(tx)?.is_empty() {
        realm::events::set(tx, "emails_restricted_to_domains", &false.into())?;
    }
    events::tell_removed(tx, &params.domain)?;
    Ok(Reply::ok())
}

fn not_found(domain: &str) -> ApiError {
    ApiError::bad_request(format!("No entry found for domain {domain}."))
}
