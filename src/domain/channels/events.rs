//! Events about channels, what of them each receiver gets, and the channels in the answer of `POST /register`.
//!
//! A client without the `archived_channels` capability has no archived channels: to it, archiving is a deletion and
//! its undoing a creation.

use crate::auth::Ctx;
use crate::domain::access::channel_rows::{StreamRow, TopicsPolicy};
use crate::domain::access::channels::Viewer;
use crate::domain::channels::record::{ChannelRecord, Records};
use crate::domain::channels::sql;
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::groups::setting::GroupSetting;
use crate::domain::realm::user_ids;
use crate::events::{Audience, Event, Form, Receiver, Routed, uniform_event};
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use crate::types::{MessageId, Role, StreamId, UserId};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// What decides who gets an event about channels that are all archived, or all not.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ChannelRouting {
    /// Whether the channels are archived.
    pub is_archived: bool,
}

impl ChannelRouting {
    /// Checks whether a client has the channels.
    pub fn reaches(&self, receiver: &Receiver<'_>) -> bool {
        !self.is_archived || receiver.registration.client_capabilities.archived_channels
    }
}

/// `stream`, `op: create`: a channel was made, or can now be seen.
#[derive(Serialize, Deserialize)]
pub struct StreamCreated {
    streams: [Arc<ChannelRecord>; 1],
}

impl StreamCreated {
    /// The event for one channel.
    pub fn new(stream: impl Into<Arc<ChannelRecord>>) -> Routed<Self> {
        let stream = stream.into();
        let routing = ChannelRouting { is_archived: stream.is_archived };
        Routed { event: Self { streams: [stream] }, routing }
    }
}

uniform_event!(
    StreamCreated: "stream", op "create", version 1, routing ChannelRouting, if ChannelRouting::reaches
);

/// `stream`, `op: update`: a property changed.
#[derive(Clone, Serialize, Deserialize)]
pub struct StreamUpdated {
    /// The channel.
    stream_id: StreamId,
    /// The name, before the change if that is what changed.
    name: String,
    #[serde(flatten)]
    change: StreamChange,
}

/// The name of a property of a channel, its new value, and what changes with it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "property", rename_all = "snake_case")]
pub enum StreamChange {
    /// The description.
    Description {
        /// Markdown.
        value: String,
        /// The description as HTML.
        rendered_description: String,
    },
    /// The oldest message.
    FirstMessageId {
        /// Null if there is none.
        value: Option<MessageId>,
    },
    /// The folder.
    FolderId {
        /// Null for none.
        value: Option<i64>,
    },
    /// Who can read the channel.
    InviteOnly {
        /// Whether the channel is private.
        value: bool,
        /// Whether subscribers can read messages that were sent before they subscribed.
        history_public_to_subscribers: bool,
        /// Whether it can be read without an account.
        is_web_public: bool,
    },
    /// Deprecated; follows from `can_send_message_group`.
    IsAnnouncementOnly {
        /// Whether only administrators may post.
        value: bool,
    },
    /// Whether the channel is archived.
    IsArchived {
        /// Nothing can be sent to an archived channel.
        value: bool,
    },
    /// Whether there are recent messages.
    IsRecentlyActive {
        /// False if nothing was sent for half a year.
        value: bool,
    },
    /// How long messages are kept.
    MessageRetentionDays {
        /// Days; -1 for ever, null for as long as the organization says.
        value: Option<i64>,
    },
    /// The name.
    Name {
        /// The new one.
        value: String,
    },
    /// Deprecated; follows from `can_send_message_group`.
    StreamPostPolicy {
        /// Who may post: 1 for everyone, 2 for administrators, 3 for full members, 4 for moderators.
        value: i64,
    },
    /// The policy on topics.
    TopicsPolicy {
        /// Whether the empty topic may be used.
        value: TopicsPolicy,
    },
    /// A permission.
    #[serde(untagged)]
    Permission {
        /// Its name.
        property: StreamSetting,
        /// Who has it.
        value: GroupSetting,
    },
}

/// What decides who gets a [`StreamUpdated`], and how.
#[derive(Clone, Serialize, Deserialize)]
pub enum StreamUpdatedRouting {
    /// A change of a channel that is archived or not.
    Change(ChannelRouting),
    /// The channel is archived from now on.
    Archived,
    /// The channel is no longer archived. The whole channel, as it is now.
    Unarchived(Box<ChannelRecord>),
}

/// What a [`StreamUpdated`] is to a client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StreamUpdatedForm {
    /// The change of a property.
    Update,
    /// The channel is gone.
    Deletion,
    /// The channel is new.
    Creation,
}

impl StreamUpdated {
    /// The event for a property of a channel, which is as it was before.
    pub fn new(stream: &StreamRow, change: StreamChange) -> Routed<Self> {
        let event = Self { stream_id: stream.stream_id, name: stream.name.clone(), change };
        let routing = ChannelRouting { is_archived: stream.is_archived };
        Routed { event, routing: StreamUpdatedRouting::Change(routing) }
    }

    /// The event for a channel that is archived, or is no longer. The record is of after the change.
    pub fn archived(stream: &StreamRow, record: ChannelRecord) -> Routed<Self> {
        let Routed { event, .. } = Self::new(stream, StreamChange::IsArchived { value: record.is_archived });
        let routing = if record.is_archived {
            StreamUpdatedRouting::Archived
        } else {
            StreamUpdatedRouting::Unarchived(Box::new(record))
        };
        Routed { event, routing }
    }
}

impl Event for StreamUpdated {
    const TYPE: &'static str = "stream";
    const OP: Option<&'static str> = Some("update");
    const NAME: &'static str = "stream/update";
    const VERSION: u32 = 1;
    type Routing = StreamUpdatedRouting;
    type Variant = StreamUpdatedForm;

