//! `POST /messages/flags`: adds or removes one of the caller's flags on messages.
//!
//! - [`for_narrow`]: the same for the messages that match a narrow;
//! - [`mark_as_read`]: marking a topic, a channel or everything as read.

pub mod for_narrow;
pub mod mark_as_read;

use crate::api::messages::fetch::check_number;
use crate::app::App;
use crate::auth::Ctx;
use crate::domain::messages::events::{FlagsChanged, UnreadDetail, UnreadDetails, UnreadPlace};
use crate::domain::messages::flags::bit;
use crate::domain::messages::read_state;
use crate::domain::messages::receipts::historical;
use crate::domain::messages::viewer::{MessageViewer, invalid_message};
use crate::domain::{access, messages, rows};
use crate::events::Audience;
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User};
use crate::store::{Budget, Snapshot, Tx};
use crate::types::{MessageId, RecipientId, StreamId, distinct, fold};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Parameters of `POST /messages/flags`.
#[derive(Deserialize)]
pub struct FlagsParams {
    /// The ids of the messages, at most 5000.
    messages: Vec<MessageId>,
    /// `add` or `remove`.
    op: String,
    /// The flag to add or remove: `read`, `starred` or `collapsed`.
    flag: String,
}

/// A flag that clients may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditableFlag {
    /// Stored in read sets.
    Read,
    /// A bit of the caller's row on the message, with its name.
    Bit(i64, &'static str),
}

impl EditableFlag {
    /// Parses a flag's name.
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

/// Parses `op`: whether to add.
pub fn is_add(op: &str) -> ApiResult<bool> {
    match op {
        "add" => Ok(true),
        "remove" => Ok(false),
        op => Err(ApiError::bad_request(format!("Invalid message flag operation: '{op}'"))),
    }
}

/// The reply to `POST /messages/flags`.
#[derive(Serialize)]
pub struct UpdatedFlags {
    /// The ids of the messages that changed, ascending.
    messages: Vec<MessageId>,
    /// Only when `read` is removed: the ids of the channels whose messages were ignored because the caller is not
    /// subscribed.
    #[serde(skip_serializing_if = "Option::is_none")]
    ignored_because_not_subscribed_channels: Option<Vec<StreamId>>,
}

/// `POST /messages/flags`: adds a flag of the caller to messages, or removes it.
pub async fn update_flags(call: Call<User>, params: FlagsParams) -> ApiResult<Reply<UpdatedFlags>> {
    let change = FlagChange { add: is_add(&params.op)?, flag: EditableFlag::from_client(&params.flag)? };
    check_number(params.messages.len())?;
    let ids = distinct(params.messages);
    let is_long = ids.len() > STEP;
    if is_long && change.needs_access() {
        let (caller, ids, now) = (Caller::clone(&call.caller), ids.clone(), call.app.clock.seconds());
        let check = move |snapshot: &Snapshot<'_>| {
            let viewer = MessageViewer::new(Ctx::new(snapshot, &caller, now));
            ids.iter().try_for_each(|id| viewer.recipient_of(*id)?.map(|_| ()).ok_or_else(invalid_message))
        };
        call.app.read_quickly_or_slowly(Some(call.caller.quota_owner()), check).await?;
    }
    let changed = change_all(&call.app, &call.caller, change, ids, is_long).await?;
    Reply::data(&UpdatedFlags {
        messages: changed.ids,
        ignored_because_not_subscribed_channels: changed.ignored,
    })
}

/// The most messages whose flags are changed in one step of a job. Each may be in another conversation.
const STEP: usize = 100;

/// The addition or removal of a flag.
#[derive(Clone, Copy)]
pub struct FlagChange {
    pub add: bool,
    pub flag: EditableFlag,
}

impl FlagChange {
    /// True if all messages must be ones that the caller may read.
    fn needs_access(self) -> bool {
        self.add != (self.flag == EditableFlag::Read)
    }

    fn name(self) -> &'static str {
        match self.flag {
            EditableFlag::Read => "read",
            EditableFlag::Bit(_, name) => name,
        }
    }
}

/// The result of changing flags.
#[derive(Default)]
pub struct ChangedFlags {
    /// The messages that the caller may read, ascending.
    pub readable: Vec<MessageId>,
    /// The messages that changed, ascending.
    pub ids: Vec<MessageId>,
    /// When messages are marked as unread, the channels whose messages were ignored because the caller is not subscribed
    /// (feature level 355).
    pub ignored: Option<Vec<StreamId>>,
}

