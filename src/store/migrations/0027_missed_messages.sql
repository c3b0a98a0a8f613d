-- Messages of which it is to be decided who gets mail: inserted with the message, or with an edit that mentions users, and deleted
-- as soon as the decisions are made. A server without mail has none.
CREATE TABLE mail_message (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id      INTEGER NOT NULL,             -- the message may be deleted since
    edited_by       INTEGER REFERENCES user (user_id), -- null: it is a new message
    known_to        BLOB                          -- of edits: a set of the users who were mentioned before
) STRICT;

-- Messages for users who are not away: an event queue of theirs may still deliver the message, and else they get mail.
CREATE TABLE mail_held (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    message_id      INTEGER NOT NULL,             -- the message may be deleted since
    event_id        INTEGER NOT NULL,             -- a queue that has this event has delivered the message
    next_check      INTEGER NOT NULL,             -- UNIX seconds
    PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_held_check ON mail_held (next_check);

-- The messages that a person missed are collected until a time, which the first of them sets. Then there is a letter about each
-- conversation, and the batch is deleted.
CREATE TABLE missed_batch (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    due             INTEGER NOT NULL,             -- UNIX seconds
    count           INTEGER NOT NULL DEFAULT 0    -- of its messages
) STRICT;
CREATE INDEX missed_batch_user ON missed_batch (user_id, due);
CREATE INDEX missed_batch_due ON missed_batch (due);

-- The messages of batches. A letter is queued in the transaction that deletes its messages.
CREATE TABLE missed_message (
    batch_id        INTEGER NOT NULL REFERENCES missed_batch (id),
    message_id      INTEGER NOT NULL,             -- the message may be deleted since
    PRIMARY KEY (batch_id, message_id)
) STRICT, WITHOUT ROWID;

-- People who get mail about all messages of a channel: few of its subscribers, who are found without reading the others.
CREATE INDEX subscription_mailed ON subscription (stream_id, user_id, active) WHERE active AND email_notifications;
CREATE INDEX user_setting_mailed ON user_setting (user_id)
    WHERE property = 'enable_stream_email_notifications' AND value = 'true';

-- When the digests of people were last composed, also if there was nothing to send.
CREATE TABLE digest (
    user_id         INTEGER PRIMARY KEY REFERENCES user (user_id),
    sent            INTEGER NOT NULL              -- UNIX seconds
) STRICT;
