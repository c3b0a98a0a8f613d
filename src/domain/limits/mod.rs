//! Limits. The rules enforce these constants, and `POST /register` announces those that clients are told. The others keep
//! one person from using up the server: far above what people need, and below what others would notice. What is said of a
//! user counts for a person with all their bots: see [`Accounts`].

mod accounts;
pub mod organization;

pub use accounts::Accounts;

use crate::http::{ApiError, ApiResult};

/// Refuses a number of things that is beyond a limit. `what` names them in the plural.
pub fn check(what: &str, count: usize, limit: usize) -> ApiResult<()> {
    if count <= limit {
        Ok(())
    } else {
        Err(ApiError::bad_request(format!("Too many {what} (limit: {limit})")))
    }
}

/// Refuses a text that has more characters than a limit. `what` is its parameter.
pub fn check_length(what: &str, text: &str, limit: usize) -> ApiResult<()> {
    check_size(what, text.chars().count(), limit, "characters")
}

/// Refuses JSON that has more bytes than a limit. `what` is its parameter.
pub fn check_json_length(what: &str, json: &str, limit: usize) -> ApiResult<()> {
    check_size(what, json.len(), limit, "bytes")
}

fn check_size(what: &str, length: usize, limit: usize, unit: &str) -> ApiResult<()> {
    if length <= limit {
        Ok(())
    } else {
        Err(ApiError::bad_request(format!("{what} is too long (limit: {limit} {unit})")))
    }
}

/// How long the drafts of a user may be together, in bytes; likewise saved snippets, scheduled messages with their HTML, and
/// reminders with theirs. Clients get all of a kind in one answer.
pub const MAX_OWNED_LENGTH: usize = 8 << 20;

/// The maximum length of a message, in characters.
pub const MAX_MESSAGE_LENGTH: usize = 10_000;

/// The maximum length of the HTML of a message, in bytes. Descriptions have a limit of their own.
pub const MAX_RENDERED_LENGTH: usize = 100 * MAX_MESSAGE_LENGTH;

/// The same for people who are not administrators. A message of 10,000 characters with code, tables, lists and links has up
/// to 150 KB; one of emoji alone has a megabyte, and takes twice that in the file.
pub const MAX_RENDERED_LENGTH_OF_MEMBERS: usize = 250_000;

/// The maximum length of the HTML of a description, in bytes. Everybody gets those of all channels in one answer.
pub const MAX_RENDERED_DESCRIPTION_LENGTH: usize = 32 << 10;

/// How long the descriptions of the channels that one user created may be together, in bytes of Markdown and HTML; also those
/// of administrators.
pub const MAX_DESCRIPTIONS_OF_CREATOR: usize = 2 << 20;

/// How many topics of a channel clients get, the newest. Everybody who may post can begin one with each message.
pub const MAX_SHOWN_TOPICS: usize = 10_000;

/// How many messages of a topic, and reactions to them, are searched for its participants, the newest. A message that
/// mentions the participants waits for it, and so does what is sent after it.
pub const MAX_PARTICIPANT_ROWS: u32 = 10_000;

/// How many unread messages clients get, the newest. What is marked as read beyond them is not listed either.
pub const MAX_SHOWN_UNREAD: usize = 50_000;

/// How many of their uploaded files users get, the newest. Empty ones count nothing against the quota.
pub const MAX_SHOWN_ATTACHMENTS: u32 = 10_000;

/// How many of the messages that link to an uploaded file its owner is told, the newest.
pub const MAX_SHOWN_LINKING_MESSAGES: u32 = 100;

/// How many edits of a message are kept, and how many moves: the newest, and the edit before which it was as sent. Bots may
/// edit a message thousands of times.
pub const MAX_EDITS: usize = 100;

/// How long the versions of a message before its edits may be together, in bytes of Markdown and HTML. Fewer edits are kept
/// of a message with longer versions, but always the last one.
pub const MAX_EDITS_LENGTH: usize = 2 * MAX_RENDERED_LENGTH;

/// The maximum length of a channel name, in characters.
pub const MAX_STREAM_NAME_LENGTH: usize = 60;

/// The maximum length of a channel description, in characters.
pub const MAX_STREAM_DESCRIPTION_LENGTH: usize = 1024;

/// The maximum length of a default channel group's description, in characters.
pub const MAX_DEFAULT_STREAM_GROUP_DESCRIPTION_LENGTH: usize = 1024;

/// The maximum length of a channel folder's name, in characters.
pub const MAX_CHANNEL_FOLDER_NAME_LENGTH: usize = 60;

/// The maximum length of a channel folder's description, in characters.
pub const MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH: usize = 1024;

/// The maximum length of a linkifier's pattern, in characters.
pub const MAX_LINKIFIER_PATTERN_LENGTH: usize = 1000;

/// The maximum length of the URL template of a linkifier or code playground, in characters.
pub const MAX_URL_TEMPLATE_LENGTH: usize = 2000;

