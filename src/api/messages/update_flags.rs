//! `POST /messages/flags`: adds or removes one of the caller's flags on messages.

use super::events::FlagsChanged;
use super::flags::bit;
use super::message::{MessageRow, attribute};
use super::sight::Sight;
use super::{sql, unread};
use crate::events::Audience;
use crate::http::{ApiError, ApiResult, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, Topic, UserId};
use serde::Deserialize;
use serde_json::{Map, Value, json};
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

/// `POST /messages/flags`. Messages that the caller may not see, and those that have the flag already, are left out of
/// the answer.
pub fn update_flags(tx: &mut Tx<'_>, caller: &User, params: FlagsParams) -> ApiResult<Reply> {
    let add = is_add(&params.op)?;
    let flag = EditableFlag::from_client(&params.flag)?;
    let mut ids = params.messages;
    ids.sort_unstable();
    ids.dedup();
    let changed = change(tx, caller, flag, add, &ids)?;
    Reply::data(
        &json!({ "messages": changed.ids, "ignored_because_not_subscribed_channels": changed.ignored }),
    )
}

/// What a change of flags came to.
pub struct Changed {
    /// The messages that changed, ascending.
    pub ids: Vec<MessageId>,
    /// Channels in which messages cannot become unread, because the caller is not subscribed.
    pub ignored: Vec<i64>,
}

/// Changes a flag on messages, ascending, and tells the caller's other clients.
pub fn change(
    tx: &mut Tx<'_>,
    caller: &Caller,
    flag: EditableFlag,
    add: bool,
    ids: &[MessageId],
) -> ApiResult<Changed> {
    let user_id = caller.user_id;
    let (ids, ignored, name, details) = match flag {
        EditableFlag::Read => {
            let (ids, ignored) = change_read(tx, caller, add, ids)?;
            let details = if add { None } else { Some(unread_details(tx, caller, &ids)?) };
            (ids, ignored, "read", details)
        }
        EditableFlag::Bit(bit, name) => (change_bit(tx, caller, bit, add, ids)?, Vec::new(), name, None),
    };
    if !ids.is_empty() {
        tx.emit(&FlagsChanged::new(add, name, &ids, details), Audience::user(user_id));
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
        let Some(recipient_id) = sql::recipient_of(tx, *id)? else { continue };
        if !sight.visible(recipient_id, *id)? {
            continue;
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

fn change_read(
    tx: &Tx<'_>,
    caller: &Caller,
    add: bool,
    ids: &[MessageId],
) -> ApiResult<(Vec<MessageId>, Vec<i64>)> {
    let sight = Sight::new(tx, caller, tx.now());
    let mut conversations: BTreeMap<RecipientId, Vec<MessageId>> = BTreeMap::new();
    for id in ids {
        if let Some(recipient_id) = sql::recipient_of(tx, *id)?
            && sight.received(recipient_id, *id)?
        {
            conversations.entry(recipient_id).or_default().push(*id);
        }
    }
    let (mut changed, mut ignored) = (Vec::new(), Vec::new());
    for (recipient_id, ids) in conversations {
        if add {
            changed.extend(unread::mark_read(tx, caller.user_id, recipient_id, &ids)?);
            continue;
        }
        // Unread counts are of subscribed channels; elsewhere a message stays read.
        if let Some(stream) = &sight.view(recipient_id)?.stream
            && !crate::api::subscriptions::sql::is_subscribed(tx, caller.user_id, stream.stream_id)?
        {
            ignored.push(stream.stream_id.0);
            continue;
        }
        changed.extend(unread::mark_unread(tx, caller.user_id, recipient_id, &ids)?);
    }
    changed.sort_unstable();
    ignored.sort_unstable();
    Ok((changed, ignored))
}

/// What a client needs to count messages that became unread, by id.
fn unread_details(tx: &Tx<'_>, caller: &Caller, ids: &[MessageId]) -> ApiResult<Map<String, Value>> {
    let sight = Sight::new(tx, caller, tx.now());
    let mut details = Map::new();
    let mut rows: Vec<(MessageRow, i64)> = Vec::new();
    sql::by_ids(tx, caller.user_id, ids, |row, flags| rows.push((row, flags)))?;
    for (message, flags) in rows {
        let view = sight.view(message.recipient_id)?;
        let is_mention = flags & (bit::MENTIONED | bit::TOPIC_WILDCARD_MENTIONED) != 0
            || message.has(attribute::STREAM_WILDCARD);
        let mut detail = match &view.stream {
            Some(stream) => {
                let key = Topic::stored(message.subject.clone()).key();
                json!({
                    "type": "stream",
                    "stream_id": stream.stream_id,
                    "topic": message.subject,
                    "unmuted_stream_msg": !sight.muting()?.is_muted(stream.stream_id, &key),
                })
            }
            None => {
                let others: Vec<UserId> =
                    view.people.iter().copied().filter(|user_id| *user_id != caller.user_id).collect();
                json!({ "type": "private", "user_ids": others })
            }
        };
        if is_mention {
            detail["mentioned"] = true.into();
        }
        details.insert(message.id.to_string(), detail);
    }
    Ok(details)
}
