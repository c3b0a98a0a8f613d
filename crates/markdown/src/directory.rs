//! The renderer's interface to the organization: names of users, groups and channels, files, and settings.

use std::time::Duration;

use super::linkifiers::Linkifier;

/// Reference to a user in a mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserQuery<'a> {
    /// `@**|id**`
    Id(i64),
    /// `@**Full Name**`: compared without regard to case.
    FullName(&'a str),
    /// `@**Full Name|id**`: both must belong to the same user.
    FullNameAndId(&'a str, i64),
}

/// A user who can be mentioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionedUser {
    /// The user's id.
    pub user_id: i64,
    /// The name that is shown.
    pub full_name: String,
    /// Inactive users are mentioned silently in any case.
    pub is_active: bool,
}

/// A group that can be mentioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionedGroup {
    /// The group's id.
    pub group_id: i64,
    /// The displayed name: for a system group its display name, not `role:...`.
    pub name: String,
    /// Deactivated groups are mentioned silently in any case.
    pub is_active: bool,
}

/// A channel that the sender may link to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedChannel {
    /// The channel's id.
    pub stream_id: i64,
    /// Its name, as it is shown.
    pub name: String,
}

/// A custom emoji that is not deactivated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomEmoji {
    /// Its id, which is the `emoji_code` of reactions.
    pub emoji_id: i64,
    /// The `source_url` of the emoji, relative to the server.
    pub source_url: String,
}

/// The facts about an uploaded file that decide how a link to it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedFile {
    /// Media type, for example `image/png`.
    pub content_type: String,
    /// Width and height in pixels, of an image whose size is known.
    pub dimensions: Option<(u32, u32)>,
    /// True for an animated image, and its smaller version.
    pub is_animated: bool,
    /// URL of a smaller version, relative to the server; without one the original is shown.
    pub thumbnail_url: Option<String>,
}

/// The organization as the sender of the message may see it.
///
/// Most methods have a default for an organization without such objects.
pub trait Directory {
    /// Returns the user of a mention; `None` if there is none or the name is ambiguous.
    fn user(&self, _wanted: UserQuery<'_>) -> Option<MentionedUser> {
        None
    }

    /// Returns a group by its name.
    fn group(&self, _name: &str) -> Option<MentionedGroup> {
        None
    }

    /// Returns a channel by its name, if the sender can access it.
    fn channel(&self, _name: &str) -> Option<LinkedChannel> {
        None
    }

    /// Returns the id of the newest message of a topic that the sender can access: with it, a link to the topic survives a move.
    fn newest_message_in_topic(&self, _stream_id: i64, _topic: &str) -> Option<i64> {
        None
    }

    /// Returns a custom emoji by its name.
    fn custom_emoji(&self, _name: &str) -> Option<CustomEmoji> {
        None
    }

    /// Returns an uploaded file by its path id (the part after `/user_uploads/`).
    fn uploaded_file(&self, _path_id: &str) -> Option<UploadedFile> {
        None
    }

    /// Returns the URL from which clients load an external picture or video: the URL itself, or that of a proxy.
    fn external_media_url(&self, url: &str) -> String {
        url.to_owned()
    }

    /// Returns the linkifiers, in order of precedence.
    fn linkifiers(&self) -> &[Linkifier] {
        &[]
    }

    /// Returns the URL of the organization without a slash at the end; links to it become relative.
    fn realm_url(&self) -> &str;

    /// Returns the display name of the empty topic (`realm_empty_topic_display_name`).
    fn empty_topic_display_name(&self) -> &str;

    /// Returns the language of fences that name none (`realm_default_code_block_language`); empty for plain text.
    fn default_code_block_language(&self) -> &str;

    /// Checks whether links to pictures and videos get a preview (`realm_inline_image_preview`).
    fn previews_media(&self) -> bool {
        true
    }

    /// Checks whether the sender wants `:)` to become an emoji (`translate_emoticons`).
    fn translates_emoticons(&self) -> bool {
        false
    }

    /// Returns a limit of the time for formulas, beside that of each message: several messages may have one together.
    fn time_for_formulas(&self) -> Duration {
        Duration::MAX
    }
}

/// An organization without users, channels and settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDirectory;

impl Directory for NoDirectory {
    fn realm_url(&self) -> &'static str {
        ""
    }

    fn empty_topic_display_name(&self) -> &'static str {
        "general chat"
    }

    fn default_code_block_language(&self) -> &'static str {
        ""
    }
}
