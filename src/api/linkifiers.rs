//! `/realm/linkifiers` and `/realm/filters`: patterns that become links in messages and topics. Events and state are
//! for clients that know URL templates (feature level 176).

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::app::App;
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::limits::{
    MAX_LINKIFIER_PATTERN_LENGTH, MAX_LINKIFIERS, MAX_URL_TEMPLATE_LENGTH, organization,
};
use crate::domain::linkifiers;
use crate::domain::linkifiers::LinkifierRecord;
use crate::domain::realm::user_ids;
use crate::events::{Receiver, uniform_event};
use crate::http::params::{NoParams, Trimmed};
use crate::http::{ADMINISTRATOR, Administrator, ApiError, ApiResult, Call, Read, Reply, Route, USER, User};
use crate::store::Tx;
use crate::types::UserId;
use hyper::Method;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashSet;
use std::fmt::Write;
use teamchat_markdown::{
    ALWAYS_FIT, Linkifier, LinkifierError, fit_together, has_harmless_scheme, url_template_variables,
};

pub const RESOURCE: Resource =
    Resource { name: "linkifiers", routes, state: STATE, set_up, ..Resource::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "realm_linkifiers", fetch: linkifiers },
    StatePart { name: "realm_filters", fetch: filters },
];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/realm/linkifiers", USER, get_linkifiers),
        Route::write(Method::PATCH, "/realm/linkifiers", ADMINISTRATOR, reorder_linkifiers),
        Route::read(Method::GET, "/realm/filters", USER, get_filters),
        Route::call(Method::POST, "/realm/filters", ADMINISTRATOR, add_linkifier),
        Route::call(Method::PATCH, "/realm/filters/{filter_id}", ADMINISTRATOR, update_linkifier),
        Route::write(Method::DELETE, "/realm/filters/{filter_id}", ADMINISTRATOR, remove_linkifier),
    ]
}

/// Compiles all linkifiers before the first job needs them.
fn set_up(tx: &mut Tx<'_>) -> ApiResult<()> {
    linkifiers::compiled::all(tx).map(|_| ())
}

/// The reply to `GET /realm/linkifiers`.
#[derive(Serialize)]
struct Linkifiers {
    /// The linkifiers, in the order of application.
    linkifiers: Vec<LinkifierRecord>,
}

/// `GET /realm/linkifiers`: lists all linkifiers, in the order of application.
fn get_linkifiers(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<Linkifiers>> {
    Reply::data(&Linkifiers { linkifiers: linkifiers::all(read)? })
}

/// The reply to `GET /realm/filters`.
#[derive(Serialize)]
struct Filters {
    /// The linkifiers as lists of pattern, format string and id. The format string has `%(name)s` for the group `name`.
    filters: Vec<(String, String, i64)>,
}

/// `GET /realm/filters`: lists the linkifiers for clients from before feature level 54. Templates that no format string
/// can express are left out.
fn get_filters(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<Filters>> {
    let filters: Vec<(String, String, i64)> = linkifiers::all(read)?
        .into_iter()
        .filter_map(|LinkifierRecord { pattern, url_template, id }| {
            Some((pattern, format_string(&url_template)?, id))
        })
        .collect();
    Reply::data(&Filters { filters })
}

/// A template as a format string, `%(name)s` for `{name}`; `None` if it has other expressions.
fn format_string(url_template: &str) -> Option<String> {
    let mut format = String::new();
    let mut rest = url_template;
    while let Some((before, expression)) = rest.split_once('{') {
        let (name, after) = expression.split_once('}')?;
        if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
            return None;
        }
        format.push_str(&before.replace('%', "%%"));
        // Writing to a text cannot fail.
        let _ = write!(format, "%({name})s");
        rest = after;
    }
    format.push_str(&rest.replace('%', "%%"));
    Some(format)
}

/// Parameters of `POST /realm/filters`.
#[derive(Deserialize)]
pub struct AddParams {
    /// A regular expression with named groups, in Python's syntax, at most 1000 characters. No other linkifier may have
    /// it.
    pattern: Trimmed<MAX_LINKIFIER_PATTERN_LENGTH>,
    /// The target of the links: a URL template (RFC 6570) whose variables are the groups of the pattern, at most 2000
    /// characters.
    url_template: Trimmed<MAX_URL_TEMPLATE_LENGTH>,
}

/// The reply to `POST /realm/filters`.
#[derive(Serialize)]
struct AddedLinkifier {
    /// The id of the new linkifier.
    id: i64,
}

/// `POST /realm/filters`: adds a linkifier after the others.
async fn add_linkifier(call: Call<Administrator>, params: AddParams) -> ApiResult<Reply<AddedLinkifier>> {
    let (pattern, url_template) = (params.pattern.0, params.url_template.0);
    let patterns =
        prepare(&call.app, call.caller.quota_owner(), None, pattern.clone(), url_template.clone()).await?;
    let job = move |tx: &mut Tx<'_>, _caller: &Administrator| {
        check_not_taken(&linkifiers::all(tx)?, &pattern, None)?;
        check_number(tx)?;
        let id = linkifiers::insert(tx, &pattern, &url_template)?;
        check_prepared(tx, &patterns)?;
        let linkifier = Subject::with_id("linkifier", id).with_name(&pattern);
        tx.audit(Entry::new(Action::ItemCreated, linkifier).after(url_template))?;
        emit_changed(tx)?;
        Reply::data(&AddedLinkifier { id })
    };
    call.write(job).await
}

