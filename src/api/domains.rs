//! `/realm/domains`: the email domains that may join while the organization is restricted to some.

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::domain::allowed_domains::RealmDomain;
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::limits::{MAX_DOMAINS, organization};
use crate::domain::realm::user_ids;
use crate::domain::{allowed_domains, realm};
use crate::events::uniform_event;
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, OWNER, Owner, Read, Reply, Route, USER, User};
use crate::store::Tx;
use hyper::Method;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

pub const RESOURCE: Resource = Resource { name: "domains", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "realm_domains", fetch: state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/realm/domains", USER, get_domains),
        Route::write(Method::POST, "/realm/domains", OWNER, add_domain),
        Route::write(Method::PATCH, "/realm/domains/{domain}", OWNER, update_domain),
        Route::write(Method::DELETE, "/realm/domains/{domain}", OWNER, remove_domain),
    ]
}

/// The reply to `GET /realm/domains`.
#[derive(Serialize)]
struct Domains {
    /// The domains, the oldest first.
    domains: Vec<RealmDomain>,
}

/// `GET /realm/domains`: lists the email domains that may join while the organization is restricted to domains, the
/// oldest first.
fn get_domains(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<Domains>> {
    Reply::data(&Domains { domains: allowed_domains::list(read)? })
}

/// Parameters of `POST /realm/domains`.
#[derive(Deserialize)]
pub struct AddParams {
    /// The email domain, such as `example.com`. Case and surrounding white space are ignored.
    domain: String,
    /// True if emails of subdomains may join too.
    allow_subdomains: bool,
}

/// The reply to `POST /realm/domains`.
#[derive(Serialize)]
struct NewDomain {
    /// A list of the id of the new domain and the domain in lower case.
    new_domain: (i64, String),
}

/// `POST /realm/domains`: adds an email domain that may join.
fn add_domain(tx: &mut Tx<'_>, _caller: &Owner, params: AddParams) -> ApiResult<Reply<NewDomain>> {
    let domain = params.domain.trim().to_lowercase();
    allowed_domains::check_domain(&domain)
        .map_err(|reason| ApiError::bad_request(format!("Invalid domain: {reason}")))?;
    if allowed_domains::list(tx)?.iter().any(|known| known.domain == domain) {
        let msg = format!("The domain {domain} is already a part of your organization.");
        return Err(ApiError::bad_request(msg));
    }
    let statement = "SELECT count(*) FROM realm_domain";
    organization::check_few(tx, "domains", statement, MAX_DOMAINS)?;
    let new = RealmDomain { domain, allow_subdomains: params.allow_subdomains };
    let id = allowed_domains::insert(tx, &new)?;
    tx.audit(Entry::new(Action::ItemCreated, subject(&new.domain)).after(new.allow_subdomains))?;
    emit_changed(tx, "add", new.clone())?;
    Reply::data(&NewDomain { new_domain: (id, new.domain) })
}

/// A domain as the subject of an entry of the audit log.
fn subject(domain: &str) -> Subject {
    Subject::named("domain", domain)
}

/// Parameters of `PATCH /realm/domains/{domain}`.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// The domain as in `GET /realm/domains`.
    domain: String,
    /// True if emails of subdomains may join too.
    allow_subdomains: bool,
}

/// `PATCH /realm/domains/{domain}`: changes the rule for subdomains of an email domain.
fn update_domain(tx: &mut Tx<'_>, _caller: &Owner, params: UpdateParams) -> ApiResult<Reply> {
    let changed = RealmDomain { domain: params.domain, allow_subdomains: params.allow_subdomains };
    if !allowed_domains::update(tx, &changed)? {
        return Err(not_found(&changed.domain));
    }
    tx.audit(Entry::new(Action::ItemChanged, subject(&changed.domain)).after(changed.allow_subdomains))?;
    emit_changed(tx, "change", changed)?;
    Ok(Reply::ok())
}

/// Parameters of `DELETE /realm/domains/{domain}`.
#[derive(Deserialize)]
pub struct RemoveParams {
    /// The domain as in `GET /realm/domains`.
    domain: String,
}

/// `DELETE /realm/domains/{domain}`: removes an email domain. Removing the last one also lifts the restriction to
/// domains.
fn remove_domain(tx: &mut Tx<'_>, _caller: &Owner, params: RemoveParams) -> ApiResult<Reply> {
    if !allowed_domains::delete(tx, &params.domain)? {
        return Err(not_found(&params.domain));
    }
    tx.audit(Entry::new(Action::ItemDeleted, subject(&params.domain)))?;
    if allowed_domains::list(tx)?.is_empty() {
        realm::events::set(tx, "emails_restricted_to_domains", &false.into())?;
    }
    emit_removed(tx, params.domain)?;
    Ok(Reply::ok())
}

fn not_found(domain: &str) -> ApiError {
    ApiError::bad_request(format!("No entry found for domain {domain}."))
}

/// `realm_domains`, `op: add` and `change`: an email domain was added or changed.
#[derive(Serialize, Deserialize)]
pub struct DomainChanged {
    /// `add` for a new domain, `change` if the rule for its subdomains changed.
    op: Cow<'static, str>,
    /// The domain as it is now.
    realm_domain: RealmDomain,
}

uniform_event!(DomainChanged: "realm_domains", name "realm_domains/change", version 1);

/// `realm_domains`, `op: remove`: an email domain was removed.
#[derive(Serialize, Deserialize)]
pub struct DomainRemoved {
    /// The removed domain.
    domain: String,
}

uniform_event!(DomainRemoved: "realm_domains", op "remove", version 1);

/// Emits a new or changed domain to everyone.
fn emit_changed(tx: &mut Tx<'_>, op: &'static str, realm_domain: RealmDomain) -> ApiResult<()> {
    let everyone = user_ids::everyone(tx)?;
    tx.emit(DomainChanged { op: op.into(), realm_domain }, everyone);
    Ok(())
}

/// Emits the removal of a domain to everyone.
fn emit_removed(tx: &mut Tx<'_>, domain: String) -> ApiResult<()> {
    let everyone = user_ids::everyone(tx)?;
    tx.emit(DomainRemoved { domain }, everyone);
    Ok(())
}

/// State part `realm_domains`: the email domains that may join while the organization is restricted to domains.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.set::<Vec<RealmDomain>>("realm_domains", &allowed_domains::list(request.connection)?)
}
