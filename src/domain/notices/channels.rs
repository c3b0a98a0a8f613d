//! Notices of the notification bot about channels: their texts and destinations.

use crate::domain::groups::GroupRow;
use crate::domain::groups::setting::GroupSetting;
use crate::domain::groups::system::SystemGroup;
use crate::domain::messages::channel_summary::with_shared_viewers;
use crate::domain::messages::destination::Destination;
use crate::domain::notices::budget;
use crate::domain::rows::channel::{StreamRow, TopicsPolicy};
use crate::domain::{groups, notices, realm, rows};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, Language, StreamId, Topic, UserId};
use rusqlite::Connection;
use teamchat_markdown::{Composition, Words};

/// A message of the notification bot that is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// A topic or a user.
    pub to: NoticeDestination,
    /// The text.
    pub content: Composition,
}

/// A place that a notice about a channel is sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeDestination {
    /// A topic of a channel.
    Topic(StreamId, String),
    /// A topic of another channel than the one that the notice is about.
    Announcement(StreamId, String),
    /// A direct message to one user.
    Direct(UserId),
}

/// Sends notices about an action of the user `by`, in the job of the action. For that user they are marked as read. Those to
/// people, and announcements, are left out if the user caused too many.
pub fn send(tx: &mut Tx<'_>, notices: Vec<Notice>, by: UserId) -> ApiResult<()> {
    with_shared_viewers(tx, |tx| notices.into_iter().try_for_each(|notice| send_one(tx, notice, by)))
}

fn send_one(tx: &mut Tx<'_>, notice: Notice, by: UserId) -> ApiResult<()> {
    let has_budget = !matches!(notice.to, NoticeDestination::Topic(..));
    let address = match notice.to {
        NoticeDestination::Topic(stream_id, topic) | NoticeDestination::Announcement(stream_id, topic) => {
            // The announcement channel of the setting may not exist any more.
            let Some(stream) = rows::channel::by_id(tx, stream_id)? else { return Ok(()) };
            Destination::Channel(Box::new(stream), Topic::stored(topic))
        }
        NoticeDestination::Direct(user_id) => notices::direct_address(tx, user_id)?,
    };
    if has_budget {
        return budget::send_caused(tx, by, address, notice.content);
    }
    notices::send_and_read(tx, address, notice.content, vec![by]).map(|_| ())
}

fn link(stream: &StreamRow) -> Words {
    Words::default().channel(stream.stream_id.0, &stream.name)
}

fn in_channel(language: Language, stream: &StreamRow, content: impl Into<Composition>) -> Notice {
    let has_topics = stream.topics_policy != TopicsPolicy::EmptyTopicOnly;
    // The topic of notices that are sent to the channel that they are about.
    let topic = if has_topics { language.t("channel events") } else { "" };
    Notice { to: NoticeDestination::Topic(stream.stream_id, topic.to_owned()), content: content.into() }
}

/// To a new channel: its privacy, creator and description.
pub fn created(language: Language, stream: &StreamRow, by: &Words) -> Notice {
    let kind = Words::default().strong(Words::new(privacy_of(language, stream)));
    let text = language.t("{kind} channel created by {by}. **Description:**");
    let words = Words::filled(text, &[("kind", kind), ("by", by.clone())]);
    in_channel(language, stream, quote(language, Composition::from(words), stream))
}

/// To the organization's announcement channel, if it has one: a list of new channels.
pub fn announced(connection: &Connection, streams: &[StreamRow], by: &Words) -> ApiResult<Option<Notice>> {
    let target: i64 = realm::settings::NEW_STREAM_ANNOUNCEMENTS_STREAM_ID.get(connection)?;
    if target < 0 || streams.is_empty() {
        return Ok(None);
    }
    let language = realm::common_language(connection)?;
    let count = i64::try_from(streams.len()).unwrap_or(i64::MAX);
    let text = language.counted(
        "{by} created a new channel {channels}.",
        "{by} created the following channels: {channels}.",
        count,
    );
    let links = Words::joined(streams.iter().map(link), ", ");
    let to = NoticeDestination::Announcement(StreamId(target), language.t("new channels").to_owned());
    let content = Words::filled(text, &[("by", by.clone()), ("channels", links)]);
    Ok(Some(Notice { to, content: content.into() }))
}

/// To a user whom another user subscribed to existing channels.
pub fn subscribed(language: Language, user_id: UserId, streams: &[StreamRow], by: &Words) -> Notice {
    let mut streams: Vec<&StreamRow> = streams.iter().collect();
    streams.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let content = match streams.as_slice() {
        [only] => {
            let text = language.t("{by} subscribed you to {channel}.");
            Words::filled(text, &[("by", by.clone()), ("channel", link(only))]).into()
        }
        several => {
            let text = language.t("{by} subscribed you to the following channels:");
            Composition::from(Words::filled(text, &[("by", by.clone())]))
                .list(several.iter().copied().map(link).collect())
        }
    };
    Notice { to: NoticeDestination::Direct(user_id), content }
}

