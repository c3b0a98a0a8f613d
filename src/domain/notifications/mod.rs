//! Notifications of messages outside of clients: which users get one, and why.
//!
//! - this file: the decision, a function of facts;
//! - `facts`: loading the facts;
//! - [`deciding`]: who is notified of a message, now or when their clients are gone;
//! - [`waiting`]: the queues in the file;
//! - [`mentions`]: whether a user or a group of theirs is mentioned;
//! - [`mailed`]: whether an email that waits for the mail server still shows the messages as they are.
//!
//! A [`Medium`] has its own switches among the settings; the rules are the same for all.

pub mod deciding;
mod facts;
pub mod mailed;
pub mod mentions;
pub mod waiting;

use crate::domain::messages::notification_queue::Queue;
use crate::domain::user_settings;
use crate::domain::user_settings::UserSetting;
use crate::domain::user_topics::policy::VisibilityPolicy;

/// A way to notify people, by the settings that switch it.
pub struct Medium {
    /// The queues in the file.
    pub queue: Queue,
    /// The name of the jobs that store decisions.
    decision_job: &'static str,
    /// The name of the jobs that check held messages.
    check_job: &'static str,
    /// Direct messages and mentions.
    pub personal: &'static UserSetting<bool>,
    /// Messages in followed topics.
    followed_topics: &'static UserSetting<bool>,
    /// Messages in channels, where the subscription does not set it.
    channels: &'static UserSetting<bool>,
    /// The column of `subscription` that sets it.
    of_subscription: &'static str,
    /// Finds the subscribers of a channel whose subscription turns it on.
    subscribers: &'static str,
    /// Finds the users who turn it on for all channels.
    everywhere: &'static str,
    /// Notifications also while the user is active; `None` if there are none.
    while_active: Option<&'static UserSetting<bool>>,
}

/// Push notifications.
pub static PUSH: Medium = Medium {
    queue: Queue::Push,
    decision_job: "push_decisions",
    check_job: "push_checks",
    personal: &user_settings::ENABLE_OFFLINE_PUSH_NOTIFICATIONS,
    followed_topics: &user_settings::ENABLE_FOLLOWED_TOPIC_PUSH_NOTIFICATIONS,
    channels: &user_settings::ENABLE_STREAM_PUSH_NOTIFICATIONS,
    of_subscription: "push_notifications",
    subscribers: "SELECT user_id FROM subscription WHERE stream_id = ?1 AND active AND push_notifications",
    everywhere: "SELECT user_id FROM user_setting
         WHERE property = 'enable_stream_push_notifications' AND value = 'true'",
    while_active: Some(&user_settings::ENABLE_ONLINE_PUSH_NOTIFICATIONS),
};

/// Mail about missed messages.
pub static MAIL: Medium = Medium {
    queue: Queue::Mail,
    decision_job: "missed_decisions",
    check_job: "missed_checks",
    personal: &user_settings::ENABLE_OFFLINE_EMAIL_NOTIFICATIONS,
    followed_topics: &user_settings::ENABLE_FOLLOWED_TOPIC_EMAIL_NOTIFICATIONS,
    channels: &user_settings::ENABLE_STREAM_EMAIL_NOTIFICATIONS,
    of_subscription: "email_notifications",
    subscribers: "SELECT user_id FROM subscription WHERE stream_id = ?1 AND active AND email_notifications",
    everywhere: "SELECT user_id FROM user_setting
         WHERE property = 'enable_stream_email_notifications' AND value = 'true'",
    while_active: None,
};

/// The reason for a notification. The first that applies counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trigger {
    DirectMessage,
    /// Mentioned by name or through a group.
    Mention,
    /// A wildcard mention of the participants of a followed topic.
    TopicWildcardInFollowedTopic,
    /// A wildcard mention of the channel, in a followed topic.
    ChannelWildcardInFollowedTopic,
    /// A wildcard mention of the participants of the topic.
    TopicWildcard,
    /// A wildcard mention of the channel.
    ChannelWildcard,
    /// A message in a followed topic.
    FollowedTopic,
    /// A message in a channel whose messages notify.
    Channel,
}

impl Trigger {
    /// True for direct messages and mentions.
    pub fn is_personal(self) -> bool {
        !matches!(self, Self::FollowedTopic | Self::Channel)
    }

    /// True for mentions of any kind.
    pub fn is_mention(self) -> bool {
        self.is_personal() && self != Self::DirectMessage
    }
}

