//! Notices of the notification bot about channels: their texts and destinations.

use crate::domain::access::channel_rows;
use crate::domain::access::channel_rows::{StreamRow, TopicsPolicy};
use crate::domain::groups::setting::GroupSetting;
use crate::domain::messages::destination::Destination;
use crate::domain::{groups, notices, realm};
use crate::http::ApiResult;
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
    /// Markdown.
    pub content: String,
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

fn link(stream: &StreamRow) -> String {
    format!("#**{}**", stream.name)
}

fn in_channel(stream: &StreamRow, content: String) -> Notice {
    let topic = if stream.topics_policy == TopicsPolicy::EmptyTopicOnly { "" } else { CHANNEL_EVENTS_TOPIC };
    Notice { to: NoticeDestination::Topic(stream.stream_id, topic.to_owned()), content }
}

/// To a new channel: its privacy, creator and description.
pub fn created(stream: &StreamRow, by: &str) -> Notice {
    let content = format!(
        "**{}** channel created by {by}. **Description:**\n{}",
        privacy_of(stream),
        quote(&stream.description)
    );
    in_channel(stream, content)
}

/// To the organization's announcement channel, if it has one: a list of new channels.
pub fn announced(connection: &Connection, streams: &[StreamRow], by: &str) -> ApiResult<Option<Notice>> {
    let target: i64 = realm::settings::NEW_STREAM_ANNOUNCEMENTS_STREAM_ID.get(connection)?;
    if target < 0 || streams.is_empty() {
        return Ok(None);
    }
    let links: Vec<String> = streams.iter().map(link).collect();
    let content = match links.as_slice() {
        [only] => format!("{by} created a new channel {only}."),
        several => format!("{by} created the following channels: {}.", several.join(", ")),
    };
    let to = NoticeDestination::Topic(StreamId(target), NEW_CHANNELS_TOPIC.to_owned());
    Ok(Some(Notice { to, content }))
}

/// To a user whom another user subscribed to existing channels.
pub fn subscribed(user_id: UserId, names: &[String], by: &str) -> Notice {
    let mut names = names.to_vec();
    names.sort_unstable();
    let content = match names.as_slice() {
        [only] => format!("{by} subscribed you to #**{only}**."),
        several => {
            let list = several.join("**\n* #**");
            format!("{by} subscribed you to the following channels:\n\n* #**{list}**")
        }
    };
    Notice { to: NoticeDestination::Direct(user_id), content }
}

/// To a renamed channel.
pub fn renamed(stream: &StreamRow, old_name: &str, by: &str) -> Notice {
    in_channel(stream, format!("{by} renamed channel **{old_name}** to **{}**.", stream.name))
}

