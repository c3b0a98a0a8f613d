//! What the notification bot says about channels (`semantics.md` section 8): the texts, and where they go.

use super::row::{StreamRow, TopicsPolicy};
use crate::api::messages::address::Address;
pub use crate::api::notifications::name_of;
use crate::api::{notifications, realm};
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{StreamId, Topic, UserId};
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
            let Some(stream) = super::sql::by_id(tx, stream_id)? else { return Ok(()) };
            Address::Channel(Box::new(stream), Topic::stored(topic))
        }
        Place::Direct(user_id) => notifications::direct_address(tx, user_id)?,
    };
    notifications::send_and_read(tx, address, notice.content, vec![by]).map(|_| ())
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
    let kind = match (stream.invite_only, stream.is_web_public, stream.history_public_to_subscribers) {
        (false, true, _) => "Web-public",
        (false, false, _) => "Public",
        (true, _, true) => "Private, shared history",
        (true, _, false) => "Private, protected history",
    };
    let description =
        if stream.description.is_empty() { "*No description.*" } else { stream.description.as_str() };
    let content =
        format!("**{kind}** channel created by {by}. **Description:**\n```` quote\n{description}\n````");
    in_channel(stream, content)
}

/// In the organization's announcement channel, if it has one: new channels.
pub fn announced(connection: &Connection, streams: &[StreamRow], by: &str) -> ApiResult<Option<Notice>> {
    let target: i64 = realm::settings::get(connection, "new_stream_announcements_stream_id")?;
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
