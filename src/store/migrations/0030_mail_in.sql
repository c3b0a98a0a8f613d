-- Email addresses of channels: for each person who asked for one, and each sender of the messages. The interface shows an
-- address again, so the token is readable.
CREATE TABLE channel_email (
    token           TEXT    PRIMARY KEY,          -- 32 hexadecimal digits, the secret part of the address
    stream_id       INTEGER NOT NULL REFERENCES stream (stream_id),
    asker_id        INTEGER NOT NULL REFERENCES user (user_id), -- whose permissions messages of the gateway's bot have
    sender_id       INTEGER NOT NULL REFERENCES user (user_id),
    UNIQUE (stream_id, asker_id, sender_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_email_asker ON channel_email (asker_id);

-- Addresses at which mails about messages are answered. A row goes with its message.
CREATE TABLE reply_email (
    digest          BLOB    PRIMARY KEY,          -- SHA-256 of the token in the address
    user_id         INTEGER NOT NULL REFERENCES user (user_id), -- who got the mail, and is the author of answers
    message_id      INTEGER NOT NULL REFERENCES message (id), -- answers go to the conversation that it is in
    times_used      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX reply_email_message ON reply_email (message_id);
CREATE INDEX reply_email_user ON reply_email (user_id);
