//! `POST /submessage`: adds a vote, a task or another change to a poll or to-do list.

use crate::api::submessages::rules;
use crate::domain::limits::{
    AccountSet, Accounts, MAX_SUBMESSAGE_LENGTH, MAX_SUBMESSAGES_LENGTH, MAX_SUBMESSAGES_LENGTH_OF_SENDER,
    MAX_SUBMESSAGES_OF_SENDER,
};
use crate::domain::messages::record::{Submessage, attribute};
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::{audience, submessages, widget};
use crate::domain::user_topics::auto_follow;
use crate::domain::{limits, messages};
use crate::events::{Event, Form, Receiver};
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Reply, User};
use crate::store::Tx;
use crate::types::{MessageId, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The maximum length of `msg_type`, in characters.
const MAX_TYPE_LENGTH: usize = 30;

/// Parameters of `POST /submessage`.
#[derive(Deserialize)]
pub struct SubmessageParams {
    /// The id of a message that the caller sent, or of a message with a poll or to-do list.
    message_id: MessageId,
    /// `widget`, at most 30 characters.
    msg_type: BoundedText<MAX_TYPE_LENGTH>,
    /// The change to the poll or to-do list, as JSON in a string of at most 2000 characters.
    content: BoundedText<MAX_SUBMESSAGE_LENGTH>,
}

/// `submessage`: a poll or to-do list changed.
#[derive(Serialize, Deserialize)]
pub struct SubmessageAdded {
    /// Always `widget`.
    msg_type: String,
    /// The id of the message with the poll or to-do list.
    message_id: MessageId,
    /// The submessage's id. Later ones have greater ids.
    submessage_id: i64,
    /// The user id of the sender.
    sender_id: UserId,
    /// The change to the poll or to-do list, as JSON in a string.
    content: String,
}

impl Event for SubmessageAdded {
    const TYPE: &'static str = "submessage";
    const VERSION: u32 = 1;
    type Routing = ();
    type Variant = ();

    fn deliver(&self, _routing: &(), _receiver: &Receiver<'_>) -> Option<()> {
        Some(())
    }

    fn form(&self, _routing: &(), _variant: ()) -> serde_json::Result<Form> {
        Form::of(self)
    }

    fn message_id(&self) -> Option<MessageId> {
        Some(self.message_id)
    }
}

/// `POST /submessage`: adds a vote, a task or another change to a poll or to-do list.
pub fn add_submessage(tx: &mut Tx<'_>, caller: &User, params: SubmessageParams) -> ApiResult<Reply> {
    let (message, _) = MessageViewer::new(tx.ctx(caller)).find_to_change(params.message_id)?;
    let there = submessages::of_message(tx, message.id)?;
    let is_author = message.sender_id == caller.user_id;
    // Others can add submessages only after the sender of the message has added one.
    if !is_author && !there.iter().any(|submessage| submessage.sender_id == message.sender_id) {
        return Err(ApiError::bad_request("You cannot attach a submessage to this message."));
    }
    check_limits(&there, &Accounts::of(tx, caller.user_id, tx.now())?, &params.content)?;
    let data: Value = serde_json::from_str(&params.content)
        .map_err(|_| ApiError::bad_request("Invalid json for submessage"))?;
    rules::check(widget::kind_of(&there).as_deref(), &data, is_author)?;
    let added = submessages::insert(tx, message.id, caller.user_id, &params.msg_type, &params.content)?;
    messages::add_attributes(tx, message.id, attribute::HAS_SUBMESSAGE)?;
    let event = SubmessageAdded {
        msg_type: added.msg_type,
        message_id: added.message_id,
        submessage_id: added.id,
        sender_id: added.sender_id,
        content: added.content,
    };
    let receivers = audience::of(tx, &message)?;
    if let Some(stream) = &receivers.stream {
        auto_follow::after_participation(tx, caller.user_id, stream.stream_id, &message.topic())?;
    }
    tx.emit(event, receivers.audience);
    Ok(Reply::ok())
}

/// Checks that a message with these submessages takes another one of a sender. The first is the message's own: the poll or
/// list that its text begins.
fn check_limits(there: &[Submessage], accounts: &Accounts<'_>, content: &str) -> ApiResult<()> {
    let length = content.len() + there.iter().map(|submessage| submessage.content.len()).sum::<usize>();
    let of = |accounts: &AccountSet| {
        let own = there.iter().skip(1).filter(|submessage| accounts.contains(submessage.sender_id));
        own.map(|submessage| submessage.content.len()).collect::<Vec<_>>()
    };
    let what = "submessages";
    accounts.check_counted(what, MAX_SUBMESSAGES_OF_SENDER, |accounts| of(accounts).len() + 1)?;
    accounts.check_counted(what, MAX_SUBMESSAGES_LENGTH_OF_SENDER, |accounts| {
        of(accounts).iter().sum::<usize>() + content.len()
    })?;
    limits::check(what, length, MAX_SUBMESSAGES_LENGTH)
}
