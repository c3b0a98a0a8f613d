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

-- Uploaded images: custom emoji, people's images, the organization's icon and logos.
CREATE TABLE realm_emoji (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL,
    file            TEXT    NOT NULL,
    is_animated     INTEGER NOT NULL,
    author_id       INTEGER REFERENCES user (user_id),
    deactivated     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX realm_emoji_name ON realm_emoji (name) WHERE NOT deactivated;
CREATE INDEX realm_emoji_author ON realm_emoji (author_id);
CREATE TABLE public_image (
    path            TEXT    PRIMARY KEY,
    content_type    TEXT    NOT NULL,
    content         BLOB    NOT NULL
) STRICT;
ALTER TABLE user DROP COLUMN avatar_source;
ALTER TABLE user ADD COLUMN avatar_key INTEGER;
