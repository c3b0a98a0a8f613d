//! `POST /messages/flags`: adds or removes one of the caller's flags on messages.

use crate::domain::access::channel_rows as subscriptions;
use crate::domain::messages::access::{Sight, invalid_message};
use crate::domain::messages::events::{FlagsChanged, UnreadDetail, UnreadDetails, UnreadPlace};
use crate::domain::messages::flags::bit;
use crate::domain::messages::record::attribute;
use crate::domain::messages::{historical, sql, unread};
use crate::events::Audience;
use crate::http::{ApiError, ApiResult, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, StreamId, fold};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

/// Parameters of `POST /messages/flags`.
#[derive(Deserialize)]
pub struct FlagsParams {
    /// Which messages.
    messages: Vec<MessageId>,
    /// `add` or `remove`.
    op: String,
    /// Which flag.
    flag: String,
}

/// A flag that clients may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditableFlag {
    /// Kept in sets of ids.
    Read,
    /// A bit of the caller's row on the message, with its name.
    Bit(i64, &'static str),
}

impl EditableFlag {
    /// Reads a flag's name, with the published refusals.
    pub fn from_client(name: &str) -> ApiResult<Self> {
        const OTHERS: [&str; 7] = [
            "mentioned",
            "wildcard_mentioned",
            "stream_wildcard_mentioned",
            "topic_wildcard_mentioned",
            "has_alert_word",
            "historical",
            "is_me_message",
        ];
        match name {
            "read" => Ok(Self::Read),
            "starred" => Ok(Self::Bit(bit::STARRED, "starred")),
            "collapsed" => Ok(Self::Bit(bit::COLLAPSED, "collapsed")),
            name if OTHERS.contains(&name) => {
                Err(ApiError::bad_request(format!("Flag not editable: '{name}'")))
            }
            name => Err(ApiError::bad_request(format!("Invalid flag: '{name}'"))),
        }
    }
}

/// Reads `op`, with the published refusal: whether to add.
pub fn is_add(op: &str) -> ApiResult<bool> {
    match op {
        "add" => Ok(true),
        "remove" => Ok(false),
        op => Err(ApiError::bad_request(format!("Invalid message flag operation: '{op}'"))),
    }
}

/// `POST /messages/flags`. Messages that are as wanted already are left out of the answer.
pub fn update_flags(tx: &mut Tx<'_>, caller: &User, params: FlagsParams) -> ApiResult<Reply> {
    let add = is_add(&params.op)?;
    let flag = EditableFlag::from_client(&params.flag)?;
    let mut ids = params.messages;
    ids.sort_unstable();
    ids.dedup();
    let changed = change(tx, caller, flag, add, &ids)?;
    let mut answer = json!({ "messages": changed.ids });
    if let Some(ignored) = changed.ignored {
        answer["ignored_because_not_subscribed_channels"] = json!(ignored);
    }
    Reply::data(&answer)
}

/// What a change of flags came to.
pub struct Changed {
    /// The messages that changed, ascending.
    pub ids: Vec<MessageId>,
    /// Channels in which messages cannot become unread, because the caller is not subscribed; only where messages were
    /// to become unread (feature level 355).
    pub ignored: Option<Vec<StreamId>>,
}

/// Changes a flag on messages, ascending, and tells the caller's other clients.
pub fn change(
    tx: &mut Tx<'_>,
    caller: &Caller,
    flag: EditableFlag,
    add: bool,
    ids: &[MessageId],
) -> ApiResult<Changed> {
    let (ids, ignored, name, details) = match (flag, add) {
        (EditableFlag::Read, true) => (mark_read(tx, caller, ids)?, None, "read", None),
        (EditableFlag::Read, false) => {
            let (ids, ignored) = mark_unread(tx, caller, ids)?;
            let details = unread_details(tx, caller, &ids)?;
            (ids, Some(ignored), "read", Some(details))
        }
        (EditableFlag::Bit(bit, name), _) => (change_bit(tx, caller, bit, add, ids)?, None, name, None),
    };
    if !ids.is_empty() {
        tx.emit(FlagsChanged::new(add, name, &ids, details), Audience::user(caller.user_id));
    }
    Ok(Changed { ids, ignored })
}

