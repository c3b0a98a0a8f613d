//! Notices of the notification bot about channels: their texts and destinations.

use crate::domain::access::channel_rows;
use crate::domain::access::channel_rows::{StreamRow, TopicsPolicy};
use crate::domain::groups::setting::GroupSetting;
use crate::domain::groups::sql::GroupRow;
use crate::domain::groups::system::SystemGroup;
use crate::domain::messages::destination::Destination;
use crate::domain::{groups, notices, realm};
use crate::http::ApiResult;
use crate::markdown::{Composition, Words};
use crate::store::Tx;
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, StreamId, Topic, UserId};
use rusqlite::Connection;

/// The topic of notices that are sent to the channel that they are about.
const CHANNEL_EVENTS_TOPIC: &str = "channel events";

/// The topic of announcements of new channels.
const NEW_CHANNELS_TOPIC: &str = "new channels";

/// A message of the notification bot that is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// A topic or a user.
    pub to: NoticeDestination,
    /// The text.
    pub content: Composition,
}

/// The destination of a notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeDestination {
    /// A topic of a channel.
    Topic(StreamId, String),
    /// A direct message to one user.
    Direct(UserId),
}

/// Sends notices about an action of the user `by`, in the job of the action. For that user they are marked as read.
pub fn send(tx: &mut Tx<'_>, notices: Vec<Notice>, by: UserId) -> ApiResult<()> {
    notices.into_iter().try_for_each(|notice| send_one(tx, notice, by))
}

fn send_one(tx: &mut Tx<'_>, notice: Notice, by: UserId) -> ApiResult<()> {
    let address = match notice.to {
        NoticeDestination::Topic(stream_id, topic) => {
            // The announcement channel of the setting may not exist any more.
            let Some(stream) = channel_rows::by_id(tx, stream_id)? else { return Ok(()) };
            Destination::Channel(Box::new(stream), Topic::stored(topic))
        }
        NoticeDestination::Direct(user_id) => notices::direct_address(tx, user_id)?,
    };
    notices::send_and_read(tx, address, notice.content, vec![by]).map(|_| ())
}

fn link(stream: &StreamRow) -> Words {
    Words::default().channel(stream.stream_id.0, &stream.name)
}

fn in_channel(stream: &StreamRow, content: impl Into<Composition>) -> Notice {
    let topic = if stream.topics_policy == TopicsPolicy::EmptyTopicOnly { "" } else { CHANNEL_EVENTS_TOPIC };
    Notice { to: NoticeDestination::Topic(stream.stream_id, topic.to_owned()), content: content.into() }
}

/// To a new channel: its privacy, creator and description.
pub fn created(stream: &StreamRow, by: &Words) -> Notice {
    let words = Words::default()
        .strong(Words::new(privacy_of(stream)))
        .words(" channel created by ")
        .append(by.clone())
        .words(". **Description:**");
    in_channel(stream, quote(Composition::from(words), stream))
}

/// To the organization's announcement channel, if it has one: a list of new channels.
pub fn announced(connection: &Connection, streams: &[StreamRow], by: &Words) -> ApiResult<Option<Notice>> {
    let target: i64 = realm::settings::NEW_STREAM_ANNOUNCEMENTS_STREAM_ID.get(connection)?;
    if target < 0 || streams.is_empty() {
        return Ok(None);
    }
    let what =
        if streams.len() == 1 { " created a new channel " } else { " created the following channels: " };
    let links = Words::joined(streams.iter().map(link), ", ");
    let to = NoticeDestination::Topic(StreamId(target), NEW_CHANNELS_TOPIC.to_owned());
    Ok(Some(Notice { to, content: by.clone().words(what).append(links).words(".").into() }))
}

/// To a user whom another user subscribed to existing channels.
pub fn subscribed(user_id: UserId, streams: &[StreamRow], by: &Words) -> Notice {
    let mut streams: Vec<&StreamRow> = streams.iter().collect();
    streams.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let content = match streams.as_slice() {
        [only] => by.clone().words(" subscribed you to ").append(link(only)).words(".").into(),
        several => Composition::from(by.clone().words(" subscribed you to the following channels:"))
            .list(several.iter().copied().map(link).collect()),
    };
    Notice { to: NoticeDestination::Direct(user_id), content }
}

/// To a renamed channel.
pub fn renamed(stream: &StreamRow, old_name: &str, by: &Words) -> Notice {
    let words = by
        .clone()
        .words(" renamed channel ")
        .strong_text(old_name)
        .words(" to ")
        .strong_text(&stream.name)
        .words(".");
    in_channel(stream, words)
}

/// To a channel whose privacy changed.
pub fn privacy_changed(old: &StreamRow, new: &StreamRow, by: &Words) -> Notice {
    let words = by
        .clone()
        .words(" changed the [access permissions](/help/channel-permissions) for this channel from ")
        .strong(Words::new(privacy_of(old)))
        .words(" to ")
        .strong(Words::new(privacy_of(new)))
        .words(".");
    in_channel(new, words)
}

fn privacy_of(stream: &StreamRow) -> &'static str {
    match (stream.invite_only, stream.is_web_public, stream.history_public_to_subscribers) {
        (false, true, _) => "Web-public",
        (false, false, _) => "Public",
        (true, _, true) => "Private, shared history",
        (true, _, false) => "Private, protected history",
    }
}