/// Parameters of `PATCH /realm/filters/{filter_id}`.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// The id of the linkifier.
    filter_id: i64,
    /// A regular expression with named groups, in Python's syntax, at most 1000 characters. No other linkifier may have
    /// it.
    pattern: Trimmed<MAX_LINKIFIER_PATTERN_LENGTH>,
    /// The target of the links: a URL template (RFC 6570) whose variables are the groups of the pattern, at most 2000
    /// characters.
    url_template: Trimmed<MAX_URL_TEMPLATE_LENGTH>,
}

/// `PATCH /realm/filters/{filter_id}`: changes pattern and template of a linkifier. Its position stays.
async fn update_linkifier(call: Call<Administrator>, params: UpdateParams) -> ApiResult<Reply> {
    let (id, pattern, url_template) = (params.filter_id, params.pattern.0, params.url_template.0);
    let patterns =
        prepare(&call.app, call.caller.quota_owner(), Some(id), pattern.clone(), url_template.clone())
            .await?;
    let job = move |tx: &mut Tx<'_>, _caller: &Administrator| {
        let all = linkifiers::all(tx)?;
        let before = all.iter().find(|linkifier| linkifier.id == id).ok_or_else(not_found)?;
        check_not_taken(&all, &pattern, Some(id))?;
        linkifiers::update(tx, id, &pattern, &url_template)?;
        check_prepared(tx, &patterns)?;
        let changed = Entry::new(Action::ItemChanged, Subject::with_id("linkifier", id));
        let after = json!({ "pattern": pattern, "url_template": url_template });
        tx.audit(changed.before(serde_json::to_value(before)?).after(after))?;
        emit_changed(tx)?;
        Ok(Reply::ok())
    };
    call.write(job).await
}

/// Parameters of `DELETE /realm/filters/{filter_id}`.
#[derive(Deserialize)]
pub struct RemoveParams {
    /// The id of the linkifier.
    filter_id: i64,
}

/// `DELETE /realm/filters/{filter_id}`: removes a linkifier.
fn remove_linkifier(tx: &mut Tx<'_>, _caller: &Administrator, params: RemoveParams) -> ApiResult<Reply> {
    if !linkifiers::delete(tx, params.filter_id)? {
        return Err(not_found());
    }
    tx.audit(Entry::new(Action::ItemDeleted, Subject::with_id("linkifier", params.filter_id)))?;
    emit_changed(tx)?;
    Ok(Reply::ok())
}

/// Parameters of `PATCH /realm/linkifiers`.
#[derive(Deserialize)]
pub struct ReorderParams {
    /// The ids of all linkifiers, in the new order of application. Missing, unknown and repeated ids are errors.
    ordered_linkifier_ids: Vec<i64>,
}