/// To a renamed channel.
pub fn renamed(language: Language, stream: &StreamRow, old_name: &str, by: &Words) -> Notice {
    let name = |name: &str| Words::default().strong_text(name);
    let text = language.t("{by} renamed channel {old} to {new}.");
    let parameters = [("by", by.clone()), ("old", name(old_name)), ("new", name(&stream.name))];
    in_channel(language, stream, Words::filled(text, &parameters))
}

/// To a channel whose privacy changed.
pub fn privacy_changed(language: Language, old: &StreamRow, new: &StreamRow, by: &Words) -> Notice {
    let kind = |stream| Words::default().strong(Words::new(privacy_of(language, stream)));
    let text = language
        .t("{by} changed the [access permissions](/help/channel-permissions) for this channel from {old} to {new}.");
    let parameters = [("by", by.clone()), ("old", kind(old)), ("new", kind(new))];
    in_channel(language, new, Words::filled(text, &parameters))
}

fn privacy_of(language: Language, stream: &StreamRow) -> &'static str {
    match (stream.invite_only, stream.is_web_public, stream.history_public_to_subscribers) {
        (false, true, _) => language.t("Web-public"),
        (false, false, _) => language.t("Public"),
        (true, _, true) => language.t("Private, shared history"),
        (true, _, false) => language.t("Private, protected history"),
    }
}

/// To a channel whose description changed.
pub fn description_changed(language: Language, old: &StreamRow, new: &StreamRow, by: &Words) -> Notice {
    let text = language.t("{by} changed the description for this channel.");
    let words = Words::filled(text, &[("by", by.clone())]);
    let content = Composition::from(words).list(vec![Words::new(language.t("**Old description:**"))]);
    let content = quote(language, content, old).next_line();
    let content = content.list(vec![Words::new(language.t("**New description:**"))]);
    in_channel(language, new, quote(language, content, new))
}

/// Appends a channel's description, as it was rendered for its author.
fn quote(language: Language, content: Composition, stream: &StreamRow) -> Composition {
    let content = content.next_line();
    if stream.description.is_empty() {
        content.quote_words(Words::new(language.t("*No description.*")))
    } else {
        content.quote(&stream.description, &stream.rendered_description)
    }
}

/// To a channel whose message retention changed; `None` if the new value means the same number of days. `realm_days` is
/// the organization's setting, -1 for unlimited.
pub fn retention_changed(
    language: Language,
    old: &StreamRow,
    new: &StreamRow,
    realm_days: i64,
    by: &Words,
) -> Option<Notice> {
    let before = old.message_retention_days.unwrap_or(realm_days);
    let after = new.message_retention_days.unwrap_or(realm_days);
    if before == after {
        return None;
    }
    let count = |days: i64| [("count", Words::default().number(days))];
    let period = |days: i64| {
        let text = if days < 0 {
            language.t("Forever")
        } else {
            language.counted("{count} days", "{count} days", days)
        };
        Words::filled(text, &count(days))
    };
    let summary = if after < 0 {
        language.t("Messages in this channel will now be retained forever.")
    } else {
        language.counted(
            "Messages in this channel will now be automatically deleted {count} days after they are sent.",
            "Messages in this channel will now be automatically deleted {count} days after they are sent.",
            after,
        )
    };
    let text = language.t(
        "{by} has changed the [message retention period](/help/message-retention-policy) for this channel:",
    );
    let words = Words::filled(text, &[("by", by.clone())]);
    let items = vec![
        Words::filled(language.t("**Old retention period**: {period}"), &[("period", period(before))]),
        Words::filled(language.t("**New retention period**: {period}"), &[("period", period(after))]),
    ];
    let summary = Words::filled(summary, &count(after));
    Some(in_channel(language, new, Composition::from(words).next_line().list(items).paragraph(summary)))
}

/// To a channel whose posting permission changed; `before` and `after` are from [`group_mentions`].
pub fn posting_changed(
    language: Language,
    stream: &StreamRow,
    before: Words,
    after: Words,
    by: &Words,
) -> Notice {
    let text =
        language.t("{by} changed the [posting permissions](/help/channel-posting-policy) for this channel:");
    let words = Words::filled(text, &[("by", by.clone())]);
    let items = vec![
        Words::filled(language.t("**Old**: {groups}"), &[("groups", before)]),
        Words::filled(language.t("**New**: {groups}"), &[("groups", after)]),
    ];
    in_channel(language, stream, Composition::from(words).list(items))
}

/// The groups and users of a group setting as silent mentions, groups first.
pub fn group_mentions(connection: &Connection, value: &GroupSetting) -> ApiResult<Words> {
    let (groups, users) = match value {
        GroupSetting::Group(group) => (std::slice::from_ref(group), [].as_slice()),
        GroupSetting::Direct(direct) => {
            (direct.direct_subgroups.as_slice(), direct.direct_members.as_slice())
        }
    };
    let mut names = Vec::new();
    for group in groups {
        names.extend(groups::group(connection, *group)?.map(|group| group_mention(&group)));
    }
    for user_id in users {
        names.push(notices::name_of_user(connection, *user_id)?);
    }
    Ok(Words::joined(names, ", "))
}

