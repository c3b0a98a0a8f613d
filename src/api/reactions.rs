//! `POST` and `DELETE /messages/{message_id}/reactions`.

use crate::api::resource::Resource;
use crate::domain::emoji::resolve::{UNICODE, canonical_code, check, complete};
use crate::domain::limits::{Accounts, MAX_REACTIONS_OF_USER};
use crate::domain::messages::audience;
use crate::domain::messages::receipts::historical;
use crate::domain::messages::record::{MessageRow, Reaction, attribute};
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::user_topics::auto_follow;
use crate::domain::{access, messages, rows};
use crate::events::{Event, Form, Receiver, Routed};
use crate::http::{ApiError, ApiResult, Reply, Route, USER, User};
use crate::store::{ExecuteCached, Tx};
use crate::types::{MessageId, UserId};
use hyper::Method;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

pub const RESOURCE: Resource = Resource { name: "reactions", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::write(Method::POST, "/messages/{message_id}/reactions", USER, add_reaction),
        Route::write(Method::DELETE, "/messages/{message_id}/reactions", USER, remove_reaction),
    ]
}

/// Parameters of `POST` and `DELETE /messages/{message_id}/reactions`.
#[derive(Deserialize)]
pub struct ReactionParams {
    /// The id of a message that the caller can see.
    message_id: MessageId,
    /// The name of the emoji. Required for `POST`.
    emoji_name: Option<String>,
    /// The code of the emoji within its type; by default the code of the emoji with the name.
    emoji_code: Option<String>,
    /// `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`; by default the type of the emoji with the name.
    reaction_type: Option<String>,
}

/// `reaction`, `op: add` and `remove`: a user added or removed a reaction.
#[derive(Clone, Serialize, Deserialize)]
pub struct ReactionChanged {
    /// `add` or `remove`.
    op: Cow<'static, str>,
    /// The id of the message.
    message_id: MessageId,
    #[serde(flatten)]
    reaction: Reaction,
    /// Deprecated: the user who reacted. `user_id` is enough.
    user: ReactingUser,
}

#[derive(Clone, Serialize, Deserialize)]
struct ReactingUser {
    /// The user's id.
    user_id: UserId,
    /// The user's API email.
    email: String,
    /// The user's display name.
    full_name: String,
}

/// The receivers who cannot access the user.
#[derive(Serialize, Deserialize)]
pub struct ReactionRouting {
    unknown_to: Vec<UserId>,
}

/// The form of the user in the event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ReactionForm {
    /// The user is accessible to the receiver.
    Known,
    /// The id alone.
    Unknown,
}

impl Event for ReactionChanged {
    const TYPE: &'static str = "reaction";
    const VERSION: u32 = 1;
    type Routing = ReactionRouting;
    type Variant = ReactionForm;

    fn deliver(&self, routing: &ReactionRouting, receiver: &Receiver<'_>) -> Option<ReactionForm> {
        let is_unknown = routing.unknown_to.contains(&receiver.user_id);
        Some(if is_unknown { ReactionForm::Unknown } else { ReactionForm::Known })
    }

    fn form(&self, _routing: &ReactionRouting, form: ReactionForm) -> serde_json::Result<Form> {
        match form {
            ReactionForm::Known => Form::of(self),
            ReactionForm::Unknown => {
                let user_id = self.reaction.user_id;
                let (email, full_name) =
                    (access::users::unknown_email(user_id), access::users::UNKNOWN_USER.to_owned());
                Form::of(&Self { user: ReactingUser { user_id, email, full_name }, ..self.clone() })
            }
        }
    }
}

