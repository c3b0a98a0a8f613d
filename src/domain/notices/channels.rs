//! What the notification bot says about channels: the texts, and where they go.

use crate::domain::access::channel_rows::{StreamRow, TopicsPolicy};
use crate::domain::groups::setting::GroupSetting;
use crate::domain::messages::destination::Address;
use crate::domain::{groups, notices, realm};
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, StreamId, Topic, UserId};
use rusqlite::Connection;

/// The topic of notices in the channel that they are about.
const CHANNEL_EVENTS_TOPIC: &str = "channel events";

/// The topic of announcements of new channels.
const NEW_CHANNELS_TOPIC: &str = "new channels";

/// A message of the notification bot that is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Where it goes.
    pub to: Place,
    /// Markdown.
    pub content: String,
}

/// Where a notice goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A topic of a channel.
    Topic(StreamId, String),
    /// One user.
    Direct(UserId),
}

/// Sends notices of what a user did, in the job that did it: there is neither one without the other. They have read
/// what they did.
pub fn send(tx: &mut Tx<'_>, notices: Vec<Notice>, by: UserId) -> ApiResult<()> {
    notices.into_iter().try_for_each(|notice| send_one(tx, notice, by))
}

fn send_one(tx: &mut Tx<'_>, notice: Notice, by: UserId) -> ApiResult<()> {
    let address = match notice.to {
        Place::Topic(stream_id, topic) => {
            // A channel that is gone has nobody to hear of it.
            let Some(stream) = crate::domain::access::channel_rows::by_id(tx, stream_id)? else {
                return Ok(());
            };
            Address::Channel(Box::new(stream), Topic::stored(topic))
        }
        Place::Direct(user_id) => notices::direct_address(tx, user_id)?,
    };
    notices::send_and_read(tx, address, notice.content, vec![by]).map(|_| ())
}

fn link(stream: &StreamRow) -> String {
    format!("#**{}**", stream.name)
}

fn in_channel(stream: &StreamRow, content: String) -> Notice {
    let topic = if stream.topics_policy == TopicsPolicy::EmptyTopicOnly { "" } else { CHANNEL_EVENTS_TOPIC };
    Notice { to: Place::Topic(stream.stream_id, topic.to_owned()), content }
}

/// In a new channel: what it is, and who made it.
pub fn created(stream: &StreamRow, by: &str) -> Notice {
    let content = format!(
        "**{}** channel created by {by}. **Description:**\n{}",
        privacy_of(stream),
        quote(&stream.description)
    );
    in_channel(stream, content)
}

/// In the organization's announcement channel, if it has one: new channels.
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
    Ok(Some(Notice { to: Place::Topic(StreamId(target), NEW_CHANNELS_TOPIC.to_owned()), content }))
}

/// To somebody whom another user subscribed to channels that were there before.
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
    Notice { to: Place::Direct(user_id), content }
}

/// In a renamed channel.
pub fn renamed(stream: &StreamRow, old_name: &str, by: &str) -> Notice {
    in_channel(stream, format!("{by} renamed channel **{old_name}** to **{}**.", stream.name))
}

/// In a channel that other people can see now.
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

/// In a channel with another description.
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

/// In a channel whose messages are kept for another time; `None` when the time is the same, by another word.
/// `realm_days` is the organization's setting, -1 for ever.
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

/// In a channel where other people may post. Who they are is told by [`who`].
pub fn posting_changed(stream: &StreamRow, before: &str, after: &str, by: &str) -> Notice {
    let content = format!(
        "{by} changed the [posting permissions](/help/channel-posting-policy) for this channel:\n\n* **Old**: \
         {before}\n* **New**: {after}"
    );
    in_channel(stream, content)
}

/// The people of a group setting's value, for a notice: groups first.
pub fn who(connection: &Connection, value: &GroupSetting) -> ApiResult<String> {
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

/// In a channel with another rule for the empty topic.
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

/// In an archived channel, or one that is no longer.
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
    fn a_new_channel_says_what_it_is() {
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
        assert_eq!(notice.to, Place::Topic(StreamId(7), "channel events".to_owned()));
    }

    #[test]
    fn a_channel_of_one_topic_gets_its_notices_there() {
        let stream = StreamRow { topics_policy: TopicsPolicy::EmptyTopicOnly, ..stream("Verona") };
        assert_eq!(archived(&stream).to, Place::Topic(StreamId(7), String::new()));
    }

    #[test]
    fn somebody_who_was_subscribed_hears_to_what() {
        let one = subscribed(UserId(8), &["Verona".to_owned()], "@_**Ada|9**");
        assert_eq!(one.to, Place::Direct(UserId(8)));
        assert_eq!(one.content, "@_**Ada|9** subscribed you to #**Verona**.");
        let two = subscribed(UserId(8), &["Verona".to_owned(), "Denmark".to_owned()], "@_**Ada|9**");
        assert_eq!(
            two.content,
            "@_**Ada|9** subscribed you to the following channels:\n\n* #**Denmark**\n* #**Verona**"
        );
    }

    #[test]
    fn changes_are_told_in_the_channel() {
        let renamed = renamed(&stream("Rome"), "Verona", "@_**Ada|9**");
        assert_eq!(renamed.content, "@_**Ada|9** renamed channel **Verona** to **Rome**.");
        let archived_stream = StreamRow { is_archived: true, ..stream("Rome") };
        assert_eq!(archived(&archived_stream).content, "Channel #**Rome** has been archived.");
        assert_eq!(archived(&stream("Rome")).content, "Channel #**Rome** has been unarchived.");
    }
}
