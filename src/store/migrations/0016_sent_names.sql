-- What clients called the messages that they sent lately: a client that asks again for the same message gets its id.
CREATE TABLE sent_name (
    sender_id       INTEGER NOT NULL REFERENCES user (user_id),
    digest          BLOB    NOT NULL,             -- SHA-256 of the queue, the client's local id and the content
    message_id      INTEGER NOT NULL,             -- the message may be deleted since
    PRIMARY KEY (sender_id, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX sent_name_message ON sent_name (sender_id, message_id);
