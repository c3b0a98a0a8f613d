//! Events about channels with their variants, and the channels in the answer of `POST /register`.
//!
//! A client without the `archived_channels` capability has no archived channels: to it, archiving is a deletion and
//! its undoing a creation.

use crate::domain::channels::record::ChannelRecord;
use crate::domain::channels::sql;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::groups::setting::GroupSetting;
use crate::domain::realm::user_ids;
use crate::domain::rows::channel::{StreamRow, TopicsPolicy};
use crate::error::ApiResult;
use crate::events::{Audience, Event, Form, Receiver, Routed, uniform_event};
use crate::store::Tx;
use crate::types::{MessageId, Role, StreamId, UserId};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// Routing of an event about channels that are all archived, or all not.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ChannelRouting {
    /// True if the channels are archived.
    pub is_archived: bool,
}

impl ChannelRouting {
    /// Checks whether a client has the channels.
    pub fn reaches(&self, receiver: &Receiver<'_>) -> bool {
        !self.is_archived || receiver.registration.client_capabilities.archived_channels
    }
}

/// `stream`, `op: create`: a channel was created or became visible to the receiver.
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

/// `stream`, `op: update`: a property of a channel changed.
#[derive(Clone, Serialize, Deserialize)]
pub struct StreamUpdated {
    /// The id of the channel.
    stream_id: StreamId,
    /// The name of the channel, before the change if the name changed.
    name: String,
    #[serde(flatten)]
    change: StreamChange,
}

/// The name of a property of a channel, its new value, and dependent values.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "property", rename_all = "snake_case")]
pub enum StreamChange {
    /// The description.
    Description {
        /// The new description in Markdown.
        value: String,
        /// The new description as HTML.
        rendered_description: String,
    },
    /// The oldest message.
    FirstMessageId {
        /// The id of the oldest message; null if there is none.
        value: Option<MessageId>,
    },
    /// The folder.
    FolderId {
        /// The id of the folder that the channel is shown in; null for none.
        value: Option<i64>,
    },
    /// Privacy of the channel.
    InviteOnly {
        /// True if the channel is private now.
        value: bool,
        /// True if subscribers can read messages that were sent before they subscribed.
        history_public_to_subscribers: bool,
        /// True if the channel can be read without an account.
        is_web_public: bool,
    },
    /// Deprecated; follows from `can_send_message_group`.
    IsAnnouncementOnly {
        /// True if only administrators may post.
        value: bool,
    },
    /// Archiving of the channel.
    IsArchived {
        /// True if the channel is archived: no message can be sent to it.
        value: bool,
    },
    /// Recent activity.
    IsRecentlyActive {
        /// True if the channel or its newest message is less than 180 days old.
        value: bool,
    },
    /// Retention of messages.
    MessageRetentionDays {
        /// Days for which messages are kept; -1 for unlimited, null for the setting of the organization.
        value: Option<i64>,
    },
    /// The name.
    Name {
        /// The new name.
        value: String,
    },
    /// Deprecated; follows from `can_send_message_group`.
    StreamPostPolicy {
        /// The users who may post: 1 for all, 2 for administrators, 3 for full members, 4 for moderators.
        value: i64,
    },
    /// The rule for messages in the empty topic.
    TopicsPolicy {
        /// The new rule; `inherit` is the organization's.
        value: TopicsPolicy,
    },
    /// A permission.
    #[serde(untagged)]
    Permission {
        /// The name of the permission.
        property: StreamSetting,
        /// The group that has the permission now.
        value: GroupSetting,
    },
}

/// Routing of a [`StreamUpdated`].
#[derive(Clone, Serialize, Deserialize)]
pub enum StreamUpdatedRouting {
    /// A change of a channel that is archived or not.
    Change(ChannelRouting),
    /// The channel is archived from now on.
    Archived,
    /// The channel is no longer archived. The whole channel, as it is now.
    Unarchived(Box<ChannelRecord>),
}

/// Variant of a [`StreamUpdated`] for a client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StreamUpdatedForm {
    /// The change of a property.
    Update,
    /// The channel was deleted or hidden.
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

/// `stream`, `op: delete`: the receiver can no longer see a channel.
#[derive(Serialize, Deserialize)]
pub struct StreamDeleted {
    /// Deprecated: a list of objects with only the id of the channel.
    streams: [DeletedStream; 1],
    /// The id of the channel, in a list.
    stream_ids: [StreamId; 1],
}

#[derive(Serialize, Deserialize)]
struct DeletedStream {
    /// The id of the channel.
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

/// `default_streams`: the channels to which new users are subscribed changed.
#[derive(Serialize, Deserialize)]
pub struct DefaultStreams {
    /// The ids of all channels to which new users are subscribed.
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

/// `subscription`, `op: peer_add` and `peer_remove`: other users were subscribed to channels or unsubscribed from them.
#[derive(Serialize, Deserialize)]
pub struct PeersChanged {
    /// `peer_add` or `peer_remove`.
    op: Cow<'static, str>,
    /// The ids of the channels.
    stream_ids: Vec<StreamId>,
    /// The ids of the users, each of whom was subscribed to or unsubscribed from each channel.
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