    fn deliver(&self, routing: &StreamUpdatedRouting, receiver: &Receiver<'_>) -> Option<StreamUpdatedForm> {
        if receiver.registration.client_capabilities.archived_channels {
            return Some(StreamUpdatedForm::Update);
        }
        match routing {
            StreamUpdatedRouting::Change(channel) => {
                channel.reaches(receiver).then_some(StreamUpdatedForm::Update)
            }
            StreamUpdatedRouting::Archived => Some(StreamUpdatedForm::Deletion),
            StreamUpdatedRouting::Unarchived(_) => Some(StreamUpdatedForm::Creation),
        }
    }

    fn form(&self, routing: &StreamUpdatedRouting, form: StreamUpdatedForm) -> serde_json::Result<Form> {
        match (form, routing) {
            (StreamUpdatedForm::Creation, StreamUpdatedRouting::Unarchived(record)) => {
                Form::of(&StreamCreated { streams: [Arc::new(ChannelRecord::clone(record))] })
            }
            (StreamUpdatedForm::Deletion, _) => Form::of(&StreamDeleted::of(self.stream_id)),
            _ => Form::of(self),
        }
    }
}

/// `stream`, `op: delete`: a channel can no longer be seen.
#[derive(Serialize, Deserialize)]
pub struct StreamDeleted {
    /// Deprecated: objects with only the id.
    streams: [DeletedStream; 1],
    /// The channel.
    stream_ids: [StreamId; 1],
}

#[derive(Serialize, Deserialize)]
struct DeletedStream {
    /// The channel.
    stream_id: StreamId,
}

impl StreamDeleted {
    /// The event for one channel.
    pub fn new(stream_id: StreamId, is_archived: bool) -> Routed<Self> {
        Routed { event: Self::of(stream_id), routing: ChannelRouting { is_archived } }
    }

    fn of(stream_id: StreamId) -> Self {
        Self { streams: [DeletedStream { stream_id }], stream_ids: [stream_id] }
    }
}

uniform_event!(
    StreamDeleted: "stream", op "delete", version 1, routing ChannelRouting, if ChannelRouting::reaches
);

/// `default_streams`: which channels new users are subscribed to.
#[derive(Serialize, Deserialize)]
pub struct DefaultStreams {
    /// All channels to which new users are subscribed.
    default_streams: Vec<StreamId>,
}

uniform_event!(DefaultStreams: "default_streams", version 1);

/// Emits to members that the default channels changed. Guests are never subscribed by default.
pub fn emit_default_streams(tx: &mut Tx<'_>) -> ApiResult<()> {
    let event = DefaultStreams { default_streams: sql::default_streams(tx)? };
    let members = user_ids::member_ids(tx)?;
    tx.emit(event, Audience::set(members));
    Ok(())
}

/// Emits the default channels to a user whose role changed. Guests have none.
pub fn emit_default_streams_to(tx: &mut Tx<'_>, user_id: UserId, role: Role) -> ApiResult<()> {
    let default_streams = if role == Role::Guest { Vec::new() } else { sql::default_streams(tx)? };
    let event = DefaultStreams { default_streams };
    tx.emit(event, Audience::user(user_id));
    Ok(())
}

/// `streams` in the answer of `POST /register`: every channel that the caller may know of, in the order of names.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let viewer = Viewer::new(Ctx::new(request.connection, request.caller, request.now));
    let records = Records::new(request.connection, request.now)?;
    let with_archived = request.registration.client_capabilities.archived_channels;
    let mut streams = Vec::new();
    for stream in sql::all(request.connection)? {
        if (with_archived || !stream.is_archived) && viewer.can_see(&stream)? {
            streams.push(records.of(&stream)?);
        }
    }
    state.set::<Vec<ChannelRecord>>("streams", &streams)
}

/// `realm_default_streams` in the answer of `POST /register`; guests have none.
pub fn default_streams_state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let ids = if request.caller.is_guest() { Vec::new() } else { sql::default_streams(request.connection)? };
    state.set::<Vec<StreamId>>("realm_default_streams", &ids)
}

/// `subscription`, `op: peer_add` and `peer_remove`: others came to channels or left them.
#[derive(Serialize, Deserialize)]
pub struct PeersChanged {
    /// `peer_add` or `peer_remove`.
    op: Cow<'static, str>,
    /// The channels.
    stream_ids: Vec<StreamId>,
    /// The users who came or went, in each of the channels.
    user_ids: Vec<u32>,
}

impl PeersChanged {
    /// The event for users who came to channels that are all archived, or all not.
    pub fn added(stream_ids: Vec<StreamId>, users: &RoaringBitmap, is_archived: bool) -> Routed<Self> {
        Self::new("peer_add", stream_ids, users, is_archived)
    }

    /// The event for users who left channels that are all archived, or all not.
    pub fn removed(stream_ids: Vec<StreamId>, users: &RoaringBitmap, is_archived: bool) -> Routed<Self> {
        Self::new("peer_remove", stream_ids, users, is_archived)
    }

    fn new(
        op: &'static str,
        stream_ids: Vec<StreamId>,
        users: &RoaringBitmap,
        is_archived: bool,
    ) -> Routed<Self> {
        let event = Self { op: op.into(), stream_ids, user_ids: users.iter().collect() };
        Routed { event, routing: ChannelRouting { is_archived } }
    }
}

uniform_event!(
    PeersChanged: "subscription", name "subscription/peers", version 1,
    routing ChannelRouting, if ChannelRouting::reaches
);