/// The maximum length of a code playground's name, in characters.
pub const MAX_PLAYGROUND_NAME_LENGTH: usize = 100;

/// The maximum length of the name of a language of code, in characters.
pub const MAX_CODE_LANGUAGE_LENGTH: usize = 40;

/// The maximum length of a reminder's note, in characters.
pub const MAX_REMINDER_NOTE_LENGTH: usize = 1000;

/// Users get no message about a new subscription when more users than this are subscribed at once.
pub const MAX_BULK_NEW_SUBSCRIPTION_MESSAGES: usize = 100;

/// The maximum size of an uploaded avatar, in MiB.
pub const MAX_AVATAR_FILE_SIZE_MIB: usize = 5;

/// The maximum size of an uploaded organization icon, in MiB.
pub const MAX_ICON_FILE_SIZE_MIB: usize = 5;

/// The maximum size of an uploaded organization logo, in MiB.
pub const MAX_LOGO_FILE_SIZE_MIB: usize = 5;

/// The interval at which clients report presence, in seconds.
pub const PRESENCE_PING_INTERVAL_SECONDS: i64 = 60;

/// After this time without a report, in seconds, a user is offline.
pub const PRESENCE_OFFLINE_THRESHOLD_SECONDS: i64 = 200;

/// The default maximum size of an uploaded file, in MiB. `teamchat serve` can set another.
pub const MAX_FILE_UPLOAD_SIZE_MIB: u64 = 100;

/// How many channels one request may name to subscribe to, to create or to leave.
pub const MAX_CHANNELS_PER_REQUEST: usize = 500;

/// How many properties of subscriptions one request may change.
pub const MAX_PROPERTIES_PER_REQUEST: usize = 500;

/// How many subscriptions one request may ask for: channels times users.
pub const MAX_SUBSCRIPTIONS_PER_REQUEST: usize = 50_000;

/// How many channels a user may create who is not an administrator.
pub const MAX_CHANNELS_OF_CREATOR: usize = 500;

/// How many linkifiers an organization may have.
pub const MAX_LINKIFIERS: usize = 500;

/// How many code playgrounds an organization may have.
pub const MAX_PLAYGROUNDS: usize = 500;

/// How many custom profile fields an organization may have.
pub const MAX_PROFILE_FIELDS: usize = 100;

/// How many default channel groups an organization may have.
pub const MAX_DEFAULT_STREAM_GROUPS: usize = 200;

/// How many channel folders an organization may have, archived ones included.
pub const MAX_CHANNEL_FOLDERS: usize = 500;

/// How many email domains may join an organization.
pub const MAX_DOMAINS: usize = 1000;

/// How many email addresses one request may invite.
pub const MAX_EMAILS_PER_REQUEST: usize = 100;

/// How many groups an invitation may add people to.
pub const MAX_GROUPS_OF_INVITE: usize = 100;

/// How many usable invitations a user may have.
pub const MAX_INVITES: usize = 500;

/// How many people may join in a day by invitations of one who is not an administrator.
pub const MAX_JOINED_BY_INVITER: usize = 20;

/// How many API keys a user has. A new login beyond them ends the key that was not used for the longest time.
pub const MAX_API_KEYS: usize = 200;

/// How many sessions of browsers a person has. A new login beyond them ends the one that was not used for the longest time.
pub const MAX_SESSIONS: usize = 100;

/// How many alert words a user may have.
pub const MAX_ALERT_WORDS: usize = 300;

/// The maximum length of the id that a client gives to a message which it sends, in characters.
pub const MAX_LOCAL_ID_LENGTH: usize = 100;

/// The maximum length of a submessage's content, in characters.
pub const MAX_SUBMESSAGE_LENGTH: usize = 2000;

/// How many submessages one user may add to a message.
pub const MAX_SUBMESSAGES_OF_SENDER: usize = 500;

/// The maximum length of all submessages of a message together, in bytes: whoever loads the message gets all of them.
pub const MAX_SUBMESSAGES_LENGTH: usize = 500_000;

/// How long the submessages of one user to a message may be together, in bytes: others have room for theirs.
pub const MAX_SUBMESSAGES_LENGTH_OF_SENDER: usize = MAX_SUBMESSAGES_LENGTH / 10;

/// How many reactions one user may add to a message: whoever loads the message gets all of them.
pub const MAX_REACTIONS_OF_USER: usize = 100;

/// How many drafts a user may have.
pub const MAX_DRAFTS: usize = 2000;

/// How many saved snippets a user may have.
pub const MAX_SAVED_SNIPPETS: usize = 500;

/// How many scheduled messages of a user may wait.
pub const MAX_SCHEDULED_MESSAGES: usize = 500;

/// How many reminders of a user may wait.
pub const MAX_REMINDERS: usize = 500;