/// Facts about a message and a user who receives it. The user is not its sender, and has not read it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// True for direct messages.
    pub is_direct: bool,
    /// The flag `mentioned`.
    pub is_mentioned: bool,
    /// The flag `topic_wildcard_mentioned`.
    pub has_topic_wildcard: bool,
    /// The flag `stream_wildcard_mentioned`.
    pub has_channel_wildcard: bool,
    /// True if the message was edited, and did not mention the user before.
    pub is_edit: bool,
    /// The user's policy for the topic.
    pub policy: VisibilityPolicy,
    /// True if the user has muted the channel.
    pub is_channel_muted: bool,
    /// Wildcard mentions notify: the subscription's value, or else the user's.
    pub wildcards_notify: bool,
    /// Wildcard mentions notify in followed topics.
    pub wildcards_notify_in_followed_topics: bool,
    /// The medium's switch for direct messages and mentions.
    pub personal: bool,
    /// The medium's switch for followed topics.
    pub followed_topics: bool,
    /// The medium's switch for the channel: the subscription's value, or else the user's.
    pub channel: bool,
}

impl Facts {
    /// True if a setting of the channel applies. A muted channel or topic disables it, unless the topic is unmuted.
    fn allows(&self, setting: bool) -> bool {
        let is_muted = match self.policy {
            VisibilityPolicy::Muted => true,
            VisibilityPolicy::Unmuted => false,
            VisibilityPolicy::Inherit | VisibilityPolicy::Followed => self.is_channel_muted,
        };
        setting && !is_muted
    }
}

/// Returns the reason for which a message notifies a user, if it does.
pub fn trigger(facts: &Facts) -> Option<Trigger> {
    let is_followed = facts.policy == VisibilityPolicy::Followed;
    let wildcard_there = is_followed && facts.wildcards_notify_in_followed_topics;
    let by_wildcard = facts.allows(facts.wildcards_notify);
    let in_followed_topic = !facts.is_direct && is_followed && facts.followed_topics;
    let in_channel = !facts.is_direct && facts.allows(facts.channel);
    // Who is notified of every message was notified before the edit.
    if facts.is_edit && (in_followed_topic || in_channel) {
        return None;
    }
    let personal = [
        (facts.is_direct, Trigger::DirectMessage),
        (facts.is_mentioned, Trigger::Mention),
        (facts.has_topic_wildcard && wildcard_there, Trigger::TopicWildcardInFollowedTopic),
        (facts.has_channel_wildcard && wildcard_there, Trigger::ChannelWildcardInFollowedTopic),
        (facts.has_topic_wildcard && by_wildcard, Trigger::TopicWildcard),
        (facts.has_channel_wildcard && by_wildcard, Trigger::ChannelWildcard),
    ];
    let others = [(in_followed_topic, Trigger::FollowedTopic), (in_channel, Trigger::Channel)];
    let personal = personal.into_iter().filter(|_| facts.personal);
    personal.chain(others).find(|(applies, _)| *applies).map(|(_, trigger)| trigger)
}

#[cfg(test)]
mod tests {
    use super::Trigger::{
        ChannelWildcard, ChannelWildcardInFollowedTopic, DirectMessage, FollowedTopic, Mention,
        TopicWildcard, TopicWildcardInFollowedTopic,
    };
    use super::VisibilityPolicy::{Followed, Inherit, Muted, Unmuted};
    use super::*;

    /// The settings of a new user.
    fn usual() -> Facts {
        Facts {
            wildcards_notify: true,
            wildcards_notify_in_followed_topics: true,
            personal: true,
            followed_topics: true,
            ..Facts::default()
        }
    }

