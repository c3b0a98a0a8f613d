-- What the whole organization needs beside its messages. The tables are explained in schema.sql.

-- People: profile fields, presence, status, muting. Folders of channels.
CREATE TABLE profile_field (
    id                          INTEGER PRIMARY KEY AUTOINCREMENT,
    name                        TEXT    NOT NULL UNIQUE,
    type                        INTEGER NOT NULL CHECK (type BETWEEN 1 AND 8),
    hint                        TEXT    NOT NULL,
    field_data                  TEXT    NOT NULL,
    position                    INTEGER NOT NULL,
    required                    INTEGER NOT NULL,
    editable_by_user            INTEGER NOT NULL,
    display_in_profile_summary  INTEGER NOT NULL
) STRICT;

CREATE TABLE profile_value (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    field_id        INTEGER NOT NULL REFERENCES profile_field (id),
    value           TEXT    NOT NULL,
    rendered_value  TEXT,
    PRIMARY KEY (user_id, field_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX profile_value_field ON profile_value (field_id);

CREATE TABLE presence (
    user_id             INTEGER PRIMARY KEY REFERENCES user (user_id),
    last_active_time    INTEGER,
    last_connected_time INTEGER NOT NULL,
    update_id           INTEGER NOT NULL UNIQUE
) STRICT;

CREATE TABLE user_status (
    user_id         INTEGER PRIMARY KEY REFERENCES user (user_id),
    status_text     TEXT    NOT NULL,
    emoji_name      TEXT    NOT NULL,
    emoji_code      TEXT    NOT NULL,
    reaction_type   TEXT    NOT NULL
) STRICT;

CREATE TABLE muted_user (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    muted_user_id   INTEGER NOT NULL REFERENCES user (user_id),
    date_muted      INTEGER NOT NULL,
    PRIMARY KEY (user_id, muted_user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX muted_user_muted ON muted_user (muted_user_id);

CREATE TABLE channel_folder (
    id                      INTEGER PRIMARY KEY AUTOINCREMENT,
    name                    TEXT    NOT NULL,
    name_key                TEXT    NOT NULL,
    description             TEXT    NOT NULL,
    rendered_description    TEXT    NOT NULL,
    date_created            INTEGER NOT NULL,
    creator_id              INTEGER REFERENCES user (user_id),
    position                INTEGER NOT NULL,
    is_archived             INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX channel_folder_name ON channel_folder (name_key) WHERE NOT is_archived;
CREATE INDEX stream_folder ON stream (folder_id) WHERE folder_id IS NOT NULL;
