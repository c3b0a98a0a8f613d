-- The schema of the first version. The tables are explained in schema.sql.

CREATE TABLE realm (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    uuid            TEXT    NOT NULL,
    date_created    INTEGER NOT NULL,
    deactivated     INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE realm_setting (
    property        TEXT    PRIMARY KEY,
    value           TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE counter (
    name            TEXT    PRIMARY KEY,
    value           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE user (
    user_id             INTEGER PRIMARY KEY AUTOINCREMENT,
    email               TEXT    NOT NULL,
    delivery_email      TEXT    NOT NULL,
    delivery_email_key  TEXT    NOT NULL UNIQUE,
    full_name           TEXT    NOT NULL,
    role                INTEGER NOT NULL CHECK (role IN (100, 200, 300, 400, 600)),
    is_active           INTEGER NOT NULL DEFAULT 1,
    bot_type            INTEGER,
    bot_owner_id        INTEGER REFERENCES user (user_id),
    is_system_bot       INTEGER NOT NULL DEFAULT 0,
    timezone            TEXT    NOT NULL DEFAULT '',
    date_joined         INTEGER NOT NULL,
    avatar_source       TEXT    NOT NULL DEFAULT 'G' CHECK (avatar_source IN ('G', 'U')),
    avatar_version      INTEGER NOT NULL DEFAULT 1,
    password_hash       TEXT
) STRICT;
CREATE INDEX user_email ON user (lower(email));
CREATE INDEX user_full_name ON user (lower(full_name));
CREATE INDEX user_bot_owner ON user (bot_owner_id) WHERE bot_owner_id IS NOT NULL;

CREATE TABLE realm_user_setting_default (
    property        TEXT    PRIMARY KEY,
    value           TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE user_setting (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    property        TEXT    NOT NULL,
    value           TEXT    NOT NULL,
    PRIMARY KEY (user_id, property)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    digest          BLOB    NOT NULL UNIQUE,
    client          TEXT    NOT NULL,
    date_created    INTEGER NOT NULL
) STRICT;
CREATE INDEX api_key_user ON api_key (user_id);

CREATE TABLE client (
    id              INTEGER PRIMARY KEY,
    name            TEXT    NOT NULL UNIQUE
) STRICT;

CREATE TABLE user_group (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    kind            TEXT    NOT NULL CHECK (kind IN ('system', 'named', 'anonymous')),
    name            TEXT,
    name_key        TEXT,
    description     TEXT    NOT NULL DEFAULT '',
    creator_id      INTEGER REFERENCES user (user_id),
    date_created    INTEGER,
    deactivated     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX user_group_name ON user_group (name_key) WHERE name_key IS NOT NULL;

CREATE TABLE user_group_member (
    group_id        INTEGER NOT NULL REFERENCES user_group (id),
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    PRIMARY KEY (group_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_group_member_user ON user_group_member (user_id);

CREATE TABLE user_group_subgroup (
    group_id        INTEGER NOT NULL REFERENCES user_group (id),
    subgroup_id     INTEGER NOT NULL REFERENCES user_group (id),
    PRIMARY KEY (group_id, subgroup_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_group_subgroup_subgroup ON user_group_subgroup (subgroup_id);

CREATE TABLE group_setting (
    owner           TEXT    NOT NULL CHECK (owner IN ('realm', 'stream', 'group')),
    owner_id        INTEGER NOT NULL,
    setting         TEXT    NOT NULL,
    group_id        INTEGER NOT NULL REFERENCES user_group (id),
    PRIMARY KEY (owner, owner_id, setting)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_setting_group ON group_setting (group_id);

CREATE TABLE recipient (
    recipient_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    stream_id       INTEGER UNIQUE REFERENCES stream (stream_id),
    user_ids        TEXT    UNIQUE,
    CHECK ((stream_id IS NULL) <> (user_ids IS NULL))
) STRICT;

CREATE TABLE direct_participant (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    recipient_id    INTEGER NOT NULL REFERENCES recipient (recipient_id),
    PRIMARY KEY (user_id, recipient_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE stream (
    stream_id                       INTEGER PRIMARY KEY AUTOINCREMENT,
    name                            TEXT    NOT NULL,
    name_key                        TEXT    NOT NULL UNIQUE,
    is_archived                     INTEGER NOT NULL DEFAULT 0,
    description                     TEXT    NOT NULL DEFAULT '',
    rendered_description            TEXT    NOT NULL DEFAULT '',
    date_created                    INTEGER NOT NULL,
    creator_id                      INTEGER REFERENCES user (user_id),
    invite_only                     INTEGER NOT NULL DEFAULT 0,
    is_web_public                   INTEGER NOT NULL DEFAULT 0,
    history_public_to_subscribers   INTEGER NOT NULL DEFAULT 1,
    message_retention_days          INTEGER,
    topics_policy                   TEXT    NOT NULL DEFAULT 'inherit',
    folder_id                       INTEGER
) STRICT;

CREATE TABLE default_stream (
    stream_id       INTEGER PRIMARY KEY REFERENCES stream (stream_id)
) STRICT;

CREATE TABLE topic (
    topic_id        INTEGER PRIMARY KEY,
    stream_id       INTEGER NOT NULL REFERENCES stream (stream_id),
    name_key        TEXT    NOT NULL,
    UNIQUE (stream_id, name_key)
) STRICT;

CREATE TABLE subscription (
    user_id                     INTEGER NOT NULL REFERENCES user (user_id),
    stream_id                   INTEGER NOT NULL REFERENCES stream (stream_id),
    active                      INTEGER NOT NULL,
    color                       TEXT    NOT NULL,
    is_muted                    INTEGER NOT NULL DEFAULT 0,
    pin_to_top                  INTEGER NOT NULL DEFAULT 0,
    desktop_notifications       INTEGER,
    audible_notifications       INTEGER,
    push_notifications          INTEGER,
    email_notifications         INTEGER,
    wildcard_mentions_notify    INTEGER,
    PRIMARY KEY (user_id, stream_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX subscription_stream ON subscription (stream_id, user_id) WHERE active;

CREATE TABLE subscription_span (
    user_id             INTEGER NOT NULL REFERENCES user (user_id),
    stream_id           INTEGER NOT NULL REFERENCES stream (stream_id),
    from_message_id     INTEGER NOT NULL,
    until_message_id    INTEGER,
    PRIMARY KEY (user_id, stream_id, from_message_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX subscription_span_ended ON subscription_span (stream_id) WHERE until_message_id IS NOT NULL;

CREATE TABLE arrival (
    arrival_id      INTEGER PRIMARY KEY,
    recipient_id    INTEGER NOT NULL REFERENCES recipient (recipient_id),
    message_ids     BLOB    NOT NULL,
    user_ids        BLOB    NOT NULL
) STRICT;
CREATE INDEX arrival_recipient ON arrival (recipient_id);

CREATE TABLE message (
    id                      INTEGER PRIMARY KEY AUTOINCREMENT,
    recipient_id            INTEGER NOT NULL REFERENCES recipient (recipient_id),
    topic_id                INTEGER REFERENCES topic (topic_id),
    subject                 TEXT    NOT NULL,
    sender_id               INTEGER NOT NULL REFERENCES user (user_id),
    client_id               INTEGER NOT NULL REFERENCES client (id),
    timestamp               INTEGER NOT NULL,
    content                 TEXT    NOT NULL,
    rendered_content        TEXT    NOT NULL,
    rendered_version        INTEGER NOT NULL,
    attributes              INTEGER NOT NULL,
    last_edit_timestamp     INTEGER,
    last_moved_timestamp    INTEGER
) STRICT;
CREATE INDEX message_recipient ON message (recipient_id);
CREATE INDEX message_topic ON message (topic_id) WHERE topic_id IS NOT NULL;
CREATE INDEX message_sender ON message (sender_id);
CREATE INDEX message_stream_wildcard ON message (recipient_id) WHERE attributes & 1;
CREATE INDEX message_link ON message (recipient_id) WHERE attributes & 4;
CREATE INDEX message_image ON message (recipient_id) WHERE attributes & 8;
CREATE INDEX message_attachment ON message (recipient_id) WHERE attributes & 16;
CREATE INDEX message_reaction ON message (recipient_id) WHERE attributes & 32;

CREATE VIRTUAL TABLE message_search USING fts5 (
    content, subject,
    content = '', contentless_delete = 1,
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);

CREATE VIRTUAL TABLE message_word USING fts5vocab (message_search, 'instance');

CREATE TABLE message_edit (
    message_id              INTEGER NOT NULL REFERENCES message (id),
    number                  INTEGER NOT NULL,
    user_id                 INTEGER REFERENCES user (user_id),
    timestamp               INTEGER NOT NULL,
    prev_content            TEXT,
    prev_rendered_content   TEXT,
    prev_topic              TEXT,
    topic                   TEXT,
    prev_stream             INTEGER,
    stream                  INTEGER,
    PRIMARY KEY (message_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE reaction (
    message_id      INTEGER NOT NULL REFERENCES message (id),
    number          INTEGER NOT NULL,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    emoji_name      TEXT    NOT NULL,
    emoji_code      TEXT    NOT NULL,
    reaction_type   TEXT    NOT NULL CHECK (reaction_type IN ('unicode_emoji', 'realm_emoji', 'zulip_extra_emoji')),
    PRIMARY KEY (message_id, number),
    UNIQUE (message_id, user_id, reaction_type, emoji_code)
) STRICT, WITHOUT ROWID;

CREATE TABLE submessage (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id      INTEGER NOT NULL REFERENCES message (id),
    sender_id       INTEGER NOT NULL REFERENCES user (user_id),
    msg_type        TEXT    NOT NULL,
    content         TEXT    NOT NULL
) STRICT;
CREATE INDEX submessage_message ON submessage (message_id);

CREATE TABLE alert_word (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    word            TEXT    NOT NULL,
    word_key        TEXT    NOT NULL,
    UNIQUE (user_id, word_key)
) STRICT;

CREATE TABLE draft (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    stream_id       INTEGER REFERENCES stream (stream_id),
    user_ids        TEXT,
    topic           TEXT    NOT NULL,
    content         TEXT    NOT NULL,
    last_edit_time  INTEGER NOT NULL
) STRICT;
CREATE INDEX draft_user ON draft (user_id, last_edit_time);

CREATE TABLE saved_snippet (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    title           TEXT    NOT NULL,
    content         TEXT    NOT NULL,
    date_created    INTEGER NOT NULL
) STRICT;
CREATE INDEX saved_snippet_user ON saved_snippet (user_id);

CREATE TABLE navigation_view (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    fragment        TEXT    NOT NULL,
    is_pinned       INTEGER NOT NULL,
    name            TEXT,
    UNIQUE (user_id, fragment),
    UNIQUE (user_id, name)
) STRICT;

CREATE TABLE scheduled_message (
    scheduled_message_id            INTEGER PRIMARY KEY AUTOINCREMENT,
    sender_id                       INTEGER NOT NULL REFERENCES user (user_id),
    stream_id                       INTEGER REFERENCES stream (stream_id),
    user_ids                        TEXT,
    topic                           TEXT    NOT NULL,
    content                         TEXT    NOT NULL,
    rendered_content                TEXT    NOT NULL,
    scheduled_delivery_timestamp    INTEGER NOT NULL,
    client                          TEXT    NOT NULL,
    read_by_sender                  INTEGER NOT NULL,
    origin                          TEXT    NOT NULL,
    failed                          INTEGER NOT NULL DEFAULT 0,
    sent                            INTEGER NOT NULL DEFAULT 0,
    CHECK ((stream_id IS NULL) <> (user_ids IS NULL))
) STRICT;
CREATE INDEX scheduled_message_sender ON scheduled_message (sender_id, scheduled_delivery_timestamp) WHERE NOT sent;
CREATE INDEX scheduled_message_due ON scheduled_message (scheduled_delivery_timestamp) WHERE NOT failed AND NOT sent;

CREATE TABLE reminder (
    reminder_id                     INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id                         INTEGER NOT NULL REFERENCES user (user_id),
    message_id                      INTEGER NOT NULL,
    note                            TEXT    NOT NULL,
    content                         TEXT    NOT NULL,
    rendered_content                TEXT    NOT NULL,
    scheduled_delivery_timestamp    INTEGER NOT NULL,
    origin                          TEXT    NOT NULL,
    failed                          INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX reminder_user ON reminder (user_id, scheduled_delivery_timestamp);
CREATE INDEX reminder_due ON reminder (scheduled_delivery_timestamp) WHERE NOT failed;

CREATE TABLE read_state (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    recipient_id    INTEGER NOT NULL REFERENCES recipient (recipient_id),
    read_until      INTEGER NOT NULL,
    PRIMARY KEY (user_id, recipient_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX read_state_recipient ON read_state (recipient_id);

CREATE TABLE read_chunk (
    user_id         INTEGER NOT NULL,
    recipient_id    INTEGER NOT NULL,
    chunk           INTEGER NOT NULL,
    bits            BLOB    NOT NULL,
    PRIMARY KEY (user_id, recipient_id, chunk)
) STRICT, WITHOUT ROWID;

CREATE TABLE user_topic (
    user_id             INTEGER NOT NULL REFERENCES user (user_id),
    stream_id           INTEGER NOT NULL REFERENCES stream (stream_id),
    name_key            TEXT    NOT NULL,
    topic_name          TEXT    NOT NULL,
    visibility_policy   INTEGER NOT NULL CHECK (visibility_policy IN (1, 2, 3)),
    last_updated        INTEGER NOT NULL,
    PRIMARY KEY (user_id, stream_id, name_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_topic_topic ON user_topic (stream_id, name_key);

CREATE TABLE user_message_flags (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    message_id      INTEGER NOT NULL REFERENCES message (id),
    flags           INTEGER NOT NULL,
    PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_message_flags_message ON user_message_flags (message_id);
CREATE INDEX user_message_starred ON user_message_flags (user_id, message_id) WHERE flags & 1;
CREATE INDEX user_message_mentioned ON user_message_flags (user_id, message_id) WHERE flags & 20;
CREATE INDEX user_message_alerted ON user_message_flags (user_id, message_id) WHERE flags & 8;

CREATE TABLE event (
    id              INTEGER PRIMARY KEY,
    type            TEXT    NOT NULL,
    audience        BLOB,
    audience_id     INTEGER,
    also_public     INTEGER NOT NULL,
    payload         TEXT    NOT NULL
) STRICT;

CREATE TABLE event_audience (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_ids        BLOB    NOT NULL
) STRICT;

CREATE TABLE event_queue (
    queue_id        TEXT    PRIMARY KEY,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    registration    TEXT    NOT NULL,
    acknowledged    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
