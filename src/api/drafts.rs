//! `/drafts`: unsent messages, synchronized between a user's clients.

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::drafts::{Draft, DraftChanged, DraftType, read_row};
use crate::domain::limits::{Accounts, MAX_DRAFTS, MAX_OWNED_LENGTH, MAX_RECIPIENTS};
use crate::domain::messages::destination;
use crate::domain::{limits, messages, user_settings};
use crate::events::{Audience, uniform_event};
use crate::http::params::{FractionalTime, NoParams};
use crate::http::{ApiError, ApiResult, Caller, Read, Reply, Route, USER, User};
use crate::store::{ExecuteCached, Tx};
use crate::types::{StreamId, UserId};
use hyper::Method;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::json;

pub const RESOURCE: Resource = Resource { name: "drafts", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "drafts", fetch: state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/drafts", USER, get_drafts).slow(),
        Route::write(Method::POST, "/drafts", USER, create_drafts),
        Route::write(Method::PATCH, "/drafts/{draft_id}", USER, edit_draft),
        Route::write(Method::DELETE, "/drafts/{draft_id}", USER, delete_draft),
    ]
}

/// Maximum number of drafts in `POST /register`, the last edited first.
const MAX_IN_STATE: usize = 1000;

/// The contents of a draft.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DraftParams {
    /// `stream` for a channel message, `private` for a direct message, empty without a recipient.
    r#type: DraftType,
    /// For `stream`, a list with the id of one channel that the caller may read; for `private`, at most 1000 user ids.
    to: Vec<i64>,
    /// The topic. Ignored except for `stream`.
    topic: String,
    /// The text in Markdown. It must not be blank, and is cut to 10,000 characters.
    #[serde(deserialize_with = "not_blank")]
    content: String,
    /// When the draft was last edited, in UNIX seconds, not negative; by default now.
    timestamp: Option<FractionalTime>,
}

/// Reads a text that is not blank, without trimming it: leading white space is Markdown.
fn not_blank<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() { Err(de::Error::custom("{} cannot be blank")) } else { Ok(text) }
}

/// `drafts`, `op: add`: drafts were created.
#[derive(Serialize, Deserialize)]
pub struct DraftsAdded {
    drafts: Vec<Draft>,
}

uniform_event!(DraftsAdded: "drafts", op "add", version 1);

/// `drafts`, `op: remove`: a draft was deleted.
#[derive(Serialize, Deserialize)]
pub struct DraftRemoved {
    /// The id of the deleted draft.
    pub draft_id: i64,
}

uniform_event!(DraftRemoved: "drafts", op "remove", version 1);

/// The reply to `GET /drafts`.
#[derive(Serialize)]
struct Drafts {
    /// The number of drafts in `drafts`.
    count: usize,
    /// The drafts, the last edited first.
    drafts: Vec<Draft>,
}

