-- What the whole organization needs beside its messages. The tables are explained in schema.sql.

-- Uploaded files. Until now there were none, whatever messages linked to.
UPDATE message SET attributes = attributes & ~16 WHERE attributes & 16;
CREATE TABLE upload_content (
    content_id      INTEGER PRIMARY KEY AUTOINCREMENT,
    removed_from    INTEGER
) STRICT;
CREATE INDEX upload_content_removed_from ON upload_content (removed_from) WHERE removed_from IS NOT NULL;
CREATE TABLE upload_piece (
    content_id      INTEGER NOT NULL REFERENCES upload_content (content_id),
    number          INTEGER NOT NULL,
    bytes           BLOB    NOT NULL,
    PRIMARY KEY (content_id, number)
) STRICT;
CREATE TABLE attachment (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    path_id         TEXT    NOT NULL UNIQUE,
    name            TEXT    NOT NULL,
    content_type    TEXT    NOT NULL,
    size            INTEGER NOT NULL,
    create_time     INTEGER NOT NULL,
    content_id      INTEGER NOT NULL UNIQUE REFERENCES upload_content (content_id),
    width           INTEGER,
    height          INTEGER,
    unclaimed_since INTEGER
) STRICT;
CREATE INDEX attachment_user ON attachment (user_id);
CREATE INDEX attachment_unclaimed ON attachment (unclaimed_since) WHERE unclaimed_since IS NOT NULL;
CREATE TABLE thumbnail (
    attachment_id   INTEGER NOT NULL REFERENCES attachment (id),
    format          TEXT    NOT NULL,
    bytes           BLOB    NOT NULL,
    PRIMARY KEY (attachment_id, format)
) STRICT;
CREATE TABLE attachment_message (
    attachment_id   INTEGER NOT NULL REFERENCES attachment (id),
    message_id      INTEGER NOT NULL REFERENCES message (id),
    PRIMARY KEY (attachment_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachment_message_message ON attachment_message (message_id);
CREATE TABLE attachment_scheduled_message (
    attachment_id           INTEGER NOT NULL REFERENCES attachment (id),
    scheduled_message_id    INTEGER NOT NULL REFERENCES scheduled_message (scheduled_message_id),
    PRIMARY KEY (attachment_id, scheduled_message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachment_scheduled_message_message ON attachment_scheduled_message (scheduled_message_id);
CREATE TABLE upload_state (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    space_used      INTEGER NOT NULL,
    secret          BLOB    NOT NULL
) STRICT;