/// `POST /messages/{message_id}/reactions`: adds a reaction of the caller to a message.
fn add_reaction(tx: &mut Tx<'_>, caller: &User, params: ReactionParams) -> ApiResult<Reply> {
    let message = {
        let viewer = MessageViewer::new(tx.ctx(caller));
        let (message, _) = viewer.find_to_change(params.message_id)?;
        historical::add_receipts_as_read(tx, &viewer, message.recipient_id, &[message.id])?;
        message
    };
    let name = params.emoji_name.ok_or_else(|| ApiError::missing("emoji_name"))?;
    let (code, kind) = complete(tx, &name, params.emoji_code, params.reaction_type)?;
    // A reaction with an emoji that the message has already takes its name, which may be an alias or the name of a
    // deactivated emoji.
    let (same, others): (Vec<Reaction>, Vec<Reaction>) = messages::reactions(tx, message.id)?
        .into_iter()
        .partition(|there| there.emoji_code == code && there.reaction_type == kind);
    if same.iter().any(|there| there.user_id == caller.user_id) {
        return Err(ApiError::new(400, "REACTION_ALREADY_EXISTS", "Reaction already exists."));
    }
    let accounts = Accounts::of(tx, caller.user_id, tx.now())?;
    accounts.check_counted("reactions", MAX_REACTIONS_OF_USER, |accounts| {
        others.iter().filter(|there| accounts.contains(there.user_id)).count() + 1
    })?;
    let reaction = match same.into_iter().next() {
        Some(there) => Reaction { user_id: caller.user_id, ..there },
        None => {
            let kind = check(tx, &name, &code, &kind)?;
            Reaction {
                emoji_name: name,
                emoji_code: code,
                reaction_type: kind.to_owned(),
                user_id: caller.user_id,
            }
        }
    };
    insert(tx, message.id, &reaction)?;
    messages::add_attributes(tx, message.id, attribute::HAS_REACTION)?;
    if let Some(stream_id) = access::messages::stream_of(tx, message.recipient_id)? {
        auto_follow::after_participation(tx, caller.user_id, stream_id, &message.topic())?;
    }
    emit_changed(tx, "add", &message, reaction)
}

/// `DELETE /messages/{message_id}/reactions`: removes a reaction of the caller. The emoji is given by name, or by type
/// and code.
fn remove_reaction(tx: &mut Tx<'_>, caller: &User, params: ReactionParams) -> ApiResult<Reply> {
    let (message, _) = MessageViewer::new(tx.ctx(caller)).find_to_change(params.message_id)?;
    // Reactions with emoji that were deactivated since can be removed too.
    let (code, kind) = match (params.emoji_name, params.emoji_code) {
        (_, Some(code)) => {
            let kind = params.reaction_type.unwrap_or_else(|| UNICODE.to_owned());
            (canonical_code(code, &kind), kind)
        }
        (Some(name), None) => complete(tx, &name, None, params.reaction_type)?,
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
    tx.execute_cached(
        "DELETE FROM reaction
         WHERE message_id = ?1 AND user_id = ?2 AND reaction_type = ?3 AND emoji_code = ?4",
        (message.id, caller.user_id, &reaction.reaction_type, &reaction.emoji_code),
    )?;
    emit_changed(tx, "remove", &message, reaction)
}

fn emit_changed(
    tx: &mut Tx<'_>,
    op: &'static str,
    message: &MessageRow,
    reaction: Reaction,
) -> ApiResult<Reply> {
    let user = rows::user::existing(tx, reaction.user_id)?;
    let receivers = audience::of(tx, message)?;
    let unknown_to = access::users::without_access(tx, &user, receivers.audience.bitmap())?;
    let unknown_to = unknown_to.into_iter().map(UserId::from).collect();
    let user = ReactingUser { user_id: user.user_id, email: user.email, full_name: user.full_name };
    let event = ReactionChanged { op: op.into(), message_id: message.id, reaction, user };
    tx.emit(Routed { event, routing: ReactionRouting { unknown_to } }, receivers.audience);
    Ok(Reply::ok())
}

fn insert(connection: &Connection, id: MessageId, reaction: &Reaction) -> ApiResult<()> {
    connection.execute_cached(
        "INSERT INTO reaction (message_id, number, user_id, emoji_name, emoji_code, reaction_type)
         SELECT ?1, 1 + coalesce((SELECT max(number) FROM reaction WHERE message_id = ?1), 0), ?2, ?3, ?4, ?5",
        (id, reaction.user_id, &reaction.emoji_name, &reaction.emoji_code, &reaction.reaction_type),
    )?;
    Ok(())
}
