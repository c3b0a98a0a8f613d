//! `/realm/linkifiers` and `/realm/filters`: patterns that become links in messages and topics. Events and state are
//! for clients that know URL templates (feature level 176).

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::limits::{
    MAX_LINKIFIER_PATTERN_LENGTH, MAX_LINKIFIERS, MAX_URL_TEMPLATE_LENGTH, organization,
};
use crate::domain::linkifiers;
use crate::domain::linkifiers::LinkifierRecord;
use crate::domain::realm::user_ids;
use crate::events::{Receiver, uniform_event};
use crate::http::params::{NoParams, Trimmed};
use crate::http::{ADMINISTRATOR, Administrator, ApiError, ApiResult, Read, Reply, Route, USER, User};
use crate::store::Tx;
use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashSet;
use std::fmt::Write;
use teamchat_markdown::{
    Linkifier, LinkifierError, fit_together, has_harmless_scheme, url_template_variables,
};

pub const RESOURCE: Resource = Resource { name: "linkifiers", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "realm_linkifiers", fetch: linkifiers },
    StatePart { name: "realm_filters", fetch: filters },
];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/realm/linkifiers", USER, get_linkifiers),
        Route::write(Method::PATCH, "/realm/linkifiers", ADMINISTRATOR, reorder_linkifiers),
        Route::read(Method::GET, "/realm/filters", USER, get_filters),
        Route::write(Method::POST, "/realm/filters", ADMINISTRATOR, add_linkifier),
        Route::write(Method::PATCH, "/realm/filters/{filter_id}", ADMINISTRATOR, update_linkifier),
        Route::write(Method::DELETE, "/realm/filters/{filter_id}", ADMINISTRATOR, remove_linkifier),
    ]
}

/// The reply to `GET /realm/linkifiers`.
#[derive(Serialize)]
struct Linkifiers {
    /// In the order of application.
    linkifiers: Vec<LinkifierRecord>,
}

/// `GET /realm/linkifiers`: all linkifiers, in the order of application.
fn get_linkifiers(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<Linkifiers>> {
    Reply::data(&Linkifiers { linkifiers: linkifiers::all(read)? })
}

/// The reply to `GET /realm/filters`.
#[derive(Serialize)]
struct Filters {
    /// Pattern, format string and id.
    filters: Vec<(String, String, i64)>,
}

/// `GET /realm/filters`: the same as triples of pattern, format string and id, for clients from before feature level
/// 54. A template that no format string can express is left out.
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
    /// A regular expression with named groups.
    pattern: Trimmed<MAX_LINKIFIER_PATTERN_LENGTH>,
    /// RFC 6570; its variables are the groups.
    url_template: Trimmed<MAX_URL_TEMPLATE_LENGTH>,
}

/// The reply to `POST /realm/filters`.
#[derive(Serialize)]
struct AddedLinkifier {
    /// The linkifier.
    id: i64,
}

/// `POST /realm/filters`: adds a linkifier after the others.
fn add_linkifier(
    tx: &mut Tx<'_>,
    _caller: &Administrator,
    params: AddParams,
) -> ApiResult<Reply<AddedLinkifier>> {
    check(&params.pattern, &params.url_template, is_taken(tx, &params.pattern, None)?)?;
    let statement = "SELECT count(*) FROM linkifier";
    organization::check_few(tx, "linkifiers", statement, MAX_LINKIFIERS)?;
    let id = linkifiers::insert(tx, &params.pattern, &params.url_template)?;
    check_size(tx)?;
    let linkifier = Subject::with_id("linkifier", id).with_name(&params.pattern);
    tx.audit(Entry::new(Action::ItemCreated, linkifier).after(&*params.url_template))?;
    emit_changed(tx)?;
    Reply::data(&AddedLinkifier { id })
}

/// Parameters of `PATCH /realm/filters/{filter_id}`.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// The linkifier to change.
    filter_id: i64,
    /// A regular expression with named groups.
    pattern: Trimmed<MAX_LINKIFIER_PATTERN_LENGTH>,
    /// RFC 6570; its variables are the groups.
    url_template: Trimmed<MAX_URL_TEMPLATE_LENGTH>,
}

/// `PATCH /realm/filters/{filter_id}`: changes a linkifier, but not its position.
fn update_linkifier(tx: &mut Tx<'_>, _caller: &Administrator, params: UpdateParams) -> ApiResult<Reply> {
    let id = params.filter_id;
    let before =
        linkifiers::all(tx)?.into_iter().find(|linkifier| linkifier.id == id).ok_or_else(not_found)?;
    check(&params.pattern, &params.url_template, is_taken(tx, &params.pattern, Some(id))?)?;
    linkifiers::update(tx, id, &params.pattern, &params.url_template)?;
    check_size(tx)?;
    let changed = Entry::new(Action::ItemChanged, Subject::with_id("linkifier", id));
    let after = json!({ "pattern": *params.pattern, "url_template": *params.url_template });
    tx.audit(changed.before(serde_json::to_value(before)?).after(after))?;
    emit_changed(tx)?;
    Ok(Reply::ok())
}

/// Parameters of `DELETE /realm/filters/{filter_id}`.
#[derive(Deserialize)]
pub struct RemoveParams {
    /// The linkifier to remove.
    filter_id: i64,
}

/// `DELETE /realm/filters/{filter_id}`.
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
    /// The ids of all linkifiers, the first to be tried first.
    ordered_linkifier_ids: Vec<i64>,
}

/// `PATCH /realm/linkifiers`: orders the linkifiers; if two match the same text, the first takes precedence.
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

/// Refuses linkifiers that are too large together, with one that this job has written.
fn check_size(tx: &Tx<'_>) -> ApiResult<()> {
    let all = linkifiers::all(tx)?;
    let patterns: Vec<&str> = all.iter().map(|linkifier| linkifier.pattern.as_str()).collect();
    if fit_together(&patterns) {
        return Ok(());
    }
    Err(ApiError::bad_request("The patterns of all linkifiers are too large together"))
}

/// True if another linkifier has the pattern.
fn is_taken(tx: &Tx<'_>, pattern: &str, own_id: Option<i64>) -> ApiResult<bool> {
    let all = linkifiers::all(tx)?;
    Ok(all.iter().any(|linkifier| linkifier.pattern == pattern && Some(linkifier.id) != own_id))
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
        problems.push((WHOLE, "Realm filter with this Realm and Pattern already exists.".to_owned()));
    }
    if problems.is_empty() { Ok(()) } else { Err(ApiError::invalid_fields(problems)) }
}

/// `realm_linkifiers`: all of them, whatever has changed.
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

/// `realm_linkifiers` of `POST /register`: empty for clients that do not know URL templates.
fn linkifiers(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let knows = request.registration.client_capabilities.linkifier_url_template;
    let all = if knows { linkifiers::all(request.connection)? } else { Vec::new() };
    state.set::<Vec<LinkifierRecord>>("realm_linkifiers", &all)
}

/// `realm_filters` of `POST /register`: the deprecated form of linkifiers; always empty.
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