fn change_bit(
    tx: &Tx<'_>,
    caller: &Caller,
    bit: i64,
    add: bool,
    ids: &[MessageId],
) -> ApiResult<Vec<MessageId>> {
    let sight = Sight::new(tx, caller, tx.now());
    let mut changed = Vec::new();
    for id in ids {
        let recipient_id = match sight.recipient_of(*id)? {
            Some(recipient_id) => recipient_id,
            None if add => return Err(invalid_message()),
            // A message that cannot be seen has no flags to take away.
            None => continue,
        };
        if add {
            historical::receive_as_read(tx, &sight, recipient_id, *id)?;
        }
        let flags = sql::flags(tx, caller.user_id, *id)?;
        let wanted = if add { flags | bit } else { flags & !bit };
        if wanted != flags {
            sql::put_flags(tx, caller.user_id, *id, wanted)?;
            changed.push(*id);
        }
    }
    Ok(changed)
}

type ByConversation = BTreeMap<RecipientId, Vec<MessageId>>;

/// Marks messages as read; those that were never received are.
fn mark_read(tx: &Tx<'_>, caller: &Caller, ids: &[MessageId]) -> ApiResult<Vec<MessageId>> {
    let sight = Sight::new(tx, caller, tx.now());
    let mut conversations = ByConversation::new();
    for id in ids {
        if let Some(recipient_id) = sql::recipient_of(tx, *id)?
            && sight.received(recipient_id, *id)?
        {
            conversations.entry(recipient_id).or_default().push(*id);
        }
    }
    let mut changed = Vec::new();
    for (recipient_id, ids) in conversations {
        changed.extend(unread::mark_read(tx, caller.user_id, recipient_id, &ids)?);
    }
    changed.sort_unstable();
    Ok(changed)
}

/// Marks messages as unread, and tells the channels whose messages were left out: unread counts are of subscribed
/// channels. What is unread was received: a message from before the caller subscribed comes to them now.
fn mark_unread(
    tx: &Tx<'_>,
    caller: &Caller,
    ids: &[MessageId],
) -> ApiResult<(Vec<MessageId>, Vec<StreamId>)> {
    let sight = Sight::new(tx, caller, tx.now());
    let mut conversations = ByConversation::new();
    for id in ids {
        let recipient_id = sight.recipient_of(*id)?.ok_or_else(invalid_message)?;
        conversations.entry(recipient_id).or_default().push(*id);
    }
    let (mut changed, mut ignored) = (Vec::new(), Vec::new());
    for (recipient_id, ids) in conversations {
        let view = sight.view(recipient_id)?;
        if let Some(stream) = &view.stream {
            if !subscriptions::is_subscribed(tx, caller.user_id, stream.stream_id)? {
                ignored.push(stream.stream_id);
                continue;
            }
            for id in ids.iter().filter(|id| !view.received(**id)) {
                historical::receive(tx, caller.user_id, stream, *id)?;
                changed.push(*id);
            }
        }
        changed.extend(unread::mark_unread(tx, caller.user_id, recipient_id, &ids)?);
    }
    changed.sort_unstable();
    changed.dedup();
    ignored.sort_unstable();
    Ok((changed, ignored))
}

/// What a client needs to count messages that became unread, by id.
fn unread_details(tx: &Tx<'_>, caller: &Caller, ids: &[MessageId]) -> ApiResult<UnreadDetails> {
    let sight = Sight::new(tx, caller, tx.now());
    let mut details = UnreadDetails::new();
    for id in ids {
        let Some(message) = sql::by_id(tx, *id)? else { continue };
        let flags = sql::flags(tx, caller.user_id, *id)?;
        let view = sight.view(message.recipient_id)?;
        let is_mention = flags & (bit::MENTIONED | bit::TOPIC_WILDCARD_MENTIONED) != 0
            || message.has(attribute::STREAM_WILDCARD);
        let place = match &view.stream {
            Some(stream) => UnreadPlace::Stream {
                stream_id: stream.stream_id,
                unmuted_stream_msg: !sight.muting()?.is_muted(stream.stream_id, &fold(&message.subject)),
                topic: message.subject,
            },
            None => UnreadPlace::Private {
                user_ids: view.people.iter().copied().filter(|user_id| *user_id != caller.user_id).collect(),
            },
        };
        details.insert(message.id, UnreadDetail { place, mentioned: is_mention });
    }
    Ok(details)
}
