-- The schema of a teamchat file, as it stands today. A new file is made by running this page; an older file comes
-- here by the steps in src/store/migrations/. A test holds the two to the same result.
--
-- Conventions: names are those of the interface where the value is on the wire. Times are UNIX seconds, UTC. Booleans
-- are 0 or 1. JSON is text. Sets of ids are roaring bitmaps in their portable serialization. `..._key` columns hold the
-- lower-cased text under which two spellings are equal.

-- The organization (realm). One row.
CREATE TABLE realm (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    uuid            TEXT    NOT NULL,             -- never changes; names the organization across servers
    date_created    INTEGER NOT NULL,
    deactivated     INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The organization's settings that differ from their defaults. Properties and values are those of `realm_...` in the
-- answer of POST /register, the values as JSON.
CREATE TABLE realm_setting (
    property        TEXT    PRIMARY KEY,
    value           TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Linkifiers: patterns in messages and topics that become links, tried in the order of their positions.
CREATE TABLE linkifier (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    position        INTEGER NOT NULL,
    pattern         TEXT    NOT NULL UNIQUE,      -- a regular expression with named groups
    url_template    TEXT    NOT NULL              -- RFC 6570; its variables are the groups
) STRICT;

-- Code playgrounds: where clients can try code of a language.
CREATE TABLE code_playground (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    name                TEXT    NOT NULL,
    pygments_language   TEXT    NOT NULL,
    url_template        TEXT    NOT NULL,         -- RFC 6570 with the one variable `code`
    UNIQUE (pygments_language, name)
) STRICT;

-- Domains whose addresses may join while `emails_restricted_to_domains` is on.
CREATE TABLE realm_domain (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    domain              TEXT    NOT NULL UNIQUE,  -- lower case
    allow_subdomains    INTEGER NOT NULL
) STRICT;

-- Hints for beginners that a user has seen.
CREATE TABLE onboarding_step (
    user_id             INTEGER NOT NULL REFERENCES user (user_id),
    onboarding_step     TEXT    NOT NULL,
    timestamp           INTEGER NOT NULL,
    PRIMARY KEY (user_id, onboarding_step)
) STRICT, WITHOUT ROWID;

-- Numbers that must only grow, also over a crash. `event` is the end of the block of event numbers in use: the writer
-- takes a block at a time, so that events that are not stored never use a number twice. `waiting_period` is the
-- time up to which ended waiting periods of new members were emitted, in UNIX seconds.
CREATE TABLE counter (
    name            TEXT    PRIMARY KEY,
    value           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- People and bots, also deactivated ones: messages keep their sender.
CREATE TABLE user (
    user_id             INTEGER PRIMARY KEY AUTOINCREMENT,
    email               TEXT    NOT NULL,         -- the API email that others see; may be the dummy form
    delivery_email      TEXT    NOT NULL,         -- the real one
    delivery_email_key  TEXT    NOT NULL UNIQUE,
    full_name           TEXT    NOT NULL,
    role                INTEGER NOT NULL CHECK (role IN (100, 200, 300, 400, 600)),
    is_active           INTEGER NOT NULL DEFAULT 1,
    bot_type            INTEGER,                  -- null for people; 1 generic, 2 incoming webhook, 3 outgoing webhook, 4 embedded
    bot_owner_id        INTEGER REFERENCES user (user_id),
    is_system_bot       INTEGER NOT NULL DEFAULT 0, -- the notification bot and its like; nobody logs in as one
    timezone            TEXT    NOT NULL DEFAULT '',
    date_joined         INTEGER NOT NULL,
    avatar_version      INTEGER NOT NULL DEFAULT 1,
    password_hash       TEXT,                     -- argon2id, PHC form; null: no password set
    avatar_key          INTEGER                   -- names an uploaded image in public_image; null: it is drawn
) STRICT;
CREATE INDEX user_email ON user (lower(email));
CREATE INDEX user_full_name ON user (lower(full_name));
CREATE INDEX user_bot_owner ON user (bot_owner_id) WHERE bot_owner_id IS NOT NULL;

-- The organization's defaults for the settings of new users, where they differ from the program's. Each new user gets a
-- copy: changing them later changes nobody.
CREATE TABLE realm_user_setting_default (
    property        TEXT    PRIMARY KEY,
    value           TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- A user's settings that differ from the defaults; the keys are those of `user_settings` in POST /register.
CREATE TABLE user_setting (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    property        TEXT    NOT NULL,
    value           TEXT    NOT NULL,
    PRIMARY KEY (user_id, property)
) STRICT, WITHOUT ROWID;

-- What the organization wants to know of people: custom profile fields.
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

-- What people said. Nothing said is no row.
CREATE TABLE profile_value (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    field_id        INTEGER NOT NULL REFERENCES profile_field (id),
    value           TEXT    NOT NULL,
    rendered_value  TEXT,                         -- HTML, for fields of text
    PRIMARY KEY (user_id, field_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX profile_value_field ON profile_value (field_id);

-- When people were last here, as their clients report. Bots do not report.
CREATE TABLE presence (
    user_id             INTEGER PRIMARY KEY REFERENCES user (user_id),
    last_active_time    INTEGER,                  -- null: nobody saw them use a client
    last_connected_time INTEGER NOT NULL,
    update_id           INTEGER NOT NULL UNIQUE   -- grows with each change of any row: clients ask for what is new
) STRICT;

-- What people say they are doing. Texts are empty for what they do not say.
CREATE TABLE user_status (
    user_id         INTEGER PRIMARY KEY REFERENCES user (user_id),
    status_text     TEXT    NOT NULL,
    emoji_name      TEXT    NOT NULL,
    emoji_code      TEXT    NOT NULL,
    reaction_type   TEXT    NOT NULL
) STRICT;

-- Whose messages a user does not want to see.
CREATE TABLE muted_user (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    muted_user_id   INTEGER NOT NULL REFERENCES user (user_id),
    date_muted      INTEGER NOT NULL,
    PRIMARY KEY (user_id, muted_user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX muted_user_muted ON muted_user (muted_user_id);

-- API keys. Only the SHA-256 digest is kept: a stolen file opens nothing. A user has as many keys as devices.
CREATE TABLE api_key (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    digest          BLOB    NOT NULL UNIQUE,
    client          TEXT    NOT NULL,             -- the name of the program that asked for it
    date_created    INTEGER NOT NULL
) STRICT;
CREATE INDEX api_key_user ON api_key (user_id);

-- Programs that sent messages, by name.
CREATE TABLE client (
    id              INTEGER PRIMARY KEY,
    name            TEXT    NOT NULL UNIQUE
) STRICT;

-- User groups: the system groups (their members follow from roles), named groups, and anonymous ones that hold the
-- value of a single group setting.
CREATE TABLE user_group (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    kind            TEXT    NOT NULL CHECK (kind IN ('system', 'named', 'anonymous')),
    name            TEXT,                         -- null for anonymous groups
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

-- The `can_..._group` settings of channels, groups and the organization: which group holds the permission. A setting
-- that is not here has its default.
CREATE TABLE group_setting (
    owner           TEXT    NOT NULL CHECK (owner IN ('realm', 'stream', 'group')),
    owner_id        INTEGER NOT NULL,             -- stream_id or group id; 1 for the organization
    setting         TEXT    NOT NULL,
    group_id        INTEGER NOT NULL REFERENCES user_group (id),
    PRIMARY KEY (owner, owner_id, setting)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_setting_group ON group_setting (group_id);

-- Sets of receivers: one for each channel, one for each set of people that ever had a direct conversation.
CREATE TABLE recipient (
    recipient_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    stream_id       INTEGER UNIQUE REFERENCES stream (stream_id),
    user_ids        TEXT    UNIQUE,               -- direct conversations: all participants, ascending, comma-separated
    CHECK ((stream_id IS NULL) <> (user_ids IS NULL))
) STRICT;

-- Who takes part in which direct conversation.
CREATE TABLE direct_participant (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    recipient_id    INTEGER NOT NULL REFERENCES recipient (recipient_id),
    PRIMARY KEY (user_id, recipient_id)
) STRICT, WITHOUT ROWID;

-- Channels (streams).
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
    message_retention_days          INTEGER,      -- null: the organization's; -1: forever
    topics_policy                   TEXT    NOT NULL DEFAULT 'inherit',
    folder_id                       INTEGER
) STRICT;

-- Folders that channels are shown in.
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

-- Channels that new users are subscribed to.
CREATE TABLE default_stream (
    stream_id       INTEGER PRIMARY KEY REFERENCES stream (stream_id)
) STRICT;

-- Groups of channels that new users may choose when they join, and the channels in each.
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

-- The addresses that clients asked for, at which mail to a channel arrives: one for each who asked and each sender that
-- it shows. The token is what makes an address hard to guess.
CREATE TABLE channel_email_address (
    stream_id       INTEGER NOT NULL REFERENCES stream (stream_id),
    creator_id      INTEGER NOT NULL REFERENCES user (user_id),
    sender_id       INTEGER NOT NULL REFERENCES user (user_id),
    token           TEXT    NOT NULL UNIQUE,
    PRIMARY KEY (stream_id, creator_id, sender_id)
) STRICT, WITHOUT ROWID;

-- Topics. A row is made with the first message and never changes: the newest spelling and the newest id are read from
-- the messages, so that deleting and moving cannot leave them wrong.
CREATE TABLE topic (
    topic_id        INTEGER PRIMARY KEY,
    stream_id       INTEGER NOT NULL REFERENCES stream (stream_id),
    name_key        TEXT    NOT NULL,
    UNIQUE (stream_id, name_key)
) STRICT;

-- What a user chose for a channel. The row stays when they leave, so that colour and muting are there on return.
CREATE TABLE subscription (
    user_id                     INTEGER NOT NULL REFERENCES user (user_id),
    stream_id                   INTEGER NOT NULL REFERENCES stream (stream_id),
    active                      INTEGER NOT NULL,
    color                       TEXT    NOT NULL,
    is_muted                    INTEGER NOT NULL DEFAULT 0,
    pin_to_top                  INTEGER NOT NULL DEFAULT 0,
    desktop_notifications       INTEGER,          -- null in these five: the user's own default
    audible_notifications       INTEGER,
    push_notifications          INTEGER,
    email_notifications         INTEGER,
    wildcard_mentions_notify    INTEGER,
    PRIMARY KEY (user_id, stream_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX subscription_stream ON subscription (stream_id, user_id) WHERE active;

-- When a user was subscribed, counted in messages: a message of the channel with from <= id < until was sent while
-- subscribed. One row for each stay; the open one has no end. So a send writes nothing for its receivers.
CREATE TABLE subscription_span (
    user_id             INTEGER NOT NULL REFERENCES user (user_id),
    stream_id           INTEGER NOT NULL REFERENCES stream (stream_id),
    from_message_id     INTEGER NOT NULL,
    until_message_id    INTEGER,
    PRIMARY KEY (user_id, stream_id, from_message_id)
) STRICT, WITHOUT ROWID;

-- Who has left a channel but received its messages, for the events that tell of them.
CREATE INDEX subscription_span_ended ON subscription_span (stream_id) WHERE until_message_id IS NOT NULL;

-- Messages that came to a channel from another one. Spans tell who received a message where it was sent; for these,
-- `user_ids` tells it, and spans of the channel do not. Messages with the same receivers share a row, so a whole topic
-- is one row or a few, however many messages and receivers it has. Ids of messages that are gone do no harm.
CREATE TABLE arrival (
    arrival_id      INTEGER PRIMARY KEY,
    recipient_id    INTEGER NOT NULL REFERENCES recipient (recipient_id),   -- the channel's
    message_ids     BLOB    NOT NULL,             -- a set of ids
    user_ids        BLOB    NOT NULL              -- a set of ids
) STRICT;
CREATE INDEX arrival_recipient ON arrival (recipient_id);

-- Messages. Ids grow in the order of sending, and an id is never used again.
CREATE TABLE message (
    id                      INTEGER PRIMARY KEY AUTOINCREMENT,
    recipient_id            INTEGER NOT NULL REFERENCES recipient (recipient_id),
    topic_id                INTEGER REFERENCES topic (topic_id),    -- null for direct messages
    subject                 TEXT    NOT NULL,     -- the topic as this message spells it; empty for direct messages
    sender_id               INTEGER NOT NULL REFERENCES user (user_id),
    client_id               INTEGER NOT NULL REFERENCES client (id),
    timestamp               INTEGER NOT NULL,
    content                 TEXT    NOT NULL,     -- Markdown as sent
    rendered_content        TEXT    NOT NULL,     -- HTML; reading never renders
    rendered_version        INTEGER NOT NULL,     -- of the renderer
    attributes              INTEGER NOT NULL,     -- bits, named in src/api/messages/message.rs
    last_edit_timestamp     INTEGER,
    last_moved_timestamp    INTEGER
) STRICT;
CREATE INDEX message_recipient ON message (recipient_id);           -- ends in the id: newest first is a walk backwards
CREATE INDEX message_topic ON message (topic_id) WHERE topic_id IS NOT NULL;
CREATE INDEX message_sender ON message (sender_id);
-- Few messages mention everybody; the flags of their receivers are derived from this.
CREATE INDEX message_stream_wildcard ON message (recipient_id) WHERE attributes & 1;
-- What few messages have is not looked for in all of them.
CREATE INDEX message_link ON message (recipient_id) WHERE attributes & 4;
CREATE INDEX message_image ON message (recipient_id) WHERE attributes & 8;
CREATE INDEX message_attachment ON message (recipient_id) WHERE attributes & 16;
CREATE INDEX message_reaction ON message (recipient_id) WHERE attributes & 32;

-- Words of messages, stemmed. The text itself stays in `message`. Text in scripts that do not put spaces between words
-- is given to the index in pairs of characters; src/api/messages/search/ does that. Marks are part of words, so that
-- those of Indian scripts are not torn apart.
CREATE VIRTUAL TABLE message_search USING fts5 (
    content, subject,
    content = '', contentless_delete = 1,
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);

-- Every word that was ever indexed, folded but whole, with the stem that the index has: to complete the beginning of
-- one. A word stays when its last message goes; the index then finds nothing for it.
CREATE TABLE search_word (
    word                    TEXT PRIMARY KEY,
    stem                    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What each edit or move of a message changed: the state before it, and for moves the state after.
CREATE TABLE message_edit (
    message_id              INTEGER NOT NULL REFERENCES message (id),
    number                  INTEGER NOT NULL,     -- 1 is the first edit
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
    number          INTEGER NOT NULL,             -- order within the message
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    emoji_name      TEXT    NOT NULL,
    emoji_code      TEXT    NOT NULL,
    reaction_type   TEXT    NOT NULL CHECK (reaction_type IN ('unicode_emoji', 'realm_emoji', 'zulip_extra_emoji')),
    PRIMARY KEY (message_id, number),
    UNIQUE (message_id, user_id, reaction_type, emoji_code)
) STRICT, WITHOUT ROWID;

-- Links in the topics of messages, as linkifiers made them when a message came to its topic: JSON, as on the wire. A row
-- only where there are any, which an attribute of the message says.
CREATE TABLE message_topic_link (
    message_id      INTEGER PRIMARY KEY REFERENCES message (id),
    links           TEXT    NOT NULL
) STRICT;

-- Data of polls and to-do lists, and what people did to them: JSON that the server keeps for the clients.
CREATE TABLE submessage (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id      INTEGER NOT NULL REFERENCES message (id),
    sender_id       INTEGER NOT NULL REFERENCES user (user_id),
    msg_type        TEXT    NOT NULL,
    content         TEXT    NOT NULL
) STRICT;
CREATE INDEX submessage_message ON submessage (message_id);

-- Words that users want to hear of.
CREATE TABLE alert_word (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    word            TEXT    NOT NULL,
    word_key        TEXT    NOT NULL,
    UNIQUE (user_id, word_key)
) STRICT;

-- Unsent texts that a user's clients share. One without channel and people is not addressed yet.
CREATE TABLE draft (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    stream_id       INTEGER REFERENCES stream (stream_id),
    user_ids        TEXT,                         -- direct messages: a JSON list of the others, ascending
    topic           TEXT    NOT NULL,
    content         TEXT    NOT NULL,
    last_edit_time  INTEGER NOT NULL
) STRICT;
CREATE INDEX draft_user ON draft (user_id, last_edit_time);

-- Texts that a user keeps to use again.
CREATE TABLE saved_snippet (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    title           TEXT    NOT NULL,
    content         TEXT    NOT NULL,
    date_created    INTEGER NOT NULL
) STRICT;
CREATE INDEX saved_snippet_user ON saved_snippet (user_id);

-- Views that a user keeps at hand.
CREATE TABLE navigation_view (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    fragment        TEXT    NOT NULL,
    is_pinned       INTEGER NOT NULL,
    name            TEXT,                         -- null for built-in views
    UNIQUE (user_id, fragment),
    UNIQUE (user_id, name)
) STRICT;

-- Messages that wait for their time. One that could not be sent stays, with `failed`; of one that was sent only this is
-- kept, without its texts, so that whoever still tries to change it hears of it.
CREATE TABLE scheduled_message (
    scheduled_message_id            INTEGER PRIMARY KEY AUTOINCREMENT,
    sender_id                       INTEGER NOT NULL REFERENCES user (user_id),
    stream_id                       INTEGER REFERENCES stream (stream_id),  -- null for direct messages
    user_ids                        TEXT,         -- direct messages: a JSON list of all participants, ascending
    topic                           TEXT    NOT NULL,
    content                         TEXT    NOT NULL,
    rendered_content                TEXT    NOT NULL,
    scheduled_delivery_timestamp    INTEGER NOT NULL,
    client                          TEXT    NOT NULL,
    read_by_sender                  INTEGER NOT NULL,
    origin                          TEXT    NOT NULL, -- under which the sender reached the server: links are made from it
    failed                          INTEGER NOT NULL DEFAULT 0,
    sent                            INTEGER NOT NULL DEFAULT 0,
    CHECK ((stream_id IS NULL) <> (user_ids IS NULL))
) STRICT;
CREATE INDEX scheduled_message_sender ON scheduled_message (sender_id, scheduled_delivery_timestamp) WHERE NOT sent;
CREATE INDEX scheduled_message_due ON scheduled_message (scheduled_delivery_timestamp) WHERE NOT failed AND NOT sent;

-- Reminders of messages. The text is made again at delivery; the one here is for when the message is gone by then.
CREATE TABLE reminder (
    reminder_id                     INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id                         INTEGER NOT NULL REFERENCES user (user_id),
    message_id                      INTEGER NOT NULL, -- may be deleted before its time comes
    note                            TEXT    NOT NULL,
    content                         TEXT    NOT NULL,
    rendered_content                TEXT    NOT NULL,
    scheduled_delivery_timestamp    INTEGER NOT NULL,
    origin                          TEXT    NOT NULL,
    failed                          INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX reminder_user ON reminder (user_id, scheduled_delivery_timestamp);
CREATE INDEX reminder_due ON reminder (scheduled_delivery_timestamp) WHERE NOT failed;

-- What a user has read of a conversation (a channel, or a direct conversation): every message up to `read_until`, and
-- those whose bit is set in `read_chunk`. Bits stand for ids, not for messages of the conversation: between two read
-- messages with nothing unread between them, all bits are set. So a set stays a few runs however much was read, and
-- the unread are the messages in its gaps.
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
    chunk           INTEGER NOT NULL,             -- id >> 16
    bits            BLOB    NOT NULL,             -- a roaring bitmap of whole ids
    PRIMARY KEY (user_id, recipient_id, chunk)
) STRICT, WITHOUT ROWID;

-- Topics that a user muted, unmuted or follows: those that differ from their channel. The topic need not have messages.
CREATE TABLE user_topic (
    user_id             INTEGER NOT NULL REFERENCES user (user_id),
    stream_id           INTEGER NOT NULL REFERENCES stream (stream_id),
    name_key            TEXT    NOT NULL,
    topic_name          TEXT    NOT NULL,         -- as it was spelt when the policy was set
    visibility_policy   INTEGER NOT NULL CHECK (visibility_policy IN (1, 2, 3)), -- muted, unmuted, followed
    last_updated        INTEGER NOT NULL,
    PRIMARY KEY (user_id, stream_id, name_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_topic_topic ON user_topic (stream_id, name_key);

-- Flags that some users have on a message. Flags that follow from the message for all receivers (wildcard mentions) or
-- from read state are not here. A message without flags has no row.
CREATE TABLE user_message_flags (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    message_id      INTEGER NOT NULL REFERENCES message (id),
    flags           INTEGER NOT NULL,             -- bits, named in src/api/messages/flags.rs
    PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_message_flags_message ON user_message_flags (message_id);
CREATE INDEX user_message_starred ON user_message_flags (user_id, message_id) WHERE flags & 1;
CREATE INDEX user_message_mentioned ON user_message_flags (user_id, message_id) WHERE flags & 20;
CREATE INDEX user_message_alerted ON user_message_flags (user_id, message_id) WHERE flags & 8;

-- What bots have that people do not: a row for each bot, but for the server's own. The interface lets a bot's owner read
-- its key again and again, so that this one key is kept; it works by its digest in `api_key` like any other.
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

-- What bots remember: texts by name.
CREATE TABLE bot_storage (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    key             TEXT    NOT NULL,
    value           TEXT    NOT NULL,
    PRIMARY KEY (user_id, key)
) STRICT, WITHOUT ROWID;

-- Messages on their way to outgoing webhooks: written with the message, removed when the other server has answered.
CREATE TABLE outgoing_webhook (
    outgoing_webhook_id INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id          INTEGER NOT NULL,
    bot_id              INTEGER NOT NULL REFERENCES user (user_id),
    "trigger"           TEXT    NOT NULL CHECK ("trigger" IN ('direct_message', 'mention')),
    failed_tries        INTEGER NOT NULL DEFAULT 0,
    next_try            INTEGER NOT NULL          -- UNIX seconds
) STRICT;
CREATE INDEX outgoing_webhook_next_try ON outgoing_webhook (next_try);

-- Few users are outgoing webhooks, and each message that is sent asks for them.
CREATE INDEX user_outgoing_webhook ON user (user_id) WHERE bot_type = 3;

-- Invitations: links below /join/ by which people get an account. One for a person has an email and is gone when it is
-- used or revoked; one for many has none, and stays when it is revoked, so that revoking twice is told. The link by which
-- the first owner comes has no inviter.
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

-- What uploaded files hold, in pieces. One that no file stands for (yet, or any more) is removed piece by piece when its
-- time has come: the rest of an upload that broke off, or of a file that was deleted.
CREATE TABLE upload_content (
    content_id      INTEGER PRIMARY KEY AUTOINCREMENT,
    removed_from    INTEGER                       -- UNIX seconds; null: it is the content of a file, and stays
) STRICT;
CREATE INDEX upload_content_removed_from ON upload_content (removed_from) WHERE removed_from IS NOT NULL;

-- All pieces are equally long but the last, so that a place in the content tells its piece.
CREATE TABLE upload_piece (
    content_id      INTEGER NOT NULL REFERENCES upload_content (content_id),
    number          INTEGER NOT NULL,             -- from 0
    bytes           BLOB    NOT NULL,
    PRIMARY KEY (content_id, number)
) STRICT;

-- Uploaded files (attachments). A row is there when the whole content is.
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

-- Smaller versions of uploaded images; `format` is the name in `server_thumbnail_formats`.
CREATE TABLE thumbnail (
    attachment_id   INTEGER NOT NULL REFERENCES attachment (id),
    format          TEXT    NOT NULL,
    bytes           BLOB    NOT NULL,
    PRIMARY KEY (attachment_id, format)
) STRICT;

-- Which messages link to which uploaded files: who may read such a message may load the file.
CREATE TABLE attachment_message (
    attachment_id   INTEGER NOT NULL REFERENCES attachment (id),
    message_id      INTEGER NOT NULL REFERENCES message (id),
    PRIMARY KEY (attachment_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachment_message_message ON attachment_message (message_id);

-- The same for scheduled messages that were not sent yet.
CREATE TABLE attachment_scheduled_message (
    attachment_id           INTEGER NOT NULL REFERENCES attachment (id),
    scheduled_message_id    INTEGER NOT NULL REFERENCES scheduled_message (scheduled_message_id),
    PRIMARY KEY (attachment_id, scheduled_message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachment_scheduled_message_message ON attachment_scheduled_message (scheduled_message_id);

-- What uploads share: how much room all files take, in bytes, and what temporary addresses are signed with. One row.
CREATE TABLE upload_state (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    space_used      INTEGER NOT NULL,
    secret          BLOB    NOT NULL
) STRICT;

-- The event log. `audience` is the set of user ids it is for: inline when small, else in `event_audience`. Rows that no
-- living queue can still ask for are removed.
CREATE TABLE event (
    id              INTEGER PRIMARY KEY,
    type            TEXT    NOT NULL,             -- on the wire; what queues filter by
    name            TEXT    NOT NULL,             -- of the event type, for example stream/create
    version         INTEGER NOT NULL,             -- of the event type: a queue that waits for a row of another one expires
    audience        BLOB,
    audience_id     INTEGER,                      -- a row of event_audience
    also_public     INTEGER NOT NULL,             -- also for queues that asked for all public channels
    payload         TEXT    NOT NULL,             -- the members of the event, as JSON
    routing         TEXT                          -- what only decides about delivery and is never sent, as JSON
) STRICT;

-- Large audiences, each stored once for the events that share it.
CREATE TABLE event_audience (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_ids        BLOB    NOT NULL
) STRICT;

-- Event queues: cursors into the log.
CREATE TABLE event_queue (
    queue_id        TEXT    PRIMARY KEY,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    registration    TEXT    NOT NULL,             -- what the client asked for, as JSON
    acknowledged    INTEGER NOT NULL              -- an event id; written now and then, and exact at a clean stop
) STRICT, WITHOUT ROWID;

-- Custom emoji, also deactivated ones: old messages and reactions still show them.
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

-- Images for whoever knows the address: emoji, people's uploaded images, the organization's icon and logos. Made from
-- what was uploaded, never the uploaded file itself.
CREATE TABLE public_image (
    path            TEXT    PRIMARY KEY,          -- what follows /user_avatars/1/ in the address
    content_type    TEXT    NOT NULL,
    content         BLOB    NOT NULL
) STRICT;
