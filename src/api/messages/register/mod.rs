//! Messages in the reply of `POST /register`: `max_message_id`, `unread_msgs`, starred messages and recent
//! conversations.

mod unread_msgs;

use crate::api::resource::{State, StateRequest};
use crate::domain::access::messages::ALL_IDS;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::narrow::cursor::{Cursor as _, Direction, IdFilter, Index, IndexCursor};
use crate::domain::narrow::executor::newest_received;
use crate::domain::{access, messages};
use crate::http::ApiResult;
use crate::types::{MessageId, UserId};
use serde::Serialize;
use unread_msgs::UnreadMessages;

/// The most direct conversations that are listed.
const MAX_RECENT_CONVERSATIONS: usize = 1000;

/// The newest messages of `POST /register`: `max_message_id`, the id of the newest message that the caller received, or
/// -1; and `unread_msgs` if the client receives `update_message_flags` events.
pub fn message(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let viewer = MessageViewer::new(request.ctx());
    state.set::<i64>("max_message_id", &newest_received(&viewer)?)?;
    if request.wants("update_message_flags") {
        state.set::<UnreadMessages>("unread_msgs", &unread_msgs::of(request)?)?;
    }
    Ok(())
}

/// `starred_messages` of `POST /register`: the ids of the messages that the caller starred, ascending.
pub fn starred(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let all = IdFilter::Ranges(vec![ALL_IDS]);
    let user_id = request.caller.user_id;
    let viewer = MessageViewer::new(request.ctx());
    let mut cursor = IndexCursor::new(request.connection, Index::Starred, user_id.0, all, Direction::Up, 64);
    let mut ids = Vec::new();
    let mut bound = Some(*ALL_IDS.start());
    while let Some(from) = bound
        && let Some(bit) = cursor.seek(from)?
    {
        let id = MessageId::from(bit);
        if let Some(recipient_id) = access::messages::recipient_of(request.connection, id)?
            && viewer.can_read(recipient_id, id)?
        {
            ids.push(id);
        }
        bound = Direction::Up.past(bit);
    }
    state.set::<Vec<MessageId>>("starred_messages", &ids)
}

/// A direct conversation of the user.
#[derive(Serialize)]
struct RecentConversation {
    /// The id of its newest message.
    max_message_id: MessageId,
    /// The ids of the other participants; empty for messages to oneself.
    user_ids: Vec<UserId>,
}

/// `recent_private_conversations` of `POST /register`: the caller's direct conversations, at most 1000, the one with
/// the newest message first.
pub fn recent_conversations(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let own = request.caller.user_id;
    let mut recent = Vec::new();
    for recipient_id in messages::direct_recipients(request.connection, own)? {
        let Some(newest) = messages::newest_of(request.connection, recipient_id)? else { continue };
        let people = access::messages::direct_user_ids(request.connection, recipient_id)?.unwrap_or_default();
        let others: Vec<UserId> = people.into_iter().filter(|user_id| *user_id != own).collect();
        recent.push((newest, others));
    }
    recent.sort_unstable_by_key(|(newest, _)| std::cmp::Reverse(*newest));
    recent.truncate(MAX_RECENT_CONVERSATIONS);
    let record = |(max_message_id, user_ids)| RecentConversation { max_message_id, user_ids };
    let list: Vec<RecentConversation> = recent.into_iter().map(record).collect();
    state.set::<Vec<RecentConversation>>("recent_private_conversations", &list)
}