/// A silent mention of a group.
pub fn group_mention(group: &GroupRow) -> Words {
    let shown = match SystemGroup::with_id(group.id) {
        Some(system) => system.display_name(),
        None => group.name.as_str(),
    };
    Words::default().group(group.id.0, &group.name, shown)
}

/// To a channel whose policy for the empty topic changed.
pub fn topics_policy_changed(language: Language, old: &StreamRow, new: &StreamRow, by: &Words) -> Notice {
    let empty = || Words::default().emphasis(Words::new(language.t(EMPTY_TOPIC_DISPLAY_NAME)));
    let name = |policy: TopicsPolicy| {
        let text = match policy {
            TopicsPolicy::Inherit => language.t("Automatic"),
            TopicsPolicy::AllowEmptyTopic => language.t("{topic} topic allowed"),
            TopicsPolicy::DisableEmptyTopic => language.t("No {topic} topic"),
            TopicsPolicy::EmptyTopicOnly => language.t("Only {topic} topic allowed"),
        };
        Words::default().strong(Words::filled(text, &[("topic", empty())]))
    };
    let text =
        language.t("{by} changed the \"Allow posting to the {topic} topic?\" setting from {old} to {new}.");
    let parameters = [
        ("by", by.clone()),
        ("topic", empty()),
        ("old", name(old.topics_policy)),
        ("new", name(new.topics_policy)),
    ];
    in_channel(language, new, Words::filled(text, &parameters))
}

/// To a channel that was archived or unarchived.
pub fn archived(language: Language, stream: &StreamRow) -> Notice {
    let text = if stream.is_archived {
        language.t("Channel {channel} has been archived.")
    } else {
        language.t("Channel {channel} has been unarchived.")
    };
    in_channel(language, stream, Words::filled(text, &[("channel", link(stream))]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::RecipientId;

    fn stream(name: &str) -> StreamRow {
        StreamRow {
            stream_id: StreamId(7),
            recipient_id: RecipientId(7),
            name: name.to_owned(),
            is_archived: false,
            description: String::new(),
            rendered_description: String::new(),
            date_created: 0,
            creator_id: None,
            invite_only: false,
            is_web_public: false,
            history_public_to_subscribers: true,
            message_retention_days: None,
            topics_policy: TopicsPolicy::Inherit,
            folder_id: None,
        }
    }

    fn content(notice: &Notice) -> String {
        notice.content.clone().finish().0
    }

    fn by() -> Words {
        Words::default().user(9, "Ada")
    }

    #[test]
    fn notices_of_new_channels_name_privacy_and_description() {
        let cases = [
            (false, false, true, "Public"),
            (false, true, true, "Web-public"),
            (true, false, true, "Private, shared history"),
            (true, false, false, "Private, protected history"),
        ];
        for (invite_only, is_web_public, history_public_to_subscribers, kind) in cases {
            let stream = StreamRow {
                invite_only,
                is_web_public,
                history_public_to_subscribers,
                description: "Italy".to_owned(),
                rendered_description: "<p>Italy</p>".to_owned(),
                ..stream("Verona")
            };
            let text = format!(
                "**{kind}** channel created by @_**Ada|9**. **Description:**\n```` quote\nItaly\n````"
            );
            assert_eq!(content(&created(Language::English, &stream, &by())), text);
        }
        let notice = created(Language::English, &stream("Verona"), &by());
        assert!(content(&notice).contains("*No description.*"), "{notice:?}");
        assert_eq!(notice.to, NoticeDestination::Topic(StreamId(7), "channel events".to_owned()));
    }

    #[test]
    fn a_channel_of_one_topic_gets_its_notices_there() {
        let stream = StreamRow { topics_policy: TopicsPolicy::EmptyTopicOnly, ..stream("Verona") };
        assert_eq!(
            archived(Language::English, &stream).to,
            NoticeDestination::Topic(StreamId(7), String::new())
        );
    }

    #[test]
    fn subscribed_users_get_a_list_of_channels() {
        let one = subscribed(Language::English, UserId(8), &[stream("Verona")], &by());
        assert_eq!(one.to, NoticeDestination::Direct(UserId(8)));
        assert_eq!(content(&one), "@_**Ada|9** subscribed you to #**Verona**.");
        let two = subscribed(Language::English, UserId(8), &[stream("Verona"), stream("Denmark")], &by());
        assert_eq!(
            content(&two),
            "@_**Ada|9** subscribed you to the following channels:\n\n* #**Denmark**\n* #**Verona**"
        );
    }

    #[test]
    fn changes_are_announced_in_the_channel() {
        let renamed = renamed(Language::English, &stream("Rome"), "Verona", &by());
        assert_eq!(content(&renamed), "@_**Ada|9** renamed channel **Verona** to **Rome**.");
        let archived_stream = StreamRow { is_archived: true, ..stream("Rome") };
        assert_eq!(
            content(&archived(Language::English, &archived_stream)),
            "Channel #**Rome** has been archived."
        );
        assert_eq!(
            content(&archived(Language::English, &stream("Rome"))),
            "Channel #**Rome** has been unarchived."
        );
    }
}