/// Changes a flag on messages, ascending, in as many jobs as needed, and emits what each changed to the caller's clients. Messages
/// that the caller cannot read are left out (`is_lenient`) or refused.
pub async fn change_all(
    app: &App,
    caller: &Caller,
    change: FlagChange,
    mut ids: Vec<MessageId>,
    is_lenient: bool,
) -> ApiResult<ChangedFlags> {
    let mut all = ChangedFlags::default();
    loop {
        let mut caller = caller.clone();
        let job = move |tx: &mut Tx<'_>| {
            caller.reload(tx)?;
            change_some(tx, &caller, change, ids, is_lenient)
        };
        let (changed, rest) = app.writer.run(job).await?;
        all.readable.extend(changed.readable);
        all.ids.extend(changed.ids);
        if let Some(ignored) = changed.ignored {
            all.ignored.get_or_insert_default().extend(ignored);
        }
        if rest.is_empty() {
            break;
        }
        ids = rest;
    }
    all.ignored = all.ignored.map(distinct);
    Ok(all)
}

/// Changes a flag on as many messages as there is time for, and returns the others.
fn change_some(
    tx: &mut Tx<'_>,
    caller: &Caller,
    change: FlagChange,
    mut ids: Vec<MessageId>,
    is_lenient: bool,
) -> ApiResult<(ChangedFlags, Vec<MessageId>)> {
    let is_unread = change.flag == EditableFlag::Read && !change.add;
    let mut all = ChangedFlags { ignored: is_unread.then(Vec::new), ..ChangedFlags::default() };
    // The others are few, and change in one step.
    let mut budget = is_lenient.then(|| tx.budget("flags"));
    while !ids.is_empty() && budget.as_mut().is_none_or(Budget::next_step) {
        let rest = ids.split_off(ids.len().min(STEP));
        let mut step = std::mem::replace(&mut ids, rest);
        if is_lenient {
            step = readable(&MessageViewer::new(tx.ctx(caller)), &step)?;
        }
        let changed = match (change.flag, change.add) {
            (EditableFlag::Read, true) => mark_read(tx, caller, &step)?,
            (EditableFlag::Read, false) => {
                let (changed, ignored) = mark_unread(tx, caller, &step)?;
                all.ignored.get_or_insert_default().extend(ignored);
                changed
            }
            (EditableFlag::Bit(bit, _), add) => change_bit(tx, caller, bit, add, &step)?,
        };
        all.ids.extend(changed);
        all.readable.extend(step);
    }
    if !all.ids.is_empty() {
        // Once for all steps: a user may have thousands of policies for topics.
        let details = is_unread.then(|| unread_details(tx, caller, &all.ids)).transpose()?;
        let event = FlagsChanged::new(change.add, change.name(), &all.ids, details);
        tx.emit(event, Audience::user(caller.user_id));
    }
    Ok((all, ids))
}

/// The messages that the viewer may read, of some.
fn readable(viewer: &MessageViewer<'_>, ids: &[MessageId]) -> ApiResult<Vec<MessageId>> {
    let mut readable = Vec::with_capacity(ids.len());
    for id in ids {
        if viewer.recipient_of(*id)?.is_some() {
            readable.push(*id);
        }
    }
    Ok(readable)
}

fn change_bit(
    tx: &Tx<'_>,
    caller: &Caller,
    bit: i64,
    add: bool,
    ids: &[MessageId],
) -> ApiResult<Vec<MessageId>> {
    let viewer = MessageViewer::new(tx.ctx(caller));
    let mut conversations = ByConversation::new();
    for id in ids {
        match viewer.recipient_of(*id)? {
            Some(recipient_id) => conversations.entry(recipient_id).or_default().push(*id),
            None if add => return Err(invalid_message()),
            // A message that the caller cannot read has no flags to remove.
            None => {}
        }
    }
    if add {
        for (recipient_id, ids) in &conversations {
            historical::add_receipts_as_read(tx, &viewer, *recipient_id, ids)?;
        }
    }
    let mut readable: Vec<MessageId> = conversations.into_values().flatten().collect();
    readable.sort_unstable();
    let mut changed = Vec::new();
    for id in &readable {
        let flags = messages::flags_of(tx, caller.user_id, *id)?;
        let wanted = if add { flags | bit } else { flags & !bit };
        if wanted != flags {
            messages::put_flags(tx, caller.user_id, *id, wanted)?;
            changed.push(*id);
        }
    }
    Ok(changed)
}

