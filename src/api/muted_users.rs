//! `/users/me/muted_users/{muted_user_id}`: users whose messages are hidden. Muting marks their messages as read, and
//! later ones on arrival; clients hide them.

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::auth::Ctx;
use crate::domain::access::messages::{Ranges, contains};
use crate::domain::access::users::Accessible;
use crate::domain::limits::MAX_MUTED_MESSAGES;
use crate::domain::messages::events::FlagsChanged;
use crate::domain::messages::read_state;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::rows::user::UserRow;
use crate::domain::{access, muted_users, rows, subscriptions, users};
use crate::events::{Audience, uniform_event};
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, Route, USER, User, ok_unless_refused};
use crate::store::{FollowUp, FollowUpKind, Snapshot, Tx};
use crate::types::{MessageId, RecipientId, UserId};
use hyper::Method;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

pub const RESOURCE: Resource =
    Resource { name: "muted_users", routes, state: STATE, follow_ups: FOLLOW_UPS, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "muted_users", fetch: state }];

const FOLLOW_UPS: &[FollowUpKind] = &[FollowUpKind::of::<MutedMessages>()];

/// Number of messages that a job marks as read between two looks at its time.
const STEP: usize = 500;

fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::POST, "/users/me/muted_users/{muted_user_id}", USER, mute_user),
        Route::write(Method::DELETE, "/users/me/muted_users/{muted_user_id}", USER, unmute_user),
    ]
}

/// A user whom the caller has muted.
#[derive(Serialize, Deserialize)]
pub struct MutedUser {
    /// The id of the muted user.
    id: UserId,
    /// When the user was muted, in UNIX seconds.
    timestamp: i64,
}

/// `muted_users`: the user muted or unmuted another user. The event has all muted users.
#[derive(Serialize, Deserialize)]
pub struct MutedUsersChanged {
    muted_users: Vec<MutedUser>,
}

uniform_event!(MutedUsersChanged: "muted_users", version 1);

/// Parameters of both operations.
#[derive(Deserialize)]
pub struct MuteParams {
    /// The id of the user to mute or unmute: a person or a bot whom the caller can access.
    muted_user_id: UserId,
}

/// `POST /users/me/muted_users/{muted_user_id}`: mutes a user and marks their messages as read.
async fn mute_user(call: Call<User>, params: MuteParams) -> ApiResult<Reply> {
    let muted_user_id = params.muted_user_id;
    if muted_user_id == call.caller.user_id {
        return Err(ApiError::bad_request("Cannot mute self"));
    }
    // The sender may have many messages, of which none is unread.
    let (caller, now) = (Caller::clone(&call.caller), call.app.clock.seconds());
    let find = move |snapshot: &Snapshot<'_>| -> ApiResult<(Vec<MessageId>, MessageId)> {
        find_mutable(snapshot, &caller, muted_user_id)?;
        let viewer = MessageViewer::new(Ctx::new(snapshot, &caller, now));
        Ok((unread_of_sender(&viewer, muted_user_id)?, subscriptions::next_message_id(snapshot)?))
    };
    let quota_owner = call.caller.quota_owner();
    let (mut unread, next) = call.app.read_quickly_or_slowly(Some(quota_owner), find).await?;
    let job = move |tx: &mut Tx<'_>, caller: &User| {
        let muted = find_mutable(tx, caller, muted_user_id)?;
        let is_new = tx
            .prepare_cached(
                "INSERT OR IGNORE INTO muted_user (user_id, muted_user_id, date_muted) VALUES (?1, ?2, ?3)",
            )?
            .execute((caller.user_id, muted.user_id, tx.now()))?;
        if is_new == 0 {
            return Err(ApiError::bad_request("User already muted"));
        }
        unread.extend(sent_since(tx, muted.user_id, next)?);
        MutedMessages { user_id: caller.user_id, muted_user_id: muted.user_id, ids: unread }.run(tx)?;
        emit_and_reply(tx, caller.user_id)
    };
    call.write(job).await
}

/// `DELETE /users/me/muted_users/{muted_user_id}`: unmutes a user. Their messages stay read.
fn unmute_user(tx: &mut Tx<'_>, caller: &User, params: MuteParams) -> ApiResult<Reply> {
    let muted = find_mutable(tx, caller, params.muted_user_id)?;
    let was_muted = tx
        .prepare_cached("DELETE FROM muted_user WHERE user_id = ?1 AND muted_user_id = ?2")?
        .execute((caller.user_id, muted.user_id))?;
    if was_muted == 0 {
        return Err(ApiError::bad_request("User is not muted"));
    }
    emit_and_reply(tx, caller.user_id)
}

/// Loads a user who can be muted: a person or bot whom the caller can access, active or not.
fn find_mutable(connection: &Connection, caller: &Caller, user_id: UserId) -> ApiResult<UserRow> {
    let user = users::find::by_id(connection, user_id)?;
    if user.is_system_bot || !Accessible::to(connection, caller)?.contains(user_id) {
        return Err(users::find::no_such_user());
    }
    Ok(user)
}

fn emit_and_reply(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<Reply> {
    let event = MutedUsersChanged { muted_users: list_muted(tx, user_id)? };
    tx.emit(event, Audience::user(user_id));
    Ok(Reply::ok())
}

/// State part `muted_users`: the users whom the caller has muted.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let muted = list_muted(request.connection, request.caller.user_id)?;
    state.set::<Vec<MutedUser>>("muted_users", &muted)
}

