-- What the whole organization needs beside its messages. The tables are explained in schema.sql.

-- The organization: linkifiers, code playgrounds, domains, hints for beginners.
CREATE TABLE linkifier (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    position        INTEGER NOT NULL,
    pattern         TEXT    NOT NULL UNIQUE,      -- a regular expression with named groups
    url_template    TEXT    NOT NULL              -- RFC 6570; its variables are the groups
) STRICT;
CREATE TABLE message_topic_link (
    message_id      INTEGER PRIMARY KEY REFERENCES message (id),
    links           TEXT    NOT NULL
) STRICT;
CREATE TABLE code_playground (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    name                TEXT    NOT NULL,
    pygments_language   TEXT    NOT NULL,
    url_template        TEXT    NOT NULL,         -- RFC 6570 with the one variable `code`
    UNIQUE (pygments_language, name)
) STRICT;
CREATE TABLE realm_domain (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    domain              TEXT    NOT NULL UNIQUE,  -- lower case
    allow_subdomains    INTEGER NOT NULL
) STRICT;
CREATE TABLE onboarding_step (
    user_id             INTEGER NOT NULL REFERENCES user (user_id),
    onboarding_step     TEXT    NOT NULL,
    timestamp           INTEGER NOT NULL,
    PRIMARY KEY (user_id, onboarding_step)
) STRICT, WITHOUT ROWID;

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
-- Addresses of channels.
CREATE TABLE channel_email_address (
    stream_id       INTEGER NOT NULL REFERENCES stream (stream_id),
    creator_id      INTEGER NOT NULL REFERENCES user (user_id),
    sender_id       INTEGER NOT NULL REFERENCES user (user_id),
    token           TEXT    NOT NULL UNIQUE,
    PRIMARY KEY (stream_id, creator_id, sender_id)
) STRICT, WITHOUT ROWID;

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