type ByConversation = BTreeMap<RecipientId, Vec<MessageId>>;

/// Marks messages as read. Messages that were never received count as read.
fn mark_read(tx: &Tx<'_>, caller: &Caller, ids: &[MessageId]) -> ApiResult<Vec<MessageId>> {
    let viewer = MessageViewer::new(tx.ctx(caller));
    let mut conversations = ByConversation::new();
    for id in ids {
        if let Some(recipient_id) = access::messages::recipient_of(tx, *id)?
            && viewer.has_received(recipient_id, *id)?
        {
            conversations.entry(recipient_id).or_default().push(*id);
        }
    }
    let mut changed = Vec::new();
    for (recipient_id, ids) in conversations {
        changed.extend(read_state::mark_read(tx, caller.user_id, recipient_id, &ids)?);
    }
    changed.sort_unstable();
    Ok(changed)
}

/// Marks messages as unread, and returns the channels whose messages were ignored because the caller is not subscribed.
/// Unread messages must have been received: a message from before the subscription gets a late receipt.
fn mark_unread(
    tx: &Tx<'_>,
    caller: &Caller,
    ids: &[MessageId],
) -> ApiResult<(Vec<MessageId>, Vec<StreamId>)> {
    let viewer = MessageViewer::new(tx.ctx(caller));
    let mut conversations = ByConversation::new();
    for id in ids {
        let recipient_id = viewer.recipient_of(*id)?.ok_or_else(invalid_message)?;
        conversations.entry(recipient_id).or_default().push(*id);
    }
    let (mut changed, mut ignored) = (Vec::new(), Vec::new());
    for (recipient_id, ids) in conversations {
        let conversation = viewer.conversation(recipient_id)?;
        if let Some(stream) = &conversation.stream {
            if !rows::channel::is_subscribed(tx, caller.user_id, stream.stream_id)? {
                ignored.push(stream.stream_id);
                continue;
            }
            let late: Vec<MessageId> =
                ids.iter().copied().filter(|id| !conversation.has_received(*id)).collect();
            historical::add_receipts(tx, caller.user_id, stream, &late)?;
            changed.extend(late);
        }
        changed.extend(read_state::mark_unread(tx, caller.user_id, recipient_id, &ids)?);
    }
    changed.sort_unstable();
    changed.dedup();
    ignored.sort_unstable();
    Ok((changed, ignored))
}

/// Details that clients need to count messages that became unread, by message id.
fn unread_details(tx: &Tx<'_>, caller: &Caller, ids: &[MessageId]) -> ApiResult<UnreadDetails> {
    let viewer = MessageViewer::new(tx.ctx(caller));
    let mut details = UnreadDetails::new();
    for id in ids {
        let Some(recipient_id) = access::messages::recipient_of(tx, *id)? else { continue };
        let flags = messages::flags_of(tx, caller.user_id, *id)?;
        let conversation = viewer.conversation(recipient_id)?;
        let subject = messages::subject_of(tx, *id)?;
        let is_muted = match &conversation.stream {
            Some(stream) => viewer.muting()?.is_muted(stream.stream_id, &fold(&subject)),
            None => false,
        };
        let has_wildcard = flags & bit::TOPIC_WILDCARD_MENTIONED != 0
            || !messages::stream_wildcards(tx, recipient_id, *id..=*id)?.is_empty();
        // Clients add it to `mentions` of `POST /register`, which leaves out wildcards in muted conversations.
        let mentioned = flags & bit::MENTIONED != 0 || (has_wildcard && !is_muted);
        let place = match &conversation.stream {
            Some(stream) => UnreadPlace::Stream {
                stream_id: stream.stream_id,
                unmuted_stream_msg: !is_muted,
                topic: subject,
            },
            None => {
                let others = conversation.participants.iter().copied();
                UnreadPlace::Private { user_ids: others.filter(|id| *id != caller.user_id).collect() }
            }
        };
        details.insert(*id, UnreadDetail { place, mentioned });
    }
    Ok(details)
}
