-- What the whole organization needs beside its messages. The tables are explained in schema.sql.

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