/// To a channel whose description changed.
pub fn description_changed(old: &StreamRow, new: &StreamRow, by: &Words) -> Notice {
    let item = |words: &'static str| vec![Words::new(words)];
    let content = Composition::from(by.clone().words(" changed the description for this channel."))
        .list(item("**Old description:**"));
    let content = quote(content, old).next_line().list(item("**New description:**"));
    in_channel(new, quote(content, new))
}

/// Appends a channel's description, as it was rendered for its author.
fn quote(content: Composition, stream: &StreamRow) -> Composition {
    let content = content.next_line();
    if stream.description.is_empty() {
        content.quote_words(Words::new("*No description.*"))
    } else {
        content.quote(&stream.description, &stream.rendered_description)
    }
}

/// To a channel whose message retention changed; `None` if the new value means the same number of days. `realm_days` is
/// the organization's setting, -1 for unlimited.
pub fn retention_changed(old: &StreamRow, new: &StreamRow, realm_days: i64, by: &Words) -> Option<Notice> {
    let before = old.message_retention_days.unwrap_or(realm_days);
    let after = new.message_retention_days.unwrap_or(realm_days);
    if before == after {
        return None;
    }
    let with_period = |words: Words, days: i64| {
        if days < 0 { words.words("Forever") } else { words.number(days).words(" days") }
    };
    let summary = if after < 0 {
        Words::new("Messages in this channel will now be retained forever.")
    } else {
        Words::new("Messages in this channel will now be automatically deleted ")
            .number(after)
            .words(" days after they are sent.")
    };
    let words = by.clone().words(
        " has changed the [message retention period](/help/message-retention-policy) for this channel:",
    );
    let items = vec![
        with_period(Words::new("**Old retention period**: "), before),
        with_period(Words::new("**New retention period**: "), after),
    ];
    Some(in_channel(new, Composition::from(words).next_line().list(items).paragraph(summary)))
}

/// To a channel whose posting permission changed; `before` and `after` are from [`group_mentions`].
pub fn posting_changed(stream: &StreamRow, before: Words, after: Words, by: &Words) -> Notice {
    let words = by
        .clone()
        .words(" changed the [posting permissions](/help/channel-posting-policy) for this channel:");
    let items = vec![Words::new("**Old**: ").append(before), Words::new("**New**: ").append(after)];
    in_channel(stream, Composition::from(words).list(items))
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
        names.extend(groups::sql::group(connection, *group)?.map(|group| group_mention(&group)));
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
pub fn topics_policy_changed(old: &StreamRow, new: &StreamRow, by: &Words) -> Notice {
    let empty = || Words::default().emphasis(Words::new(EMPTY_TOPIC_DISPLAY_NAME));
    let name = |policy: TopicsPolicy| match policy {
        TopicsPolicy::Inherit => Words::new("Automatic"),
        TopicsPolicy::AllowEmptyTopic => empty().words(" topic allowed"),
        TopicsPolicy::DisableEmptyTopic => Words::new("No ").append(empty()).words(" topic"),
        TopicsPolicy::EmptyTopicOnly => Words::new("Only ").append(empty()).words(" topic allowed"),
    };
    let words = by
        .clone()
        .words(" changed the \"Allow posting to the ")
        .append(empty())
        .words(" topic?\" setting from ")
        .strong(name(old.topics_policy))
        .words(" to ")
        .strong(name(new.topics_policy))
        .words(".");
    in_channel(new, words)
}

/// To a channel that was archived or unarchived.
pub fn archived(stream: &StreamRow) -> Notice {
    let what = if stream.is_archived { " has been archived." } else { " has been unarchived." };
    in_channel(stream, Words::new("Channel ").append(link(stream)).words(what))
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
            assert_eq!(content(&created(&stream, &by())), text);
        }
        let notice = created(&stream("Verona"), &by());
        assert!(content(&notice).contains("*No description.*"), "{notice:?}");
        assert_eq!(notice.to, NoticeDestination::Topic(StreamId(7), "channel events".to_owned()));
    }

    #[test]
    fn a_channel_of_one_topic_gets_its_notices_there() {
        let stream = StreamRow { topics_policy: TopicsPolicy::EmptyTopicOnly, ..stream("Verona") };
        assert_eq!(archived(&stream).to, NoticeDestination::Topic(StreamId(7), String::new()));
    }

    #[test]
    fn subscribed_users_get_a_list_of_channels() {
        let one = subscribed(UserId(8), &[stream("Verona")], &by());
        assert_eq!(one.to, NoticeDestination::Direct(UserId(8)));
        assert_eq!(content(&one), "@_**Ada|9** subscribed you to #**Verona**.");
        let two = subscribed(UserId(8), &[stream("Verona"), stream("Denmark")], &by());
        assert_eq!(
            content(&two),
            "@_**Ada|9** subscribed you to the following channels:\n\n* #**Denmark**\n* #**Verona**"
        );
    }

    #[test]
    fn changes_are_announced_in_the_channel() {
        let renamed = renamed(&stream("Rome"), "Verona", &by());
        assert_eq!(content(&renamed), "@_**Ada|9** renamed channel **Verona** to **Rome**.");
        let archived_stream = StreamRow { is_archived: true, ..stream("Rome") };
        assert_eq!(content(&archived(&archived_stream)), "Channel #**Rome** has been archived.");
        assert_eq!(content(&archived(&stream("Rome"))), "Channel #**Rome** has been unarchived.");
    }
}
