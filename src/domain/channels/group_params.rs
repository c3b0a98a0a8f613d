//! The `can_..._group` parameters of the endpoints that create and change channels.

use crate::domain::groups::channel_settings::StreamSetting;
use serde::Deserialize;

/// The group settings of a channel as parameters. `T` is the type of a value: a setting of a new channel, or a change
/// of an existing one.
#[derive(Clone, Debug, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names on the wire")]
pub struct GroupParams<T> {
    /// Who may subscribe others.
    can_add_subscribers_group: Option<T>,
    /// Who may change the channel; in a new one its creator when absent.
    can_administer_channel_group: Option<T>,
    /// Who may delete anybody's messages.
    can_delete_any_message_group: Option<T>,
    /// Who may delete their own messages.
    can_delete_own_message_group: Option<T>,
    /// Who may move messages to other channels.
    can_move_messages_out_of_channel_group: Option<T>,
    /// Who may move messages to other topics.
    can_move_messages_within_channel_group: Option<T>,
    /// Who may unsubscribe others.
    can_remove_subscribers_group: Option<T>,
    /// Who may resolve topics.
    can_resolve_topics_group: Option<T>,
    /// Who may post.
    can_send_message_group: Option<T>,
    /// Who may subscribe themselves to a private channel.
    can_subscribe_group: Option<T>,
}

impl<T> GroupParams<T> {
    /// The settings that were given, in the order of [`StreamSetting::ALL`].
    pub fn given(&self) -> impl Iterator<Item = (StreamSetting, &T)> {
        StreamSetting::ALL.into_iter().filter_map(|setting| Some((setting, self.get(setting)?)))
    }

    fn get(&self, setting: StreamSetting) -> Option<&T> {
        let value = match setting {
            StreamSetting::CanAddSubscribers => &self.can_add_subscribers_group,
            StreamSetting::CanAdministerChannel => &self.can_administer_channel_group,
            StreamSetting::CanDeleteAnyMessage => &self.can_delete_any_message_group,
            StreamSetting::CanDeleteOwnMessage => &self.can_delete_own_message_group,
            StreamSetting::CanMoveMessagesOutOfChannel => &self.can_move_messages_out_of_channel_group,
            StreamSetting::CanMoveMessagesWithinChannel => &self.can_move_messages_within_channel_group,
            StreamSetting::CanRemoveSubscribers => &self.can_remove_subscribers_group,
            StreamSetting::CanResolveTopics => &self.can_resolve_topics_group,
            StreamSetting::CanSendMessage => &self.can_send_message_group,
            StreamSetting::CanSubscribe => &self.can_subscribe_group,
        };
        value.as_ref()
    }
}
