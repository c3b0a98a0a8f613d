//! Rows of Slack's export. Unknown members are ignored.

use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::json::nullable;
use crate::types::LAST_SECOND;
use serde::Deserialize;
use serde_json::Value;

/// A person.
#[derive(Debug, Deserialize)]
pub struct SlackUser {
    pub id: String,
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
    #[serde(default, deserialize_with = "nullable")]
    pub real_name: Option<String>,
    #[serde(default, deserialize_with = "nullable")]
    pub deleted: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub is_bot: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub is_primary_owner: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub is_owner: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub is_admin: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub is_restricted: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub is_ultra_restricted: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub tz: Option<String>,
    #[serde(default, deserialize_with = "nullable")]
    pub profile: SlackProfile,
    /// The rights in an organization with several workspaces.
    #[serde(default, deserialize_with = "nullable")]
    enterprise_user: OrganizationRights,
}

#[derive(Debug, Default, Deserialize)]
struct OrganizationRights {
    #[serde(default, deserialize_with = "nullable")]
    is_primary_owner: bool,
    #[serde(default, deserialize_with = "nullable")]
    is_owner: bool,
    #[serde(default, deserialize_with = "nullable")]
    is_admin: bool,
}

impl SlackUser {
    /// Replaces the rights in a workspace by those in the organization, or adds these.
    pub fn take_rights_in_organization(&mut self, is_added: bool) {
        let rights = &self.enterprise_user;
        self.is_primary_owner = rights.is_primary_owner || (is_added && self.is_primary_owner);
        self.is_owner = rights.is_owner || (is_added && self.is_owner);
        self.is_admin = rights.is_admin || (is_added && self.is_admin);
    }
}

/// A person's profile.
#[derive(Debug, Default, Deserialize)]
pub struct SlackProfile {
    pub email: Option<String>,
    pub real_name: Option<String>,
    pub image_original: Option<String>,
    pub image_512: Option<String>,
    pub image_192: Option<String>,
    /// The values of custom fields, by the key of the field. A list if there are none.
    #[serde(default)]
    pub fields: Value,
    pub phone: Option<String>,
    pub skype: Option<String>,
}

impl SlackProfile {
    /// The address of an image that the person chose.
    pub fn image(&self) -> Option<&str> {
        let images = [&self.image_original, &self.image_512, &self.image_192];
        let image = images.into_iter().flatten().next().map(String::as_str);
        // Others are those of Gravatar, and initials.
        image.filter(|image| self.image_original.is_some() || !image.contains("gravatar.com/"))
    }
}

/// A channel, or a direct conversation.
#[derive(Debug, Deserialize)]
pub struct SlackChannel {
    pub id: String,
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
    #[serde(default, deserialize_with = "nullable")]
    pub created: f64,
    pub creator: Option<String>,
    #[serde(default, deserialize_with = "nullable")]
    pub is_archived: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub members: Vec<String>,
    #[serde(default, deserialize_with = "nullable")]
    pub purpose: Purpose,
}

/// The purpose of a channel.
#[derive(Debug, Default, Deserialize)]
pub struct Purpose {
    #[serde(default, deserialize_with = "nullable")]
    pub value: String,
}

#[derive(Debug, Deserialize)]
pub struct SlackMessage {
    pub ts: String,
    pub user: Option<String>,
    pub bot_id: Option<String>,
    pub username: Option<String>,
    /// The program that sent it, in newer exports.
    pub bot_profile: Option<SlackBot>,
    /// The sender's profile, also of people who are not in `users.json`.
    pub user_profile: Option<SlackProfile>,
    pub subtype: Option<String>,
    #[serde(default, deserialize_with = "nullable")]
    pub text: Option<String>,
    /// The text with its structure, which `text` lacks: a list of blocks.
    #[serde(default)]
    pub blocks: Value,
    pub thread_ts: Option<String>,
    pub edited: Option<Edited>,
    #[serde(default, deserialize_with = "nullable")]
    pub reactions: Vec<SlackReaction>,
    #[serde(default, deserialize_with = "nullable")]
    pub files: Vec<SlackFile>,
    pub file: Option<SlackFile>,
    #[serde(default, deserialize_with = "nullable")]
    pub attachments: Vec<SlackAttachment>,
    #[serde(default, deserialize_with = "nullable")]
    pub comment: Value,
}