/// `PATCH /realm/linkifiers`: changes the order of application. If two linkifiers match the same text, the first takes
/// precedence.
fn reorder_linkifiers(tx: &mut Tx<'_>, _caller: &Administrator, params: ReorderParams) -> ApiResult<Reply> {
    let ids = params.ordered_linkifier_ids;
    let wanted: HashSet<i64> = ids.iter().copied().collect();
    if wanted.len() < ids.len() {
        return Err(ApiError::bad_request("The ordered list must not contain duplicated linkifiers"));
    }
    let all: HashSet<i64> = linkifiers::all(tx)?.iter().map(|linkifier| linkifier.id).collect();
    if wanted != all {
        return Err(ApiError::bad_request(
            "The ordered list must enumerate all existing linkifiers exactly once",
        ));
    }
    if !ids.is_empty() {
        for (position, id) in ids.iter().enumerate() {
            linkifiers::set_position(tx, *id, position)?;
        }
        tx.audit(Entry::new(Action::ItemChanged, Subject::named("linkifier", "order")).after(ids))?;
        emit_changed(tx)?;
    }
    Ok(Reply::ok())
}

/// Checks a new linkifier, or a change of the one with `own_id`, and compiles it: with many linkifiers that takes too long for a
/// job. Returns the patterns of all, as they are with it.
async fn prepare(
    app: &App,
    user_id: UserId,
    own_id: Option<i64>,
    pattern: String,
    url_template: String,
) -> ApiResult<Vec<String>> {
    let prepared = app.read_in(&app.pools.rendering, Some(user_id), move |snapshot| {
        let mut all = linkifiers::all(snapshot)?;
        let place = match own_id {
            Some(id) => all.iter().position(|linkifier| linkifier.id == id).ok_or_else(not_found)?,
            None => all.len(),
        };
        check(&pattern, &url_template, is_taken(&all, &pattern, own_id))?;
        if own_id.is_none() {
            check_number(snapshot)?;
        }
        let changed = LinkifierRecord { pattern, url_template, id: 0 };
        match all.get_mut(place) {
            Some(own) => *own = changed,
            None => all.push(changed),
        }
        let patterns: Vec<&str> = all.iter().map(|linkifier| linkifier.pattern.as_str()).collect();
        if !fit_together(&patterns) {
            return Err(ApiError::bad_request("The patterns of all linkifiers are too large together"));
        }
        let patterns: Vec<String> = patterns.into_iter().map(str::to_owned).collect();
        linkifiers::compiled::prepare(all);
        Ok(patterns)
    });
    prepared.await
}

/// Refuses a pattern that another linkifier got after [`prepare`].
fn check_not_taken(all: &[LinkifierRecord], pattern: &str, own_id: Option<i64>) -> ApiResult<()> {
    if is_taken(all, pattern, own_id) { Err(ApiError::invalid_fields(vec![taken()])) } else { Ok(()) }
}

/// Fails if there are many patterns, and they are not the ones that [`prepare`] checked together.
fn check_prepared(connection: &Connection, prepared: &[String]) -> ApiResult<()> {
    let all = linkifiers::all(connection)?;
    if all.len() > ALWAYS_FIT && !all.iter().map(|linkifier| &linkifier.pattern).eq(prepared) {
        return Err(ApiError::busy());
    }
    Ok(())
}

/// Refuses another linkifier when there are too many.
fn check_number(connection: &Connection) -> ApiResult<()> {
    let statement = "SELECT count(*) FROM linkifier";
    organization::check_few(connection, "linkifiers", statement, MAX_LINKIFIERS)
}

/// True if another linkifier has the pattern.
fn is_taken(all: &[LinkifierRecord], pattern: &str, own_id: Option<i64>) -> bool {
    all.iter().any(|linkifier| linkifier.pattern == pattern && Some(linkifier.id) != own_id)
}

fn taken() -> (&'static str, String) {
    (WHOLE, "Realm filter with this Realm and Pattern already exists.".to_owned())
}

fn not_found() -> ApiError {
    ApiError::bad_request("Linkifier not found.")
}

/// The published name for errors of a whole record rather than a field.
const WHOLE: &str = "__all__";