/// The maximum length of a user group's description, in characters. Everybody gets those of all groups in one answer.
pub const MAX_GROUP_DESCRIPTION_LENGTH: usize = 1024;

/// How many user groups a user may create who is not an administrator.
pub const MAX_GROUPS_OF_CREATOR: usize = 200;

/// How many people the value of a permission may name directly. Each value is stored as a group of its own.
pub const MAX_DIRECT_MEMBERS: usize = 500;

/// How many groups the value of a permission may name.
pub const MAX_DIRECT_SUBGROUPS: usize = 100;

/// How many people and groups the permissions of all channels that one request creates may name: each channel has values of
/// its own.
pub const MAX_PERMISSION_MEMBERS_PER_REQUEST: usize = 10_000;

/// How many subgroups one request may add to a group or remove from it. For each, all groups in it are looked up.
pub const MAX_SUBGROUPS_PER_REQUEST: usize = 100;

/// How many members and subgroups one request may add to a group or remove from it.
pub const MAX_GROUP_MEMBERS_PER_REQUEST: usize = 10_000;

/// How many messages of a sender are looked at when a user mutes them, to mark those as read that are unread; the newest.
/// Each is a row to read, wherever it was sent.
pub const MAX_MUTED_MESSAGES: u32 = 50_000;

/// How many topics a user may have muted, unmuted and followed.
pub const MAX_USER_TOPICS: usize = 5000;

/// At how many of those no topic is followed or unmuted by itself any more. Others can bring that about by mentioning a
/// user, who must still have room for what they choose.
pub const MAX_USER_TOPICS_BY_THEMSELVES: usize = 4000;

/// How many navigation views a user may have.
pub const MAX_NAVIGATION_VIEWS: usize = 200;

/// The maximum length of a navigation view's fragment and of its name, in characters.
pub const MAX_NAVIGATION_VIEW_LENGTH: usize = 500;

/// How many values of custom profile fields one request may set or delete.
pub const MAX_PROFILE_VALUES_PER_REQUEST: usize = 100;

/// How many people a value of a custom profile field may name.
pub const MAX_PROFILE_FIELD_USERS: usize = 100;

/// The maximum length of a custom profile field's options or URL pattern, in bytes of JSON.
pub const MAX_FIELD_DATA_LENGTH: usize = 64 << 10;

/// How many keys of a bot's storage one request may set, name or delete.
pub const MAX_BOT_STORAGE_KEYS_PER_REQUEST: usize = 1000;

/// The maximum size of a bot's keys and values together, in characters.
pub const MAX_BOT_STORAGE: usize = 10_000_000;

/// How many active bots a user may have made who is not an administrator, those that others own now included.
pub const MAX_BOTS_OF_OWNER: usize = 100;

/// How many bots a user may have made who is not an administrator, those that are deactivated included: everybody is told
/// of all.
pub const MAX_BOTS_EVER: usize = 500;

/// The maximum length of the URL of an outgoing webhook, in characters.
pub const MAX_PAYLOAD_URL_LENGTH: usize = 2000;

/// The maximum length of an incoming webhook's configuration, in bytes of JSON.
pub const MAX_CONFIG_DATA_LENGTH: usize = 16 << 10;

/// The maximum length of a custom emoji's name, in characters.
pub const MAX_EMOJI_NAME_LENGTH: usize = 100;

/// How many custom emoji a user may have added who is not an administrator, those that are deactivated included.
pub const MAX_EMOJI_OF_AUTHOR: usize = 500;

/// How many people one request may write to: the recipients of a message, draft or typing notification.
pub const MAX_RECIPIENTS: usize = 1000;

/// How many direct conversations users and their bots may have begun together when one of them begins another with several
/// people. All who are written to have it in their lists.
pub const MAX_DIRECT_CONVERSATIONS: usize = 5000;

/// How many messages one request may move, of somebody who is not a moderator. Each is written anew.
pub const MAX_MOVED_MESSAGES: usize = 5000;

/// How long the messages that one job moves or deletes may be together, in bytes of Markdown, HTML and earlier versions; a
/// single message may be longer. Moderators move as much as they want.
pub const MAX_REWRITTEN_LENGTH: i64 = 32 << 20;

/// How many user groups a message may mention: each is looked up, with its permission, while other senders wait. Who means
/// more people than that mentions everybody.
pub const MAX_MENTIONED_GROUPS: usize = 100;

/// How many terms a narrow may have.
pub const MAX_NARROW_TERMS: usize = 100;

/// The default maximum size of all uploaded files together, in MiB. `teamchat serve` can set another.
pub const UPLOAD_QUOTA_MIB: u64 = 10 * 1024;

/// Which part of the room for uploads a member's files may take, with those of their bots: a quarter. One file of the largest
/// size always fits. Administrators may use all of it.
pub const UPLOAD_SHARE_OF_MEMBER: u64 = 4;

/// The same for guests: an eighth.
pub const UPLOAD_SHARE_OF_GUEST: u64 = 8;
