-- The key pair with which the server identifies itself to push services (RFC 8292): one row, made on first use. A browser
-- subscribes for this key, so another one would make all subscriptions useless.
CREATE TABLE push_key (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    private_key     BLOB    NOT NULL              -- PKCS #8
) STRICT;

-- Web Push subscriptions of browsers (RFC 8030), at most one for each session, with which they end.
CREATE TABLE push_subscription (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id      INTEGER NOT NULL UNIQUE REFERENCES session (id) ON DELETE CASCADE,
    endpoint        TEXT    NOT NULL UNIQUE,      -- the address at the push service; whoever knows it may send there
    public_key      BLOB    NOT NULL,             -- the browser's, an uncompressed point of P-256
    auth_secret     BLOB    NOT NULL,
    shows_content   INTEGER NOT NULL,             -- 0: notifications have no names and no texts
    origin          TEXT    NOT NULL,             -- scheme and host of the page that subscribed
    failing_since   INTEGER                       -- UNIX seconds; null if the last attempt succeeded
) STRICT;

-- Messages whose notifications are to be decided: inserted with the message, or with an edit that mentions users, and deleted
-- as soon as the decisions are made. Without a Web Push subscription there are none.
CREATE TABLE push_message (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id      INTEGER NOT NULL,             -- the message may be deleted since
    edited_by       INTEGER REFERENCES user (user_id), -- null: it is a new message
    known_to        BLOB                          -- of edits: a set of the users who were mentioned before
) STRICT;

-- Messages for users who get push notifications only while they are away. A notification waits here, because an event queue of
-- the user may still deliver the message.
CREATE TABLE push_held (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    message_id      INTEGER NOT NULL,             -- the message may be deleted since
    event_id        INTEGER NOT NULL,             -- a queue that has this event has delivered the message
    next_check      INTEGER NOT NULL,             -- UNIX seconds
    PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX push_held_check ON push_held (next_check);

-- Notifications of subscriptions, one for each conversation: those that wait for the push service, and those that the browser
-- may still show.
CREATE TABLE push_notification (
    subscription_id INTEGER NOT NULL REFERENCES push_subscription (id) ON DELETE CASCADE,
    tag             TEXT    NOT NULL,             -- names the conversation in the browser
    message_ids     BLOB    NOT NULL,             -- the set of messages that it is about, some of which may be deleted since
    is_shown        INTEGER NOT NULL DEFAULT 0,   -- 1: the push service accepted one with this tag
    queued          INTEGER NOT NULL,             -- when its newest message was added, in UNIX seconds
    failed_tries    INTEGER NOT NULL DEFAULT 0,
    next_try        INTEGER,                      -- UNIX seconds; null: the push service has all of it
    PRIMARY KEY (subscription_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX push_notification_due ON push_notification (next_try) WHERE next_try IS NOT NULL;
