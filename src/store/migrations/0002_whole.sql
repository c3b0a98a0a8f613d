-- What the whole organization needs beside its messages. The tables are explained in schema.sql.

-- Addresses of channels.
CREATE TABLE channel_email_address (
    stream_id       INTEGER NOT NULL REFERENCES stream (stream_id),
    creator_id      INTEGER NOT NULL REFERENCES user (user_id),
    sender_id       INTEGER NOT NULL REFERENCES user (user_id),
    token           TEXT    NOT NULL UNIQUE,
    PRIMARY KEY (stream_id, creator_id, sender_id)
) STRICT, WITHOUT ROWID;
