//! `POST` and `DELETE /messages/{message_id}/reactions`.

use super::Slice;
use super::messages::message::{MessageRow, Reaction, attribute};
use super::messages::sight::Sight;
use super::messages::{receivers, sql as messages};
use super::user_topics::automatic;
use super::users::sql as users;
use crate::events::Event;
use crate::http::{ApiError, ApiResult, Reply, Route, USER, User};
use crate::markdown::emoji;
use crate::store::Tx;
use crate::types::{MessageId, Topic, UserId};
use hyper::Method;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

/// Reactions.
pub const SLICE: Slice = Slice { name: "reactions", routes, ..Slice::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::write(Method::POST, "/messages/{message_id}/reactions", USER, add_reaction),
        Route::write(Method::DELETE, "/messages/{message_id}/reactions", USER, remove_reaction),
    ]
}

/// Parameters of both.
#[derive(Deserialize)]
pub struct ReactionParams {
    /// Which message.
    message_id: MessageId,
    /// A name of the emoji.
    #[serde(default)]
    emoji_name: Option<String>,
    /// What identifies it within its type; found by the name when absent.
    #[serde(default)]
    emoji_code: Option<String>,
    /// `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`; found by the name when absent.
    #[serde(default)]
    reaction_type: Option<String>,
}

/// An emoji of a reaction or a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenEmoji {
    /// What identifies it within its type.
    pub code: String,
    /// The type.
    pub kind: &'static str,
}

const UNICODE: &str = "unicode_emoji";
const CUSTOM: &str = "realm_emoji";
const EXTRA: &str = "zulip_extra_emoji";

/// `reaction`, `op: add` or `remove`.
#[derive(Serialize)]
struct ReactionChanged {
    r#type: &'static str,
    op: &'static str,
    message_id: MessageId,
    #[serde(flatten)]
    reaction: Reaction,
    /// Deprecated, for clients of older servers.
    user: ReactingUser,
}

#[derive(Serialize)]
struct ReactingUser {
    user_id: UserId,
    email: String,
    full_name: String,
}

impl Event for ReactionChanged {
    const TYPE: &'static str = "reaction";
}

/// `POST /messages/{message_id}/reactions`.
fn add_reaction(tx: &mut Tx<'_>, caller: &User, params: ReactionParams) -> ApiResult<Reply> {
    let message = Sight::new(tx, caller, tx.now()).find(params.message_id)?;
    let name = params.emoji_name.ok_or_else(|| ApiError::missing("emoji_name"))?;
    let (code, kind) = complete(&name, params.emoji_code, params.reaction_type)?;
    // Whoever joins a reaction that is there already takes its name: it may be another one for the same emoji, or one
    // that is not given any more.
    let joined = messages::reactions(tx, message.id)?
        .into_iter()
        .find(|there| there.emoji_code == code && there.reaction_type == kind);
    let reaction = match joined {
        Some(there) => Reaction { user_id: caller.user_id, ..there },
        None => {
            let kind = check(&name, &code, &kind)?;
            Reaction {
                emoji_name: name,
                emoji_code: code,
                reaction_type: kind.to_owned(),
                user_id: caller.user_id,
            }
        }
    };
    if find(tx, message.id, &reaction)?.is_some() {
        return Err(ApiError::new(400, "REACTION_ALREADY_EXISTS", "Reaction already exists."));
    }
    insert(tx, message.id, &reaction)?;
    messages::add_attributes(tx, message.id, attribute::HAS_REACTION)?;
    if let Some(stream_id) = messages::stream_of(tx, message.recipient_id)? {
        let topic = Topic::stored(message.subject.clone());
        automatic::at_participation(tx, caller.user_id, stream_id, &topic)?;
    }
    tell(tx, "add", &message, reaction)
}

/// `DELETE /messages/{message_id}/reactions`.
fn remove_reaction(tx: &mut Tx<'_>, caller: &User, params: ReactionParams) -> ApiResult<Reply> {
    let message = Sight::new(tx, caller, tx.now()).find(params.message_id)?;
    // What is removed need not be an emoji that could be added: it could when it was.
    let (code, kind) = match (params.emoji_name, params.emoji_code) {
        (_, Some(code)) => (code, params.reaction_type.unwrap_or_else(|| UNICODE.to_owned())),
        (Some(name), None) => complete(&name, None, params.reaction_type)?,
        (None, None) => {
            let msg = "At least one of the following arguments must be present: emoji_name, emoji_code";
            return Err(ApiError::bad_request(msg));
        }
    };
    let wanted = |reaction: &Reaction| {
        reaction.user_id == caller.user_id && reaction.emoji_code == code && reaction.reaction_type == kind
    };
    let reaction = messages::reactions(tx, message.id)?
        .into_iter()
        .find(wanted)
        .ok_or_else(|| ApiError::new(400, "REACTION_DOES_NOT_EXIST", "Reaction doesn't exist."))?;
    tx.prepare_cached(
        "DELETE FROM reaction WHERE message_id = ?1 AND user_id = ?2 AND reaction_type = ?3 AND emoji_code = ?4",
    )?
    .execute((message.id, caller.user_id, &reaction.reaction_type, &reaction.emoji_code))?;
    tell(tx, "remove", &message, reaction)
}