    #[test]
    fn triggers_follow_from_facts_about_receiver_and_message() {
        type Change = fn(&mut Facts);
        let cases: &[(&str, Change, Option<Trigger>)] = &[
            ("a channel message", |_| {}, None),
            ("a direct message", |f| f.is_direct = true, Some(DirectMessage)),
            ("a direct message, switched off", |f| (f.is_direct, f.personal) = (true, false), None),
            (
                "a direct message to a user with channel notifications only",
                |f| (f.is_direct, f.personal, f.channel) = (true, false, true),
                None,
            ),
            (
                "a wildcard mention in a direct message",
                |f| (f.is_direct, f.has_channel_wildcard) = (true, true),
                Some(DirectMessage),
            ),
            ("a mention", |f| f.is_mentioned = true, Some(Mention)),
            (
                "a mention in a muted channel and topic",
                |f| (f.is_mentioned, f.is_channel_muted, f.policy) = (true, true, Muted),
                Some(Mention),
            ),
            ("a mention, switched off", |f| (f.is_mentioned, f.personal) = (true, false), None),
            (
                "a mention, switched off, in a followed topic",
                |f| (f.is_mentioned, f.personal, f.policy) = (true, false, Followed),
                Some(FollowedTopic),
            ),
            ("a mention of the channel", |f| f.has_channel_wildcard = true, Some(ChannelWildcard)),
            ("a mention of the topic", |f| f.has_topic_wildcard = true, Some(TopicWildcard)),
            (
                "a mention of topic and channel",
                |f| (f.has_topic_wildcard, f.has_channel_wildcard) = (true, true),
                Some(TopicWildcard),
            ),
            (
                "a mention by name and of the channel",
                |f| (f.is_mentioned, f.has_channel_wildcard) = (true, true),
                Some(Mention),
            ),
            (
                "a mention of the channel, not notifying",
                |f| (f.has_channel_wildcard, f.wildcards_notify) = (true, false),
                None,
            ),
            (
                "a mention of the muted channel",
                |f| (f.has_channel_wildcard, f.is_channel_muted) = (true, true),
                None,
            ),
            (
                "a mention of the channel in a muted topic",
                |f| (f.has_channel_wildcard, f.policy) = (true, Muted),
                None,
            ),
            (
                "a mention of the muted channel in an unmuted topic",
                |f| (f.has_channel_wildcard, f.is_channel_muted, f.policy) = (true, true, Unmuted),
                Some(ChannelWildcard),
            ),
            (
                "a mention of the channel in a followed topic",
                |f| (f.has_channel_wildcard, f.policy) = (true, Followed),
                Some(ChannelWildcardInFollowedTopic),
            ),
            (
                "a mention of the muted channel in a followed topic",
                |f| (f.has_channel_wildcard, f.policy, f.is_channel_muted) = (true, Followed, true),
                Some(ChannelWildcardInFollowedTopic),
            ),
            (
                "a mention of the topic in a followed topic",
                |f| (f.has_topic_wildcard, f.has_channel_wildcard, f.policy) = (true, true, Followed),
                Some(TopicWildcardInFollowedTopic),
            ),
            (
                "a mention of the channel in a followed topic, not notifying there",
                |f| {
                    (f.has_channel_wildcard, f.policy) = (true, Followed);
                    f.wildcards_notify_in_followed_topics = false;
                },
                Some(ChannelWildcard),
            ),
            (
                "a mention of the muted channel in a followed topic, not notifying there",
                |f| {
                    (f.has_channel_wildcard, f.policy, f.is_channel_muted) = (true, Followed, true);
                    f.wildcards_notify_in_followed_topics = false;
                },
                Some(FollowedTopic),
            ),
            ("a followed topic", |f| f.policy = Followed, Some(FollowedTopic)),
            (
                "a followed topic in a muted channel",
                |f| (f.policy, f.is_channel_muted) = (Followed, true),
                Some(FollowedTopic),
            ),
            ("a followed topic, switched off", |f| (f.policy, f.followed_topics) = (Followed, false), None),
            ("an unmuted topic", |f| f.policy = Unmuted, None),
            ("a channel that notifies", |f| f.channel = true, Some(Trigger::Channel)),
            (
                "a channel that notifies, with mentions switched off",
                |f| (f.channel, f.personal) = (true, false),
                Some(Trigger::Channel),
            ),
            ("a muted channel that notifies", |f| (f.channel, f.is_channel_muted) = (true, true), None),
            ("a muted topic of it", |f| (f.channel, f.policy) = (true, Muted), None),
            (
                "an unmuted topic of a muted channel that notifies",
                |f| (f.channel, f.is_channel_muted, f.policy) = (true, true, Unmuted),
                Some(Trigger::Channel),
            ),
            (
                "a followed topic of a muted channel that notifies, with followed topics switched off",
                |f| {
                    (f.channel, f.is_channel_muted, f.policy) = (true, true, Followed);
                    f.followed_topics = false;
                },
                None,
            ),
            ("an edit", |f| f.is_edit = true, None),
            ("an edit that mentions", |f| (f.is_edit, f.is_mentioned) = (true, true), Some(Mention)),
            (
                "an edit that mentions in a channel that notifies",
                |f| (f.is_edit, f.is_mentioned, f.channel) = (true, true, true),
                None,
            ),
            (
                "an edit that mentions in a followed topic",
                |f| (f.is_edit, f.is_mentioned, f.policy) = (true, true, Followed),
                None,
            ),
            (
                "an edit that mentions in a followed topic, switched off",
                |f| {
                    (f.is_edit, f.is_mentioned, f.policy) = (true, true, Followed);
                    f.followed_topics = false;
                },
                Some(Mention),
            ),
        ];
        for (name, change, expected) in cases {
            let mut facts = Facts { policy: Inherit, ..usual() };
            change(&mut facts);
            assert_eq!(trigger(&facts), *expected, "{name}");
        }
    }
}