/// To a channel whose privacy changed.
pub fn privacy_changed(old: &StreamRow, new: &StreamRow, by: &str) -> Notice {
    let (before, after) = (privacy_of(old), privacy_of(new));
    in_channel(
        new,
        format!(
            "{by} changed the [access permissions](/help/channel-permissions) for this channel from **{before}** to \
             **{after}**."
        ),
    )
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
pub fn description_changed(old: &StreamRow, new: &StreamRow, by: &str) -> Notice {
    let (before, after) = (quote(&old.description), quote(&new.description));
    let content = format!(
        "{by} changed the description for this channel.\n\n* **Old description:**\n{before}\n* **New \
         description:**\n{after}"
    );
    in_channel(new, content)
}

fn quote(description: &str) -> String {
    let text = if description.is_empty() { "*No description.*" } else { description };
    format!("```` quote\n{text}\n````")
}

/// To a channel whose message retention changed; `None` if the new value means the same number of days. `realm_days` is
/// the organization's setting, -1 for unlimited.
pub fn retention_changed(old: &StreamRow, new: &StreamRow, realm_days: i64, by: &str) -> Option<Notice> {
    let before = old.message_retention_days.unwrap_or(realm_days);
    let after = new.message_retention_days.unwrap_or(realm_days);
    if before == after {
        return None;
    }
    let period = |days: i64| if days < 0 { "Forever".to_owned() } else { format!("{days} days") };
    let summary = if after < 0 {
        "Messages in this channel will now be retained forever.".to_owned()
    } else {
        format!(
            "Messages in this channel will now be automatically deleted {after} days after they are sent."
        )
    };
    let content = format!(
        "{by} has changed the [message retention period](/help/message-retention-policy) for this channel:\n* **Old \
         retention period**: {}\n* **New retention period**: {}\n\n{summary}",
        period(before),
        period(after)
    );
    Some(in_channel(new, content))
}

/// To a channel whose posting permission changed; `before` and `after` are texts of [`group_mentions`].
pub fn posting_changed(stream: &StreamRow, before: &str, after: &str, by: &str) -> Notice {
    let content = format!(
        "{by} changed the [posting permissions](/help/channel-posting-policy) for this channel:\n\n* **Old**: \
         {before}\n* **New**: {after}"
    );
    in_channel(stream, content)
}

/// The groups and users of a group setting as silent mentions, groups first.
pub fn group_mentions(connection: &Connection, value: &GroupSetting) -> ApiResult<String> {
    let (groups, users) = match value {
        GroupSetting::Group(group) => (std::slice::from_ref(group), [].as_slice()),
        GroupSetting::Direct(direct) => {
            (direct.direct_subgroups.as_slice(), direct.direct_members.as_slice())
        }
    };
    let mut names = Vec::new();
    for group in groups {
        names.extend(groups::sql::group(connection, *group)?.map(|group| format!("@_*{}*", group.name)));
    }
    for user_id in users {
        names.push(notices::name_of_user(connection, *user_id)?);
    }
    Ok(names.join(", "))
}

/// To a channel whose policy for the empty topic changed.
pub fn topics_policy_changed(old: &StreamRow, new: &StreamRow, by: &str) -> Notice {
    let name = |policy: TopicsPolicy| match policy {
        TopicsPolicy::Inherit => "Automatic".to_owned(),
        TopicsPolicy::AllowEmptyTopic => format!("*{EMPTY_TOPIC_DISPLAY_NAME}* topic allowed"),
        TopicsPolicy::DisableEmptyTopic => format!("No *{EMPTY_TOPIC_DISPLAY_NAME}* topic"),
        TopicsPolicy::EmptyTopicOnly => format!("Only *{EMPTY_TOPIC_DISPLAY_NAME}* topic allowed"),
    };
    let content = format!(
        "{by} changed the \"Allow posting to the *{EMPTY_TOPIC_DISPLAY_NAME}* topic?\" setting from **{}** to **{}**.",
        name(old.topics_policy),
        name(new.topics_policy)
    );
    in_channel(new, content)
}

/// To a channel that was archived or unarchived.
pub fn archived(stream: &StreamRow) -> Notice {
    let what = if stream.is_archived { "archived" } else { "unarchived" };
    in_channel(stream, format!("Channel {} has been {what}.", link(stream)))
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

    fn content(notice: &Notice) -> &str {
        &notice.content
    }

    #[test]
    fn notices_of_new_channels_name_privacy_and_description() {
        let by = "@_**Ada|9**";
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
                ..stream("Verona")
            };
            let text = format!(
                "**{kind}** channel created by @_**Ada|9**. **Description:**\n```` quote\nItaly\n````"
            );
            assert_eq!(content(&created(&stream, by)), text);
        }
        let notice = created(&stream("Verona"), by);
        assert!(notice.content.contains("*No description.*"), "{notice:?}");
        assert_eq!(notice.to, NoticeDestination::Topic(StreamId(7), "channel events".to_owned()));
    }

    #[test]
    fn a_channel_of_one_topic_gets_its_notices_there() {
        let stream = StreamRow { topics_policy: TopicsPolicy::EmptyTopicOnly, ..stream("Verona") };
        assert_eq!(archived(&stream).to, NoticeDestination::Topic(StreamId(7), String::new()));
    }

    #[test]
    fn subscribed_users_get_a_list_of_channels() {
        let one = subscribed(UserId(8), &["Verona".to_owned()], "@_**Ada|9**");
        assert_eq!(one.to, NoticeDestination::Direct(UserId(8)));
        assert_eq!(one.content, "@_**Ada|9** subscribed you to #**Verona**.");
        let two = subscribed(UserId(8), &["Verona".to_owned(), "Denmark".to_owned()], "@_**Ada|9**");
        assert_eq!(
            two.content,
            "@_**Ada|9** subscribed you to the following channels:\n\n* #**Denmark**\n* #**Verona**"
        );
    }

    #[test]
    fn changes_are_announced_in_the_channel() {
        let renamed = renamed(&stream("Rome"), "Verona", "@_**Ada|9**");
        assert_eq!(renamed.content, "@_**Ada|9** renamed channel **Verona** to **Rome**.");
        let archived_stream = StreamRow { is_archived: true, ..stream("Rome") };
        assert_eq!(archived(&archived_stream).content, "Channel #**Rome** has been archived.");
        assert_eq!(archived(&stream("Rome")).content, "Channel #**Rome** has been unarchived.");
    }
}
