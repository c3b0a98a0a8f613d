//! The lines of the documented format. `docs/moving.md` describes them.

use crate::moving::import::json;
use crate::moving::import::json::nullable;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// A line: an object whose `type` says what it is.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Line {
    Organization(OrganizationLine),
    /// A person or bot.
    User(UserLine),
    Channel(ChannelLine),
    /// A custom emoji.
    Emoji(EmojiLine),
    Message(MessageLine),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrganizationLine {
    pub name: Option<String>,
    /// Markdown.
    pub description: Option<String>,
}

/// A person or bot.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserLine {
    /// The name of the account in other lines.
    pub id: String,
    /// The address to log in with.
    pub email: Option<String>,
    /// The display name.
    pub full_name: String,
    /// The role; `member` if absent.
    pub role: Option<String>,
    /// False for deactivated accounts.
    #[serde(default = "crate::types::default_true", deserialize_with = "true_if_null")]
    pub active: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub bot: bool,
    /// The `id` of the account that owns the bot.
    pub bot_owner: Option<String>,
    /// IANA identifier.
    #[serde(default, deserialize_with = "nullable")]
    pub timezone: String,
    /// When the account was created.
    pub joined: Option<Date>,
    /// The path of an image in the archive.
    pub avatar: Option<String>,
    /// A hash of the password: argon2id in PHC form, `pbkdf2_sha256$...`, or bcrypt: `$2b$...`; or `bcrypt_sha256$$2b$...` or
    /// `argon2_sha256$argon2id$...`, of the hexadecimal SHA-256 digest.
    pub password_hash: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelLine {
    /// The name, by which messages refer to it.
    pub name: String,
    /// Markdown.
    #[serde(default, deserialize_with = "nullable")]
    pub description: String,
    #[serde(default, deserialize_with = "nullable")]
    pub private: bool,
    /// False if new subscribers of a private channel cannot read earlier messages.
    #[serde(default = "crate::types::default_true", deserialize_with = "true_if_null")]
    pub shared_history: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub archived: bool,
    /// True if new people are subscribed to it.
    #[serde(default, deserialize_with = "nullable")]
    pub default: bool,
    /// When it was created.
    pub created: Option<Date>,
    pub creator: Option<String>,
    #[serde(default, deserialize_with = "nullable")]
    pub subscribers: Vec<String>,
}

/// A custom emoji.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmojiLine {
    pub name: String,
    /// The path of an image in the archive.
    pub path: String,
    /// The user who added it.
    pub author: Option<String>,
}

/// A message: in a channel with a topic, or to people.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageLine {
    pub sender: String,
    /// The name of the channel.
    pub channel: Option<String>,
    /// The topic in the channel.
    #[serde(default, deserialize_with = "nullable")]
    pub topic: String,
    /// The receivers of a direct message; the sender need not be among them.
    #[serde(default, deserialize_with = "nullable")]
    pub to: Vec<String>,
    /// Markdown.
    #[serde(default, deserialize_with = "nullable")]
    pub content: String,
    /// When it was sent.
    pub date: Date,
    /// When its content was edited.
    pub edited: Option<Date>,
    /// Reactions, the oldest first.
    #[serde(default, deserialize_with = "nullable")]
    pub reactions: Vec<ReactionLine>,
    /// Files, to which links are added at its end.
    #[serde(default, deserialize_with = "nullable")]
    pub files: Vec<FileLine>,
    /// The users who starred it.
    #[serde(default, deserialize_with = "nullable")]
    pub starred_by: Vec<String>,
    /// Receivers who have not read it.
    #[serde(default, deserialize_with = "nullable")]
    pub unread_by: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReactionLine {
    pub user: String,
    /// The name of the emoji.
    pub emoji: String,
}

/// A file of a message.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileLine {
    /// The path in the archive.
    pub path: String,
    /// The name that is shown; that of the file if absent.
    pub name: Option<String>,
    /// The media type.
    pub content_type: Option<String>,
}

/// A time: UNIX seconds, or a text such as `2027-01-01T00:00:00Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(pub i64);

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a time is UNIX seconds or a text such as 2027-01-01T00:00:00Z")]
        enum Written {
            Seconds(f64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Seconds(seconds) => json::time(seconds).map(Self).map_err(D::Error::custom),
            Written::Text(text) => match text.parse::<jiff::Timestamp>() {
                Ok(time) if json::TIMES.contains(&time.as_second()) => Ok(Self(time.as_second())),
                _ => Err(D::Error::custom(format!("'{text}' is not a time such as 2027-01-01T00:00:00Z"))),
            },
        }
    }
}

fn true_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(true))
}