/// `GET /drafts`: lists the caller's drafts, the last edited first.
fn get_drafts(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<Drafts>> {
    check_synchronized(read, read.caller)?;
    let drafts = list(read, read.caller.user_id, usize::MAX)?;
    Reply::data(&Drafts { count: drafts.len(), drafts })
}

/// Parameters of `POST /drafts`.
#[derive(Deserialize)]
pub struct CreateParams {
    /// The drafts to create. A person can have at most 2000.
    drafts: Vec<DraftParams>,
}

/// The reply to `POST /drafts`.
#[derive(Serialize)]
struct CreatedDrafts {
    /// The ids of the new drafts, in the order of the request.
    ids: Vec<i64>,
}

/// `POST /drafts`: creates drafts, all or none, and returns their ids. Refused for users who disabled
/// `enable_drafts_synchronization`.
fn create_drafts(tx: &mut Tx<'_>, caller: &User, params: CreateParams) -> ApiResult<Reply<CreatedDrafts>> {
    check_synchronized(tx, caller)?;
    let statement = "SELECT count(*) FROM draft WHERE user_id IN (SELECT value FROM json_each(?1))";
    let accounts = Accounts::of(tx, caller.user_id, tx.now())?;
    accounts.check("drafts", statement, params.drafts.len(), MAX_DRAFTS)?;
    let mut drafts = check_drafts(tx.ctx(caller), params.drafts)?;
    for draft in &mut drafts {
        draft.id = insert(tx, caller.user_id, draft)?;
    }
    check_length(tx, caller)?;
    let ids: Vec<i64> = drafts.iter().map(|draft| draft.id).collect();
    if !drafts.is_empty() {
        tx.emit(DraftsAdded { drafts }, Audience::user(caller.user_id));
    }
    Reply::data(&CreatedDrafts { ids })
}

/// Parameters of `PATCH /drafts/{draft_id}`.
#[derive(Deserialize)]
pub struct EditParams {
    /// The id of the draft to replace. It must be a draft of the caller.
    draft_id: i64,
    /// The new contents, which replace the old ones.
    draft: DraftParams,
}

/// `PATCH /drafts/{draft_id}`: replaces a draft.
fn edit_draft(tx: &mut Tx<'_>, caller: &User, params: EditParams) -> ApiResult<Reply> {
    check_synchronized(tx, caller)?;
    check_exists(tx, caller.user_id, params.draft_id)?;
    let draft = Draft { id: params.draft_id, ..check_draft(&Viewer::new(tx.ctx(caller)), params.draft)? };
    update(tx, &draft)?;
    check_length(tx, caller)?;
    let event = DraftChanged::new(draft);
    tx.emit(event, Audience::user(caller.user_id));
    Ok(Reply::ok())
}

/// Parameters of `DELETE /drafts/{draft_id}`.
#[derive(Deserialize)]
pub struct DeleteParams {
    /// The id of the draft to delete. It must be a draft of the caller.
    draft_id: i64,
}

/// `DELETE /drafts/{draft_id}`: deletes a draft.
fn delete_draft(tx: &mut Tx<'_>, caller: &User, params: DeleteParams) -> ApiResult<Reply> {
    check_synchronized(tx, caller)?;
    check_exists(tx, caller.user_id, params.draft_id)?;
    tx.execute_cached("DELETE FROM draft WHERE id = ?1", [params.draft_id])?;
    let event = DraftRemoved { draft_id: params.draft_id };
    tx.emit(event, Audience::user(caller.user_id));
    Ok(Reply::ok())
}

/// Deletes the drafts of a user, with events, and returns their number.
pub fn purge(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<usize> {
    let ids: Vec<i64> = tx
        .prepare_cached("DELETE FROM draft WHERE user_id = ?1 RETURNING id")?
        .query_map([user_id], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for draft_id in &ids {
        tx.emit(DraftRemoved { draft_id: *draft_id }, Audience::user(user_id));
    }
    Ok(ids.len())
}

/// State part `drafts`: the caller's 1000 last edited drafts, the last edited first. Empty for users who disabled
/// `enable_drafts_synchronization`.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let drafts = if is_synchronized(request.connection, request.caller)? {
        list(request.connection, request.caller.user_id, MAX_IN_STATE)?
    } else {
        Vec::new()
    };
    state.set::<Vec<Draft>>("drafts", &drafts)
}

fn is_synchronized(connection: &Connection, caller: &Caller) -> ApiResult<bool> {
    user_settings::ENABLE_DRAFTS_SYNCHRONIZATION.get(connection, caller.user_id)
}

fn check_synchronized(connection: &Connection, caller: &Caller) -> ApiResult<()> {
    if is_synchronized(connection, caller)? {
        return Ok(());
    }
    Err(ApiError::bad_request("User has disabled synchronizing drafts."))
}

fn check_length(tx: &Tx<'_>, caller: &Caller) -> ApiResult<()> {
    let statement =
        "SELECT sum(octet_length(content)) FROM draft WHERE user_id IN (SELECT value FROM json_each(?1))";
    Accounts::of(tx, caller.user_id, tx.now())?.check_length("drafts", statement, MAX_OWNED_LENGTH)
}

/// Checks drafts and returns them. The caller's groups, which may be thousands, are loaded once.
fn check_drafts(ctx: Ctx<'_>, drafts: Vec<DraftParams>) -> ApiResult<Vec<Draft>> {
    let viewer = Viewer::new(ctx);
    drafts.into_iter().map(|params| check_draft(&viewer, params)).collect()
}

/// Checks a draft and returns it with id 0. The recipient has to exist, but the caller need not be allowed to send
/// there.
fn check_draft(viewer: &Viewer<'_>, params: DraftParams) -> ApiResult<Draft> {
    let ctx = viewer.ctx;
    let content = messages::rules::content(&params.content)?;
    let timestamp = params.timestamp.map_or(ctx.now, FractionalTime::seconds);
    if timestamp < 0 {
        return Err(ApiError::bad_request("Timestamp must not be negative."));
    }
    let (to, topic) = match params.r#type {
        DraftType::Unaddressed => (Vec::new(), String::new()),
        DraftType::Stream => {
            if params.topic.contains('\0') {
                return Err(ApiError::bad_request("Topic must not contain null bytes"));
            }
            let [stream_id] = params.to[..] else {
                let msg = "Must specify exactly 1 channel ID for channel messages";
                return Err(ApiError::bad_request(msg));
            };
            let stream = viewer.find_for_content(StreamId(stream_id))?;
            (vec![stream.stream_id.0], destination::read_topic(&params.topic)?.as_str().to_owned())
        }
        DraftType::Private => (check_people(&ctx, ctx.caller, params.to)?, String::new()),
    };
    Ok(Draft { id: 0, r#type: params.r#type, to, topic, content, timestamp })
}

/// Checks that the people exist and returns their ids ascending, without the caller unless alone.
fn check_people(connection: &Connection, caller: &Caller, mut to: Vec<i64>) -> ApiResult<Vec<i64>> {
    limits::check("recipients", to.len(), MAX_RECIPIENTS)?;
    to.sort_unstable();
    to.dedup();
    // One request can have a hundred drafts to a thousand people each.
    let unknown: Option<i64> = connection
        .prepare_cached(
            "SELECT person.value FROM json_each(?1) AS person
             WHERE NOT EXISTS (SELECT 1 FROM user WHERE user_id = person.value) ORDER BY person.value LIMIT 1",
        )?
        .query_row([serde_json::to_string(&to)?], |row| row.get(0))
        .optional()?;
    if let Some(id) = unknown {
        return Err(ApiError::bad_request(format!("Invalid user ID {id}")));
    }
    if to.len() > 1 {
        to.retain(|id| *id != caller.user_id.0);
    }
    Ok(to)
}

/// Lists a user's drafts, the last edited first.
fn list(connection: &Connection, user_id: UserId, limit: usize) -> rusqlite::Result<Vec<Draft>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "SELECT id, stream_id, user_ids, topic, content, last_edit_time FROM draft
             WHERE user_id = ?1 ORDER BY last_edit_time DESC, id DESC LIMIT ?2",
        )?
        .query_map((user_id, limit), read_row)?
        .collect()
}

