-- The tables of the whole interface beside messages. They are explained in schema.sql.

CREATE TABLE linkifier (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    position        INTEGER NOT NULL,
    pattern         TEXT    NOT NULL UNIQUE,      -- a regular expression with named groups
    url_template    TEXT    NOT NULL              -- RFC 6570; its variables are the groups
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

CREATE TABLE profile_field (
    id                          INTEGER PRIMARY KEY AUTOINCREMENT,
    name                        TEXT    NOT NULL UNIQUE,
    type                        INTEGER NOT NULL CHECK (type BETWEEN 1 AND 8),
    hint                        TEXT    NOT NULL,
    field_data                  TEXT    NOT NULL,     -- JSON for lists of choices and external accounts, else empty
    position                    INTEGER NOT NULL,     -- `order` on the wire
    required                    INTEGER NOT NULL,
    editable_by_user            INTEGER NOT NULL,
    display_in_profile_summary  INTEGER NOT NULL
) STRICT;

CREATE TABLE profile_value (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    field_id        INTEGER NOT NULL REFERENCES profile_field (id),
    value           TEXT    NOT NULL,
    rendered_value  TEXT,                         -- HTML, for fields of text
    PRIMARY KEY (user_id, field_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX profile_value_field ON profile_value (field_id);

CREATE TABLE presence (
    user_id             INTEGER PRIMARY KEY REFERENCES user (user_id),
    last_active_time    INTEGER,                  -- null: nobody saw them use a client
    last_connected_time INTEGER NOT NULL,
    update_id           INTEGER NOT NULL UNIQUE   -- grows with each change of any row: clients ask for what is new
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
    name_key                TEXT    NOT NULL,     -- unique among those that are not archived
    description             TEXT    NOT NULL,
    rendered_description    TEXT    NOT NULL,
    date_created            INTEGER NOT NULL,
    creator_id              INTEGER REFERENCES user (user_id),
    position                INTEGER NOT NULL,     -- `order` on the wire
    is_archived             INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX channel_folder_name ON channel_folder (name_key) WHERE NOT is_archived;
CREATE INDEX stream_folder ON stream (folder_id) WHERE folder_id IS NOT NULL;

CREATE TABLE default_stream_group (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL UNIQUE,
    description     TEXT    NOT NULL
) STRICT;

CREATE TABLE default_stream_group_stream (
    group_id        INTEGER NOT NULL REFERENCES default_stream_group (id),
    stream_id       INTEGER NOT NULL REFERENCES stream (stream_id),
    PRIMARY KEY (group_id, stream_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_email_address (
    stream_id       INTEGER NOT NULL REFERENCES stream (stream_id),
    creator_id      INTEGER NOT NULL REFERENCES user (user_id),
    sender_id       INTEGER NOT NULL REFERENCES user (user_id),
    token           TEXT    NOT NULL UNIQUE,
    PRIMARY KEY (stream_id, creator_id, sender_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE message_topic_link (
    message_id      INTEGER PRIMARY KEY REFERENCES message (id),
    links           TEXT    NOT NULL
) STRICT;

CREATE TABLE bot (
    user_id                         INTEGER PRIMARY KEY REFERENCES user (user_id),
    api_key                         TEXT,         -- null: it was revoked
    default_sending_stream          INTEGER REFERENCES stream (stream_id),
    default_events_register_stream  INTEGER REFERENCES stream (stream_id),
    default_all_public_streams      INTEGER NOT NULL DEFAULT 0,
    service_name                    TEXT,         -- of incoming webhooks: the integration
    payload_url                     TEXT,         -- of outgoing webhooks, these three
    interface                       INTEGER,
    token                           TEXT,
    config_data                     TEXT    NOT NULL DEFAULT '{}'   -- a JSON object of texts
) STRICT;

CREATE TABLE bot_storage (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    key             TEXT    NOT NULL,
    value           TEXT    NOT NULL,
    PRIMARY KEY (user_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE outgoing_webhook (
    outgoing_webhook_id INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id          INTEGER NOT NULL,
    bot_id              INTEGER NOT NULL REFERENCES user (user_id),
    "trigger"           TEXT    NOT NULL CHECK ("trigger" IN ('direct_message', 'mention')),
    failed_tries        INTEGER NOT NULL DEFAULT 0,
    next_try            INTEGER NOT NULL          -- UNIX seconds
) STRICT;
CREATE INDEX outgoing_webhook_next_try ON outgoing_webhook (next_try);
CREATE INDEX user_outgoing_webhook ON user (user_id) WHERE bot_type = 3;

CREATE TABLE invite (
    invite_id                           INTEGER PRIMARY KEY AUTOINCREMENT,
    key                                 TEXT    NOT NULL UNIQUE,    -- 24 letters and digits, the secret part of the link
    email                               TEXT,
    invited_by_user_id                  INTEGER REFERENCES user (user_id),
    invited                             INTEGER NOT NULL,           -- when it was made
    expiry_date                         INTEGER,                    -- null: never
    invited_as                          INTEGER NOT NULL CHECK (invited_as IN (100, 200, 300, 400, 600)),
    stream_ids                          TEXT    NOT NULL,           -- JSON lists
    group_ids                           TEXT    NOT NULL,
    include_realm_default_subscriptions INTEGER NOT NULL,
    notify_referrer_on_join             INTEGER NOT NULL,
    welcome_message_custom_text         TEXT,                       -- null: the organization's; empty: none
    is_revoked                          INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX invite_inviter ON invite (invited_by_user_id);
CREATE INDEX invite_email ON invite (lower(email)) WHERE email IS NOT NULL;

CREATE TABLE upload_content (
    content_id      INTEGER PRIMARY KEY AUTOINCREMENT,
    removed_from    INTEGER                       -- UNIX seconds; null: it is the content of a file, and stays
) STRICT;
CREATE INDEX upload_content_removed_from ON upload_content (removed_from) WHERE removed_from IS NOT NULL;

CREATE TABLE upload_piece (
    content_id      INTEGER NOT NULL REFERENCES upload_content (content_id),
    number          INTEGER NOT NULL,             -- from 0
    bytes           BLOB    NOT NULL,
    PRIMARY KEY (content_id, number)
) STRICT;

CREATE TABLE attachment (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id), -- who uploaded it
    path_id         TEXT    NOT NULL UNIQUE,      -- what follows /user_uploads/ in its address
    name            TEXT    NOT NULL,             -- as the uploader called it
    content_type    TEXT    NOT NULL,             -- media type
    size            INTEGER NOT NULL,             -- bytes
    create_time     INTEGER NOT NULL,
    content_id      INTEGER NOT NULL UNIQUE REFERENCES upload_content (content_id),
    width           INTEGER,                      -- pixels, of an image that has thumbnails
    height          INTEGER,
    unclaimed_since INTEGER                       -- UNIX seconds; null: some message links to it
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

CREATE TABLE realm_emoji (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL,
    file            TEXT    NOT NULL,             -- of public_image, below emoji/images/; not to be guessed
    is_animated     INTEGER NOT NULL,             -- then there is a still image of the same name
    author_id       INTEGER REFERENCES user (user_id),
    deactivated     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX realm_emoji_name ON realm_emoji (name) WHERE NOT deactivated;
CREATE INDEX realm_emoji_author ON realm_emoji (author_id);

CREATE TABLE public_image (
    path            TEXT    PRIMARY KEY,          -- what follows /user_avatars/1/ in the address
    content_type    TEXT    NOT NULL,
    content         BLOB    NOT NULL
) STRICT;

-- Of people's images: the image itself tells whether there is one. Of uploads: until now there were none, whatever
-- messages linked to.
ALTER TABLE user DROP COLUMN avatar_source;
ALTER TABLE user ADD COLUMN avatar_key INTEGER;
UPDATE message SET attributes = attributes & ~16 WHERE attributes & 16;
