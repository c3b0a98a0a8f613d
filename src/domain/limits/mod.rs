//! Limits. Rules enforce these constants, and `POST /register` announces those that are part of the interface. The
//! others keep one person from exhausting the server: far above normal use, and low enough not to affect others. Limits
//! of a user apply to a person with all their bots: see [`Accounts`].

mod accounts;
pub mod organization;

pub use accounts::{AccountSet, Accounts, quota_owner};

use crate::error::{ApiError, ApiResult};

/// Checks a number of objects against a limit. `what` names them in the plural.
pub fn check(what: &str, count: usize, limit: usize) -> ApiResult<()> {
    if count <= limit { Ok(()) } else { Err(too_many(what, limit)) }
}

fn too_many(what: &str, limit: usize) -> ApiError {
    ApiError::bad_request(format!("Too many {what} (limit: {limit})"))
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

/// Maximum total length of a user's drafts in bytes; also of saved snippets, of scheduled messages with their HTML, and
/// of reminders with theirs. Clients receive all of a kind in one answer.
pub const MAX_OWNED_LENGTH: usize = 8 << 20;

/// Maximum number of emails that wait for the mail server.
pub const MAX_WAITING_MAIL: i64 = 20_000;

/// The maximum length of a message, in characters.
pub const MAX_MESSAGE_LENGTH: usize = 10_000;

/// The maximum length of the HTML of a message, in bytes. Descriptions have a limit of their own.
pub const MAX_RENDERED_LENGTH: usize = 100 * MAX_MESSAGE_LENGTH;

/// The maximum length of the HTML of messages by people who are not administrators, in bytes. A message of 10,000 characters with
/// code, tables, lists and links has up to 150 KB; one of emoji alone has a megabyte, and takes twice that in the file.
pub const MAX_RENDERED_LENGTH_OF_MEMBERS: usize = 250_000;

/// The maximum length of the HTML of a description, in bytes. Clients receive all descriptions in one response.
pub const MAX_RENDERED_DESCRIPTION_LENGTH: usize = 32 << 10;

/// Maximum total length of the descriptions of channels created by one user, in bytes of Markdown and HTML; also for
/// administrators.
pub const MAX_DESCRIPTIONS_OF_CREATOR: usize = 2 << 20;

/// Number of topics of a channel that clients receive, the newest. Anyone who may post can start one with each message.
pub const MAX_SHOWN_TOPICS: usize = 10_000;

/// Number of messages of a topic, and of reactions to them, that are searched for participants, the newest. Sending a
/// mention of the participants waits for the search, and so do later messages.
pub const MAX_PARTICIPANT_ROWS: u32 = 10_000;

/// Number of unread messages that clients receive, the newest. Events of messages marked as read list no more either.
pub const MAX_SHOWN_UNREAD: usize = 50_000;

/// Number of their uploaded files that users receive, the newest. Empty ones do not count against the quota.
pub const MAX_SHOWN_ATTACHMENTS: u32 = 10_000;

/// Maximum number of messages in the list of those that link to an uploaded file: the newest.
pub const MAX_SHOWN_LINKING_MESSAGES: u32 = 100;

/// Maximum number of messages that are looked at to find out which files of others a message may share, the newest of each file.
/// Other changes wait meanwhile, and a message can link to hundreds of files, each of which thousands of messages link to.
pub const MAX_LOOKED_UP_MESSAGES: usize = 10_000;

/// Maximum number of stored edits of a message, and of moves: the newest, and the edit with the original version. Bots
/// may edit a message thousands of times.
pub const MAX_EDITS: usize = 100;

/// Maximum total length of the versions of a message before its edits, in bytes of Markdown and HTML. Fewer edits are
/// stored of a message with longer versions, but always the last one.
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

/// Maximum number of channels in one request to subscribe, create or leave.
pub const MAX_CHANNELS_PER_REQUEST: usize = 500;

/// Maximum number of subscription properties changed by one request.
pub const MAX_PROPERTIES_PER_REQUEST: usize = 500;

/// Maximum number of subscriptions in one request of an administrator: channels times users. They are changed by several
/// jobs ([`channel_commands::parts`](super::channel_commands::parts)).
pub const MAX_SUBSCRIPTIONS_PER_REQUEST: usize = 50_000;

/// Maximum number of subscriptions in one request of a user who is not an administrator: enough for 500 users and 20 channels, or
/// for a channel with 10,000 subscribers.
pub const MAX_SUBSCRIPTIONS_PER_REQUEST_OF_MEMBER: usize = 10_000;

/// Maximum number of channels created by a user who is not an administrator.
pub const MAX_CHANNELS_OF_CREATOR: usize = 500;

/// Maximum number of linkifiers of an organization.
pub const MAX_LINKIFIERS: usize = 500;

/// Maximum number of code playgrounds of an organization.
pub const MAX_PLAYGROUNDS: usize = 500;

/// Maximum number of custom profile fields of an organization.
pub const MAX_PROFILE_FIELDS: usize = 100;

/// Maximum number of default channel groups of an organization.
pub const MAX_DEFAULT_STREAM_GROUPS: usize = 200;

/// Maximum number of channel folders of an organization, including archived ones.
pub const MAX_CHANNEL_FOLDERS: usize = 500;

/// Maximum number of allowed email domains of an organization.
pub const MAX_DOMAINS: usize = 1000;

/// Maximum number of email addresses invited by one request.
pub const MAX_EMAILS_PER_REQUEST: usize = 100;

/// Maximum number of groups of an invitation.
pub const MAX_GROUPS_OF_INVITE: usize = 100;

/// Maximum number of notices that one person causes in a day to another person, or in a channel, with the notice that
/// further ones are left out.
pub const MAX_CAUSED_NOTICES: u32 = 30;

/// Maximum number of usable invitations of a user.
pub const MAX_INVITES: usize = 500;

/// Maximum number of users who join in a day by invitations of a user who is not an administrator, and by those of the new
/// accounts that came by them.
pub const MAX_JOINED_BY_INVITER: usize = 20;

/// Maximum number of API keys of a user. A further login ends the key that was unused for the longest time.
pub const MAX_API_KEYS: usize = 200;

/// Maximum number of sessions of a person. A further login ends the session that was unused for the longest time.
pub const MAX_SESSIONS: usize = 100;

/// Maximum number of Web Push subscriptions of a person. A further one ends the oldest.
pub const MAX_PUSH_SUBSCRIPTIONS: usize = 20;

/// Maximum number of phones of a person that get push notifications. A further one ends the oldest.
pub const MAX_PUSH_DEVICES: usize = 20;

/// Maximum number of messages that phones show for one conversation, the newest: as many can be taken back at once.
pub const MAX_SHOWN_ON_PHONES: u64 = 200;

/// Maximum number of conversations for which a subscription has notifications. A further one removes the oldest.
pub const MAX_PUSH_NOTIFICATIONS: usize = 100;

/// Maximum number of messages that one notification is about, the newest.
pub const MAX_MESSAGES_OF_NOTIFICATION: u64 = 100;

/// Maximum number of messages of which a user is notified when their clients are gone, the newest.
pub const MAX_HELD_MESSAGES: usize = 100;

/// Maximum number of messages whose notifications wait for the decision, for each medium. On a busy server, the decision about
/// a mention of thousands of people takes seconds, in which thousands of other messages are sent.
pub const MAX_WAITING_MESSAGES: i64 = 100_000;

/// Maximum number of messages that wait for one mail time of a person, the newest.
pub const MAX_MISSED_MESSAGES: i64 = 10_000;

/// Maximum number of alert words of a user.
pub const MAX_ALERT_WORDS: usize = 300;

/// The maximum length of the id that a client gives to a message which it sends, in characters.
pub const MAX_LOCAL_ID_LENGTH: usize = 100;

/// The maximum length of a submessage's content, in characters.
pub const MAX_SUBMESSAGE_LENGTH: usize = 2000;

/// Maximum number of submessages that one user adds to a message.
pub const MAX_SUBMESSAGES_OF_SENDER: usize = 500;

/// The maximum length of all submessages of a message together, in bytes: clients receive all of them with the message.
pub const MAX_SUBMESSAGES_LENGTH: usize = 500_000;

/// Maximum total length of the submessages of one user to a message, in bytes, which leaves room for others.
pub const MAX_SUBMESSAGES_LENGTH_OF_SENDER: usize = MAX_SUBMESSAGES_LENGTH / 10;

/// Maximum number of reactions that one user adds to a message: clients receive all of them with the message.
pub const MAX_REACTIONS_OF_USER: usize = 100;

/// Maximum number of drafts of a user.
pub const MAX_DRAFTS: usize = 2000;

/// Maximum number of saved snippets of a user.
pub const MAX_SAVED_SNIPPETS: usize = 500;

/// Maximum number of pending scheduled messages of a user.
pub const MAX_SCHEDULED_MESSAGES: usize = 500;

/// Maximum number of pending reminders of a user.
pub const MAX_REMINDERS: usize = 500;

/// The maximum length of a user group's description, in characters. Clients receive all descriptions in one response.
pub const MAX_GROUP_DESCRIPTION_LENGTH: usize = 1024;

/// Maximum number of user groups created by a user who is not an administrator.
pub const MAX_GROUPS_OF_CREATOR: usize = 200;

/// Maximum number of users named directly in the value of a permission. Each value is stored as a group of its own.
pub const MAX_DIRECT_MEMBERS: usize = 500;

/// Maximum number of groups in the value of a permission.
pub const MAX_DIRECT_SUBGROUPS: usize = 100;

/// Maximum number of users and groups in the permissions of all channels created by one request: each channel has its
/// own values.
pub const MAX_PERMISSION_MEMBERS_PER_REQUEST: usize = 10_000;

/// Maximum number of subgroups that one request adds or removes. For each, all groups in it are looked up.
pub const MAX_SUBGROUPS_PER_REQUEST: usize = 100;

/// Maximum number of members and subgroups that one request of an administrator adds to a group or removes from it.
pub const MAX_GROUP_MEMBERS_PER_REQUEST: usize = 10_000;

/// Maximum number of members and subgroups in one request of a user who is not an administrator: other changes wait meanwhile.
pub const MAX_GROUP_MEMBERS_PER_REQUEST_OF_MEMBER: usize = 2000;

/// Users get no message about a group when more users than this are added or removed at once.
pub const MAX_BULK_GROUP_MESSAGES: usize = 100;

/// Maximum number of messages of a muted sender that are checked to mark unread ones as read, the newest. Each is a row
/// to read.
pub const MAX_MUTED_MESSAGES: u32 = 50_000;

/// Maximum number of topic policies of a user.
pub const MAX_USER_TOPICS: usize = 5000;

/// Number of topic policies of a user at which no topic is followed or unmuted automatically any more. Others can cause
/// this by mentioning the user, who must still be able to choose policies.
pub const MAX_USER_TOPICS_BY_THEMSELVES: usize = 4000;

/// Maximum number of navigation views of a user.
pub const MAX_NAVIGATION_VIEWS: usize = 200;

/// The maximum length of a navigation view's fragment and of its name, in characters.
pub const MAX_NAVIGATION_VIEW_LENGTH: usize = 500;

/// Maximum number of profile values set or deleted by one request.
pub const MAX_PROFILE_VALUES_PER_REQUEST: usize = 100;

/// Maximum number of users in a value of a custom profile field.
pub const MAX_PROFILE_FIELD_USERS: usize = 100;

/// The maximum length of a custom profile field's options or URL pattern, in bytes of JSON.
pub const MAX_FIELD_DATA_LENGTH: usize = 64 << 10;

/// Maximum number of keys of a bot's storage set, read or deleted by one request.
pub const MAX_BOT_STORAGE_KEYS_PER_REQUEST: usize = 1000;

/// The maximum size of the keys and values of a person's bots together, in characters.
pub const MAX_BOT_STORAGE: usize = 10_000_000;

/// Maximum number of keys of a person's bots together. They are counted when one is added, and other changes wait meanwhile.
pub const MAX_BOT_STORAGE_KEYS: usize = 10_000;

/// Maximum number of active bots created by a user who is not an administrator, including those with another owner.
pub const MAX_BOTS_OF_OWNER: usize = 100;

/// Maximum number of bots ever created by a user who is not an administrator: clients receive deactivated ones too.
pub const MAX_BOTS_EVER: usize = 500;

/// Maximum number of outgoing webhook bots to which a message is posted, the oldest. Each may reply to it.
pub const MAX_BOTS_CALLED: usize = 10;

/// Maximum number of messages that wait to be posted, for all outgoing webhook bots of a person. Further ones are not
/// posted.
pub const MAX_WAITING_WEBHOOKS: usize = 200;

/// Maximum number of them from one other person.
pub const MAX_WAITING_WEBHOOKS_OF_SENDER: usize = MAX_WAITING_WEBHOOKS / 4;

/// The maximum length of the URL of an outgoing webhook, in characters.
pub const MAX_PAYLOAD_URL_LENGTH: usize = 2000;

/// The maximum length of an incoming webhook's configuration, in bytes of JSON.
pub const MAX_CONFIG_DATA_LENGTH: usize = 16 << 10;

/// The maximum length of a custom emoji's name, in characters.
pub const MAX_EMOJI_NAME_LENGTH: usize = 100;

/// Maximum number of custom emoji added by a user who is not an administrator, including deactivated ones.
pub const MAX_EMOJI_OF_AUTHOR: usize = 500;

/// Maximum number of recipients of a message, draft or typing notification.
pub const MAX_RECIPIENTS: usize = 1000;

/// Number of direct conversations started by a user and their bots at which they cannot start another one with several
/// people. All participants have it in their lists.
pub const MAX_DIRECT_CONVERSATIONS: usize = 5000;

/// Number of participants of all direct conversations started by a user and their bots at which they cannot start another one
/// with several people. Where guests cannot access all users, changes of subscriptions read those of the guests.
pub const MAX_DIRECT_PARTICIPANTS: usize = 100_000;

/// Maximum number of messages moved by one request of a user who is not a moderator. Each is rewritten.
pub const MAX_MOVED_MESSAGES: usize = 5000;

/// Maximum number of different sets of receivers of the messages that were moved to a channel. Everyone who reads the channel
/// reads all of them.
pub const MAX_SETS_OF_RECEIVERS: usize = 500;

/// Number of periods in which a user received messages of a channel from which on a message that they receive without being
/// subscribed extends one nearby. Changes of messages read the periods of all users.
pub const MAX_SEPARATE_SPANS: usize = 100;

/// The largest difference between the ids of such a message and of the period that it extends.
pub const MAX_SPAN_DISTANCE: i64 = 10_000;

/// Maximum total length of the messages moved by one job, in bytes of Markdown, HTML and earlier versions; a single message
/// may be longer. Other changes wait for about a second meanwhile. Moves by moderators are not limited.
pub const MAX_REWRITTEN_LENGTH: i64 = 8 << 20;

/// Maximum total length, in bytes, of the messages deleted in one step of a job, which asks before each step whether it has time
/// for it. Rows and words count as the bytes that take as long.
pub const MAX_DELETED_LENGTH: i64 = 64 << 10;

/// Maximum number of user groups mentioned in a message: each is looked up, with its permission, while other senders
/// wait. A wildcard mention reaches more people.
pub const MAX_MENTIONED_GROUPS: usize = 100;

/// Maximum number of terms of a narrow.
pub const MAX_NARROW_TERMS: usize = 100;

/// The default maximum size of all uploaded files together, in MiB. `teamchat serve` can set another.
pub const UPLOAD_QUOTA_MIB: u64 = 10 * 1024;

/// Maximum number of uploaded files of a user who is not an administrator: empty ones take no space of the quota.
pub const MAX_FILES: usize = 50_000;

/// A member's share of the upload quota, with those of their bots: a quarter. One file of the largest size always fits.
/// Administrators may use all of it.
pub const UPLOAD_SHARE_OF_MEMBER: u64 = 4;

/// A guest's share of the upload quota, with that of their bots: an eighth.
pub const UPLOAD_SHARE_OF_GUEST: u64 = 8;
