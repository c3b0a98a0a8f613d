//! `/realm/playgrounds`: external sites that can run the code of a code block, by language (feature levels 49 and 196).

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::limits::{
    MAX_CODE_LANGUAGE_LENGTH, MAX_PLAYGROUND_NAME_LENGTH, MAX_PLAYGROUNDS, MAX_URL_TEMPLATE_LENGTH,
    organization,
};
use crate::domain::realm::user_ids;
use crate::events::uniform_event;
use crate::http::params::Trimmed;
use crate::http::{ADMINISTRATOR, Administrator, ApiError, ApiResult, Reply, Route};
use crate::store::Tx;
use crate::types::find_forbidden_in_name;
use hyper::Method;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use teamchat_markdown::url_template_variables;

pub const RESOURCE: Resource = Resource { name: "code_playgrounds", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "realm_playgrounds", fetch: state }];

fn routes() -> Vec<Route> {
    vec![
        Route::write(Method::POST, "/realm/playgrounds", ADMINISTRATOR, add_playground),
        Route::write(Method::DELETE, "/realm/playgrounds/{playground_id}", ADMINISTRATOR, remove_playground),
    ]
}

/// A playground: an external site that can run the code of a code block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Playground {
    /// The playground's id.
    id: i64,
    /// The name, by which people choose among the playgrounds of a language.
    name: String,
    /// The language of the code blocks that it is for, as code fences name it.
    pygments_language: String,
    /// The URL of the site with the code: a template (RFC 6570) with the one variable `code`.
    url_template: String,
}

/// `realm_playgrounds`: a playground was added or removed. The event has all of them.
#[derive(Serialize, Deserialize)]
pub struct PlaygroundsChanged {
    realm_playgrounds: Vec<Playground>,
}

uniform_event!(PlaygroundsChanged: "realm_playgrounds", version 1);

/// Parameters of `POST /realm/playgrounds`.
#[derive(Deserialize)]
pub struct AddParams {
    /// The name, at most 100 characters. It is unique among the playgrounds of the language.
    name: Trimmed<MAX_PLAYGROUND_NAME_LENGTH>,
    /// The language of the code blocks that it is for, at most 40 characters. It need not be one with syntax
    /// highlighting.
    pygments_language: Trimmed<MAX_CODE_LANGUAGE_LENGTH>,
    /// The URL of the site with the code: an http or https template (RFC 6570) with the one variable `code`, at most
    /// 2000 characters.
    url_template: Trimmed<MAX_URL_TEMPLATE_LENGTH>,
}

/// The reply to `POST /realm/playgrounds`.
#[derive(Serialize)]
struct AddedPlayground {
    /// The id of the new playground.
    id: i64,
}

/// `POST /realm/playgrounds`: adds a playground, a site that can run the code of code blocks.
fn add_playground(
    tx: &mut Tx<'_>,
    _caller: &Administrator,
    params: AddParams,
) -> ApiResult<Reply<AddedPlayground>> {
    if !params.pygments_language.chars().all(is_allowed_in_language) {
        return Err(ApiError::bad_request("Invalid characters in pygments language"));
    }
    let playground = Playground {
        id: 0,
        name: params.name.into_inner(),
        pygments_language: params.pygments_language.into_inner(),
        url_template: params.url_template.into_inner(),
    };
    let statement = "SELECT count(*) FROM code_playground";
    organization::check_few(tx, "code playgrounds", statement, MAX_PLAYGROUNDS)?;
    let problems = problems(&playground, &all(tx)?);
    if !problems.is_empty() {
        return Err(ApiError::invalid_fields(problems));
    }
    let id = insert(tx, &playground)?;
    let created = Subject::with_id("code playground", id).with_name(&playground.name);
    tx.audit(Entry::new(Action::ItemCreated, created).after(playground.url_template.as_str()))?;
    emit_changed(tx)?;
    Reply::data(&AddedPlayground { id })
}

/// Parameters of `DELETE /realm/playgrounds/{playground_id}`.
#[derive(Deserialize)]
pub struct RemoveParams {
    /// The id of the playground.
    playground_id: i64,
}

/// `DELETE /realm/playgrounds/{playground_id}`: removes a playground.
fn remove_playground(tx: &mut Tx<'_>, _caller: &Administrator, params: RemoveParams) -> ApiResult<Reply> {
    let removed =
        tx.prepare_cached("DELETE FROM code_playground WHERE id = ?1")?.execute([params.playground_id])?;
    if removed == 0 {
        return Err(ApiError::bad_request("Invalid playground"));
    }
    tx.audit(Entry::new(Action::ItemDeleted, Subject::with_id("code playground", params.playground_id)))?;
    emit_changed(tx)?;
    Ok(Reply::ok())
}

/// `realm_playgrounds` of `POST /register`: all playgrounds, the oldest first.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.set::<Vec<Playground>>("realm_playgrounds", &all(request.connection)?)
}

fn emit_changed(tx: &mut Tx<'_>) -> ApiResult<()> {
    let event = PlaygroundsChanged { realm_playgrounds: all(tx)? };
    let everyone = user_ids::everyone(tx)?;
    tx.emit(event, everyone);
    Ok(())
}

/// The characters of the published rule.
fn is_allowed_in_language(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || " _+,-./#".contains(letter)
}

/// True if the URLs of a template are web addresses that clients can open.
fn is_web_address(template: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| template.starts_with(scheme))
}

/// Errors of a playground, by field.
fn problems(playground: &Playground, others: &[Playground]) -> Vec<(&'static str, String)> {
    const BLANK: &str = "This field cannot be blank.";
    let mut problems = Vec::new();
    let variables = url_template_variables(&playground.url_template);
    if playground.url_template.is_empty() {
        problems.push(("url_template", BLANK.to_owned()));
    } else if variables.is_none() || !is_web_address(&playground.url_template) {
        problems.push(("url_template", "Invalid URL template.".to_owned()));
    }
    if playground.name.is_empty() {
        problems.push(("name", BLANK.to_owned()));
    } else if find_forbidden_in_name(&playground.name).is_some() {
        problems.push(("name", "Invalid characters in name!".to_owned()));
    }
    if playground.pygments_language.is_empty() {
        problems.push(("pygments_language", BLANK.to_owned()));
    }
    if let Some(variables) = variables {
        if !variables.iter().any(|name| name == "code") {
            let msg = r#"Missing the required variable "code" in the URL template"#;
            problems.push(("__all__", msg.to_owned()));
        } else if variables.iter().any(|name| name != "code") {
            let msg = r#""code" should be the only variable present in the URL template"#;
            problems.push(("__all__", msg.to_owned()));
        }
    }
    let is_same = |other: &Playground| {
        other.name == playground.name && other.pygments_language == playground.pygments_language
    };
    if others.iter().any(is_same) {
        let msg = "Realm playground with this Realm, Pygments language and Name already exists.";
        problems.push(("__all__", msg.to_owned()));
    }
    problems
}

fn all(connection: &Connection) -> rusqlite::Result<Vec<Playground>> {
    connection
        .prepare_cached("SELECT id, name, pygments_language, url_template FROM code_playground ORDER BY id")?
        .query_map([], |row| {
            Ok(Playground {
                id: row.get(0)?,
                name: row.get(1)?,
                pygments_language: row.get(2)?,
                url_template: row.get(3)?,
            })
        })?
        .collect()
}

fn insert(connection: &Connection, playground: &Playground) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO code_playground (name, pygments_language, url_template) VALUES (?1, ?2, ?3)",
        )?
        .insert((&playground.name, &playground.pygments_language, &playground.url_template))
}