fn tell(tx: &mut Tx<'_>, op: &'static str, message: &MessageRow, reaction: Reaction) -> ApiResult<Reply> {
    let user = users::by_id(tx, reaction.user_id)?.ok_or_else(ApiError::internal)?;
    let receivers = receivers::of(tx, message)?;
    let user = ReactingUser { user_id: user.user_id, email: user.email, full_name: user.full_name };
    let event = ReactionChanged { r#type: ReactionChanged::TYPE, op, message_id: message.id, reaction, user };
    tx.emit(&event, receivers.audience);
    Ok(Reply::ok())
}

/// Finds the emoji that a client means, and checks that its name, code and type belong together.
pub fn choose(name: &str, code: Option<String>, kind: Option<String>) -> ApiResult<ChosenEmoji> {
    let (code, kind) = complete(name, code, kind)?;
    let kind = check(name, &code, &kind)?;
    Ok(ChosenEmoji { code, kind })
}

/// Fills in what a client left out: the code and the type that a name has now.
fn complete(name: &str, code: Option<String>, kind: Option<String>) -> ApiResult<(String, String)> {
    if let (Some(code), Some(kind)) = (&code, &kind) {
        return Ok((code.clone(), kind.clone()));
    }
    let found =
        by_name(name).ok_or_else(|| ApiError::bad_request(format!("Emoji '{name}' does not exist")))?;
    Ok((code.unwrap_or(found.code), kind.unwrap_or_else(|| found.kind.to_owned())))
}

/// Checks that a name, a code and a type belong together, and answers the type.
fn check(name: &str, code: &str, kind: &str) -> ApiResult<&'static str> {
    match kind {
        UNICODE => {
            if emoji::by_code(code).is_none() {
                return Err(ApiError::bad_request("Invalid emoji code."));
            }
            if !emoji::is_valid_pair(name, code) {
                return Err(ApiError::bad_request("Invalid emoji name."));
            }
            Ok(UNICODE)
        }
        EXTRA => {
            if code != emoji::EXTRA_EMOJI_NAME {
                return Err(ApiError::bad_request("Invalid emoji code."));
            }
            if name != emoji::EXTRA_EMOJI_NAME {
                return Err(ApiError::bad_request("Invalid emoji name."));
            }
            Ok(EXTRA)
        }
        CUSTOM => Err(ApiError::bad_request("Invalid custom emoji.")),
        _ => Err(ApiError::bad_request("Invalid emoji type.")),
    }
}

fn by_name(name: &str) -> Option<ChosenEmoji> {
    if name == emoji::EXTRA_EMOJI_NAME {
        return Some(ChosenEmoji { code: name.to_owned(), kind: EXTRA });
    }
    emoji::by_name(name).map(|emoji| ChosenEmoji { code: emoji.code.to_owned(), kind: UNICODE })
}

fn find(connection: &Connection, id: MessageId, reaction: &Reaction) -> ApiResult<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT number FROM reaction
             WHERE message_id = ?1 AND user_id = ?2 AND reaction_type = ?3 AND emoji_code = ?4",
        )?
        .query_row((id, reaction.user_id, &reaction.reaction_type, &reaction.emoji_code), |row| row.get(0))
        .optional()?)
}

fn insert(connection: &Connection, id: MessageId, reaction: &Reaction) -> ApiResult<()> {
    connection
        .prepare_cached(
            "INSERT INTO reaction (message_id, number, user_id, emoji_name, emoji_code, reaction_type)
             SELECT ?1, 1 + coalesce((SELECT max(number) FROM reaction WHERE message_id = ?1), 0), ?2, ?3, ?4, ?5",
        )?
        .execute((id, reaction.user_id, &reaction.emoji_name, &reaction.emoji_code, &reaction.reaction_type))?;
    Ok(())
}