/// Lists the users muted by a user, in the order of muting.
fn list_muted(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<MutedUser>> {
    connection
        .prepare_cached(
            "SELECT muted_user_id, date_muted FROM muted_user WHERE user_id = ?1 ORDER BY date_muted, muted_user_id",
        )?
        .query_map([user_id], |row| Ok(MutedUser { id: row.get(0)?, timestamp: row.get(1)? }))?
        .collect()
}

/// Messages of a muted user, to mark as read for another user, of those that this user received, with an event: the newest, as many as
/// fit into this job, and the others in jobs of their own. They stay unread if the user is unmuted before.
#[derive(Serialize, Deserialize)]
struct MutedMessages {
    user_id: UserId,
    muted_user_id: UserId,
    /// Ascending.
    ids: Vec<MessageId>,
}

impl FollowUp for MutedMessages {
    const NAME: &'static str = "muted_messages";

    fn run(mut self, tx: &mut Tx<'_>) -> ApiResult<()> {
        let user_id = self.user_id;
        let Some(caller) = ok_unless_refused(rows::user::caller(tx, user_id))? else { return Ok(()) };
        if !muted_users::list_muted_by(tx, user_id)?.contains(&self.muted_user_id) {
            return Ok(());
        }
        let mut budget = tx.budget(Self::NAME);
        let mut changed = Vec::new();
        while !self.ids.is_empty() && budget.next_step() {
            let step = self.ids.split_off(self.ids.len().saturating_sub(STEP));
            let by_conversation = received(&MessageViewer::new(tx.ctx(&caller)), &step)?;
            for (recipient_id, ids) in by_conversation {
                changed.extend(read_state::mark_read(tx, user_id, recipient_id, &ids)?);
            }
        }
        if !changed.is_empty() {
            changed.sort_unstable();
            tx.emit(FlagsChanged::new(true, "read", &changed, None), Audience::user(user_id));
        }
        if !self.ids.is_empty() {
            tx.then(self)?;
        }
        Ok(())
    }
}

/// The messages that the viewer received, of some, by conversation.
fn received(
    viewer: &MessageViewer<'_>,
    ids: &[MessageId],
) -> ApiResult<HashMap<RecipientId, Vec<MessageId>>> {
    let mut found: HashMap<RecipientId, Vec<MessageId>> = HashMap::new();
    for &id in ids {
        if let Some(recipient_id) = access::messages::recipient_of(viewer.connection, id)?
            && viewer.has_received(recipient_id, id)?
        {
            found.entry(recipient_id).or_default().push(id);
        }
    }
    Ok(found)
}

/// The viewer's unread messages of a sender, of the newest [`MAX_MUTED_MESSAGES`], ascending. One scan over the sender's messages
/// from the newest to the viewer's first unread one, however many conversations there are, or to the limit.
fn unread_of_sender(viewer: &MessageViewer<'_>, sender_id: UserId) -> ApiResult<Vec<MessageId>> {
    let mut found = Vec::new();
    let unread = unread_ranges(viewer, sender_id)?;
    let Some(first) = unread.values().filter_map(|ranges| ranges.first()).map(|range| *range.start()).min()
    else {
        return Ok(found);
    };
    let mut statement = viewer.connection.prepare_cached(
        "SELECT id, recipient_id FROM message INDEXED BY message_sender WHERE sender_id = ?1 AND id >= ?2
         ORDER BY id DESC LIMIT ?3",
    )?;
    let mut rows = statement.query((sender_id, first, MAX_MUTED_MESSAGES))?;
    while let Some(row) = rows.next()? {
        let (id, recipient_id): (MessageId, RecipientId) = (row.get(0)?, row.get(1)?);
        if unread.get(&recipient_id).is_some_and(|ranges| contains(ranges, id)) {
            found.push(id);
        }
    }
    found.reverse();
    Ok(found)
}

/// The messages of a sender from an id on, ascending.
fn sent_since(
    connection: &Connection,
    sender_id: UserId,
    first: MessageId,
) -> rusqlite::Result<Vec<MessageId>> {
    connection
        .prepare_cached(
            "SELECT id FROM message INDEXED BY message_sender WHERE sender_id = ?1 AND id >= ?2 ORDER BY id",
        )?
        .query_map((sender_id, first), |row| row.get(0))?
        .collect()
}

/// The ids that the viewer received and has not read, by conversation: of their channels, and of direct conversations
/// with the sender.
fn unread_ranges(viewer: &MessageViewer<'_>, sender_id: UserId) -> ApiResult<HashMap<RecipientId, Ranges>> {
    let user_id = viewer.caller.user_id;
    let channels =
        subscriptions::list_active(viewer.connection, user_id)?.into_iter().map(|own| own.recipient_id);
    let mut unread = HashMap::new();
    for recipient_id in channels.chain(common_conversations(viewer.connection, user_id, sender_id)?) {
        let (conversation, read) = (viewer.conversation(recipient_id)?, viewer.read_set(recipient_id)?);
        let gaps: Ranges =
            conversation.received.iter().flat_map(|received| read.gaps(received.clone())).collect();
        if !gaps.is_empty() {
            unread.insert(recipient_id, gaps);
        }
    }
    Ok(unread)
}

/// The direct conversations of two users.
fn common_conversations(
    connection: &Connection,
    one: UserId,
    other: UserId,
) -> rusqlite::Result<Vec<RecipientId>> {
    connection
        .prepare_cached(
            "SELECT recipient_id FROM direct_participant AS own
                 JOIN direct_participant AS other USING (recipient_id)
             WHERE own.user_id = ?1 AND other.user_id = ?2",
        )?
        .query_map((one, other), |row| row.get(0))?
        .collect()
}
