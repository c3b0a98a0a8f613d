//! The group settings of a channel: who may do what in it (spec, "Channel"; `semantics.md` section 9).

use crate::api::groups::setting::{self, Owner};
use crate::api::groups::system::SystemGroup;
use crate::http::ApiResult;
use crate::types::{GroupId, StreamId};
use rusqlite::Connection;

/// A `can_..._group` setting of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamSetting {
    /// May subscribe others, and so read.
    CanAddSubscribers,
    /// May change the channel.
    CanAdministerChannel,
    /// May start topics.
    CanCreateTopic,
    /// May delete anybody's messages.
    CanDeleteAnyMessage,
    /// May delete their own messages.
    CanDeleteOwnMessage,
    /// May move messages to other channels.
    CanMoveMessagesOutOfChannel,
    /// May move messages to other topics.
    CanMoveMessagesWithinChannel,
    /// May unsubscribe others.
    CanRemoveSubscribers,
    /// May resolve topics.
    CanResolveTopics,
    /// May post.
    CanSendMessage,
    /// May subscribe themselves, and so read.
    CanSubscribe,
}

impl StreamSetting {
    /// All of them, in the order of the interface's lists.
    pub const ALL: [Self; 11] = [
        Self::CanAddSubscribers,
        Self::CanAdministerChannel,
        Self::CanCreateTopic,
        Self::CanDeleteAnyMessage,
        Self::CanDeleteOwnMessage,
        Self::CanMoveMessagesOutOfChannel,
        Self::CanMoveMessagesWithinChannel,
        Self::CanRemoveSubscribers,
        Self::CanResolveTopics,
        Self::CanSendMessage,
        Self::CanSubscribe,
    ];

    /// The name on the wire and in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::CanAddSubscribers => "can_add_subscribers_group",
            Self::CanAdministerChannel => "can_administer_channel_group",
            Self::CanCreateTopic => "can_create_topic_group",
            Self::CanDeleteAnyMessage => "can_delete_any_message_group",
            Self::CanDeleteOwnMessage => "can_delete_own_message_group",
            Self::CanMoveMessagesOutOfChannel => "can_move_messages_out_of_channel_group",
            Self::CanMoveMessagesWithinChannel => "can_move_messages_within_channel_group",
            Self::CanRemoveSubscribers => "can_remove_subscribers_group",
            Self::CanResolveTopics => "can_resolve_topics_group",
            Self::CanSendMessage => "can_send_message_group",
            Self::CanSubscribe => "can_subscribe_group",
        }
    }

    /// Who may when nobody was named. A new channel's creator is named as its administrator when it is made, so this
    /// default is for channels without a creator.
    pub fn default_group(self) -> SystemGroup {
        match self {
            Self::CanRemoveSubscribers => SystemGroup::Administrators,
            Self::CanCreateTopic | Self::CanSendMessage => SystemGroup::Everyone,
            _ => SystemGroup::Nobody,
        }
    }

    /// The group that holds the permission in a channel.
    pub fn group_of(self, connection: &Connection, stream_id: StreamId) -> ApiResult<GroupId> {
        setting::group_of(connection, Owner::Stream(stream_id.0), self.name(), self.default_group())
    }
}