/// A program that sends messages.
#[derive(Debug, Deserialize)]
pub struct SlackBot {
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
    #[serde(default, deserialize_with = "nullable")]
    pub icons: BotIcons,
}

/// The images of a program.
#[derive(Debug, Default, Deserialize)]
pub struct BotIcons {
    pub image_72: Option<String>,
}

/// The time of an edit.
#[derive(Debug, Deserialize)]
pub struct Edited {
    pub ts: String,
}

#[derive(Debug, Deserialize)]
pub struct SlackReaction {
    pub name: String,
    #[serde(default, deserialize_with = "nullable")]
    pub users: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct SlackFile {
    #[serde(default, deserialize_with = "nullable")]
    pub id: String,
    pub name: Option<String>,
    pub title: Option<String>,
    pub mode: Option<String>,
    pub file_access: Option<String>,
    pub mimetype: Option<String>,
    pub url_private: Option<String>,
    pub user: Option<String>,
}

/// A block that a program added to a message, a message that was passed on, or the preview of a link.
#[derive(Debug, Deserialize)]
pub struct SlackAttachment {
    pub fallback: Option<String>,
    pub text: Option<String>,
    pub pretext: Option<String>,
    title: Option<String>,
    title_link: Option<String>,
    pub image_url: Option<String>,
    /// The files of a message that was passed on.
    #[serde(default, deserialize_with = "nullable")]
    pub files: Vec<SlackFile>,
    #[serde(default)]
    pub blocks: Value,
    /// The address that is shown by a preview, or of the message that was passed on.
    pub from_url: Option<String>,
    pub app_unfurl_url: Option<String>,
    /// True for a message that was passed on.
    #[serde(default, deserialize_with = "nullable")]
    pub is_share: bool,
    #[serde(default)]
    pub fields: Value,
}

impl SlackAttachment {
    /// The title in Slack's markup, with the address that it links to.
    pub fn title(&self) -> Option<String> {
        let title = self.title.clone()?;
        let is_plain = |text: &str| !text.is_empty() && !text.contains(['<', '>', '\n']);
        let link = self.title_link.as_deref().filter(|link| link.contains("://") && !link.contains('|'));
        // Code would end the link.
        let label = title.replace('`', "");
        let link = link.filter(|link| is_plain(link) && is_plain(&label));
        Some(link.map_or(title, |link| format!("<{link}|{label}>")))
    }

    /// True for the preview of a link of the text.
    pub fn is_preview(&self) -> bool {
        !self.is_share && (self.from_url.is_some() || self.app_unfurl_url.is_some())
    }
}

/// The time of a message, without the rest of it.
#[derive(Debug, Deserialize)]
pub struct Stamp {
    pub ts: String,
}

/// A time: seconds and microseconds.
pub type Moment = (i64, u32);

/// The time of a message, from its `ts`.
pub fn moment(ts: &str) -> ImportResult<Moment> {
    seconds(ts).ok_or_else(|| ImportError::new(format!("{ts} is no time of Slack")))
}

/// Seconds and microseconds of a `ts`.
pub fn seconds(ts: &str) -> Option<Moment> {
    let (seconds, micros) = ts.split_once('.').unwrap_or((ts, "0"));
    let seconds = seconds.parse().ok().filter(|seconds| (0..=LAST_SECOND).contains(seconds))?;
    Some((seconds, format!("{micros:0<6}").get(..6)?.parse().ok()?))
}