/// Checks that a draft exists and belongs to the user.
fn check_exists(connection: &Connection, user_id: UserId, id: i64) -> ApiResult<()> {
    connection
        .prepare_cached("SELECT 1 FROM draft WHERE id = ?1 AND user_id = ?2")?
        .query_row((id, user_id), |_| Ok(()))
        .optional()?
        .ok_or_else(|| ApiError::bad_request("Draft does not exist"))
}

/// Returns the columns `stream_id` and `user_ids` of a draft.
fn recipient_columns(draft: &Draft) -> (Option<i64>, Option<String>) {
    match draft.r#type {
        DraftType::Unaddressed => (None, None),
        DraftType::Stream => (draft.to.first().copied(), None),
        DraftType::Private => (None, Some(json!(draft.to).to_string())),
    }
}

fn insert(connection: &Connection, user_id: UserId, draft: &Draft) -> rusqlite::Result<i64> {
    let (stream_id, user_ids) = recipient_columns(draft);
    connection
        .prepare_cached(
            "INSERT INTO draft (user_id, stream_id, user_ids, topic, content, last_edit_time)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .insert((user_id, stream_id, user_ids, &draft.topic, &draft.content, draft.timestamp))
}

fn update(connection: &Connection, draft: &Draft) -> rusqlite::Result<()> {
    let (stream_id, user_ids) = recipient_columns(draft);
    connection.execute_cached(
        "UPDATE draft SET stream_id = ?2, user_ids = ?3, topic = ?4, content = ?5, last_edit_time = ?6
         WHERE id = ?1",
        (draft.id, stream_id, user_ids, &draft.topic, &draft.content, draft.timestamp),
    )
}
