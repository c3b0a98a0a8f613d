//! Limits that `POST /register` announces. The rules enforce these constants.

/// The maximum length of a message, in characters.
pub const MAX_MESSAGE_LENGTH: usize = 10_000;

/// The maximum length of a channel name, in characters.
pub const MAX_STREAM_NAME_LENGTH: usize = 60;

/// The maximum length of a channel description, in characters.
pub const MAX_STREAM_DESCRIPTION_LENGTH: usize = 1024;

/// The maximum length of a channel folder's name, in characters.
pub const MAX_CHANNEL_FOLDER_NAME_LENGTH: usize = 60;

/// The maximum length of a channel folder's description, in characters.
pub const MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH: usize = 1024;

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