/// Checks a pattern and its template; `is_taken` is true if another linkifier has the pattern. The error is the first
/// problem, with all of them by field in `errors`.
fn check(pattern: &str, url_template: &str, is_taken: bool) -> Result<(), ApiError> {
    let blank = || "This field cannot be blank.".to_owned();
    let mut problems: Vec<(&'static str, String)> = Vec::new();
    if pattern.is_empty() {
        problems.push(("pattern", blank()));
    }
    if url_template.is_empty() {
        problems.push(("url_template", blank()));
    } else if url_template_variables(url_template).is_none() || !has_harmless_scheme(url_template) {
        problems.push(("url_template", LinkifierError::BadTemplate.to_string()));
    }
    match Linkifier::compile(pattern, url_template) {
        Ok(_) | Err(LinkifierError::BadTemplate) => {}
        Err(error) => problems.push((WHOLE, error.to_string())),
    }
    if is_taken {
        problems.push(taken());
    }
    if problems.is_empty() { Ok(()) } else { Err(ApiError::invalid_fields(problems)) }
}

/// `realm_linkifiers`: a linkifier was added, changed, moved or removed. The event has all of them.
#[derive(Serialize, Deserialize)]
pub struct LinkifiersChanged {
    realm_linkifiers: Vec<LinkifierRecord>,
}

uniform_event!(LinkifiersChanged: "realm_linkifiers", version 1, if knows_url_templates);

/// Clients that do not know URL templates get nothing.
fn knows_url_templates(receiver: &Receiver<'_>) -> bool {
    receiver.registration.client_capabilities.linkifier_url_template
}

fn emit_changed(tx: &mut Tx<'_>) -> ApiResult<()> {
    let event = LinkifiersChanged { realm_linkifiers: linkifiers::all(tx)? };
    let everyone = user_ids::everyone(tx)?;
    tx.emit(event, everyone);
    Ok(())
}

/// `realm_linkifiers` of `POST /register`: all linkifiers, in the order of application. Empty without the
/// `linkifier_url_template` capability.
fn linkifiers(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let knows = request.registration.client_capabilities.linkifier_url_template;
    let all = if knows { linkifiers::all(request.connection)? } else { Vec::new() };
    state.set::<Vec<LinkifierRecord>>("realm_linkifiers", &all)
}

/// `realm_filters` of `POST /register`: the deprecated form of linkifiers. Always empty.
fn filters(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.set::<[(); 0]>("realm_filters", &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn plain_templates_have_a_format_string() {
        for (url_template, expected) in [
            ("https://example.com/{id}", Some("https://example.com/%(id)s")),
            ("https://example.com/%20{a}/{b_2}?x=50%", Some("https://example.com/%%20%(a)s/%(b_2)s?x=50%%")),
            ("https://example.com", Some("https://example.com")),
            ("https://example.com/{+path}", None),
            ("https://example.com/{a,b}", None),
            ("https://example.com/{id:3}", None),
        ] {
            assert_eq!(format_string(url_template).as_deref(), expected, "{url_template}");
        }
    }

    #[test]
    fn all_errors_are_listed_and_the_first_is_the_message() {
        let cases = [
            ("#(?P<id>[0-9]+)", "https://example.com/{id}", false, json!(null)),
            ("", "https://example.com", false, json!({"pattern": ["This field cannot be blank."]})),
            ("x", "", false, json!({"url_template": ["This field cannot be blank."]})),
            ("x", "https://example.com/{", false, json!({"url_template": ["Invalid URL template."]})),
            (
                "(x",
                "{",
                false,
                json!({"url_template": ["Invalid URL template."], "__all__": ["Bad regular expression: missing ): (x"]}),
            ),
            (
                "x",
                "https://example.com/{id}",
                true,
                json!({"__all__": ["Group 'id' in URL template is not present in linkifier pattern.",
                    "Realm filter with this Realm and Pattern already exists."]}),
            ),
        ];
        for (pattern, url_template, is_taken, expected) in cases {
            let body =
                check(pattern, url_template, is_taken).map_or_else(|error| error.body(), |()| json!({}));
            assert_eq!(body.get("errors").unwrap_or(&Value::Null), &expected, "{pattern} {url_template}");
            let first = expected.as_object().and_then(|errors| errors.values().next()).map(|list| &list[0]);
            assert_eq!(body.get("msg"), first, "{pattern} {url_template}");
        }
    }
}
