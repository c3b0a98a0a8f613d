//! Limits that `POST /register` announces. The rules enforce these constants.

/// The longest message, in characters.
pub const MAX_MESSAGE_LENGTH: usize = 10_000;

/// The longest channel name, in characters.
pub const MAX_STREAM_NAME_LENGTH: usize = 60;

/// The longest channel description, in characters.
pub const MAX_STREAM_DESCRIPTION_LENGTH: usize = 1024;

/// The longest name of a channel folder, in characters.
pub const MAX_CHANNEL_FOLDER_NAME_LENGTH: usize = 60;

/// The longest description of a channel folder, in characters.
pub const MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH: usize = 1024;

/// The longest note of a reminder, in characters.
pub const MAX_REMINDER_NOTE_LENGTH: usize = 1000;

/// Users get no message about a new subscription when more users than this are subscribed at once.
pub const MAX_BULK_NEW_SUBSCRIPTION_MESSAGES: usize = 100;

/// The largest avatar, in MiB.
pub const MAX_AVATAR_FILE_SIZE_MIB: usize = 5;

/// The largest organization icon, in MiB.
pub const MAX_ICON_FILE_SIZE_MIB: usize = 5;

/// The largest organization logo, in MiB.
pub const MAX_LOGO_FILE_SIZE_MIB: usize = 5;

/// Clients report presence this often, in seconds.
pub const PRESENCE_PING_INTERVAL_SECONDS: i64 = 60;

/// After so many seconds without a report a user is offline.
pub const PRESENCE_OFFLINE_THRESHOLD_SECONDS: i64 = 200;

/// The largest upload in MiB, unless whoever starts the server says otherwise.
pub const MAX_FILE_UPLOAD_SIZE_MIB: u64 = 100;
