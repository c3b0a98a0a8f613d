-- The current schema of a teamchat database. A new database is created from this file; an older one is upgraded by the
-- migrations in src/store/migrations/. A test checks that both lead to the same schema.
--
-- Conventions: a value that is on the wire has the interface's name. Times are UNIX seconds, UTC. Booleans are 0 or 1.
-- JSON is stored as text. Sets of ids are roaring bitmaps in the portable serialization. A `..._key` column holds the
-- lower-cased text, for comparisons that ignore case.

-- The organization (realm). One row.
CREATE TABLE realm (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    uuid            TEXT    NOT NULL,             -- never changes; names the organization across servers
    date_created    INTEGER NOT NULL,
    deactivated     INTEGER NOT NULL DEFAULT 0,
    server_version  TEXT    NOT NULL DEFAULT ''   -- of the server that opened the file last
) STRICT;

-- Settings of the organization that differ from their defaults. A property is named as `realm_...` in the reply to
-- POST /register, without the prefix; values are JSON.
CREATE TABLE realm_setting (
    property        TEXT    PRIMARY KEY,
    value           TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Linkifiers: patterns in messages and topics that become links, tried by ascending position.
CREATE TABLE linkifier (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    position        INTEGER NOT NULL,
    pattern         TEXT    NOT NULL UNIQUE,      -- a regular expression with named groups
    url_template    TEXT    NOT NULL              -- RFC 6570; its variables are the groups
) STRICT;

-- Code playgrounds: sites on which clients can run code of a language.
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

-- Onboarding steps that a user has completed.
CREATE TABLE onboarding_step (
    user_id             INTEGER NOT NULL REFERENCES user (user_id),
    onboarding_step     TEXT    NOT NULL,
    timestamp           INTEGER NOT NULL,
    PRIMARY KEY (user_id, onboarding_step)
) STRICT, WITHOUT ROWID;

-- Counters that never decrease, also across a crash. `event` is the end of the reserved block of event numbers: the
-- writer reserves them in blocks, so that an event that is not stored never shares its number with another.
-- `waiting_period` is the time (UNIX seconds) up to which the ends of waiting periods have been announced,
-- `recently_active` the same for channels that have become silent. `search_sweep` exists if more words were retired than
-- `retired_word` may have: the next purge looks up all words. Counters whose names begin with `told_` also decrease: each is the
-- level of the last warning that the owners, or a person, have received.
CREATE TABLE counter (
    name            TEXT    PRIMARY KEY,
    value           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- People and bots. Deactivated users stay, because messages refer to their sender.
CREATE TABLE user (
    user_id             INTEGER PRIMARY KEY AUTOINCREMENT,
    email               TEXT    NOT NULL,         -- the API email, as others see it; may be a dummy address
    delivery_email      TEXT    NOT NULL,         -- the real email
    delivery_email_key  TEXT    NOT NULL UNIQUE,
    full_name           TEXT    NOT NULL,
    role                INTEGER NOT NULL CHECK (role IN (100, 200, 300, 400, 600)),
    is_active           INTEGER NOT NULL DEFAULT 1,
    bot_type            INTEGER,                  -- null for people; 1 generic, 2 incoming webhook, 3 outgoing webhook, 4 embedded
    bot_owner_id        INTEGER REFERENCES user (user_id),
    is_system_bot       INTEGER NOT NULL DEFAULT 0, -- the notification bot and the other bots of the server; no login
    timezone            TEXT    NOT NULL DEFAULT '',
    date_joined         INTEGER NOT NULL,
    avatar_version      INTEGER NOT NULL DEFAULT 1,
    password_hash       TEXT,                     -- argon2id, PHC form; null: no password set
    avatar_key          INTEGER,                  -- part of the path in public_image; null: a generated image
    invited_by          INTEGER REFERENCES user (user_id), -- whose invitation made the account; null: nobody's
    is_email_proven     INTEGER NOT NULL DEFAULT 0 -- a letter or a provider of OpenID Connect has proven the address
) STRICT;
CREATE INDEX user_email ON user (lower(email));
CREATE INDEX user_full_name ON user (lower(full_name));
CREATE INDEX user_bot_owner ON user (bot_owner_id) WHERE bot_owner_id IS NOT NULL;
CREATE INDEX user_invited_by ON user (invited_by, date_joined) WHERE invited_by IS NOT NULL;

-- Skeletons of names by Unicode's standard on confusable characters (UTS 39): of the name as it is written, and of the name in
-- lower case. Names with the same skeleton look the same, and rules on unique names refuse them.
CREATE TABLE name_skeleton (
    kind            TEXT    NOT NULL CHECK (kind IN ('user', 'email', 'stream', 'user_group')),
    is_folded       INTEGER NOT NULL,             -- of the name in lower case
    skeleton        TEXT    NOT NULL,
    id              INTEGER NOT NULL,             -- user_id, stream_id or the id of a named group
    PRIMARY KEY (kind, is_folded, skeleton, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX name_skeleton_id ON name_skeleton (kind, id);

-- Domains that dummy emails have or had (`user7@domain`). Addresses of this form at these domains cannot be registered.
CREATE TABLE dummy_email_domain (
    domain          TEXT    PRIMARY KEY           -- lower case
) STRICT, WITHOUT ROWID;

-- The organization's defaults for the settings of new users, where they differ from the program's. Each new user gets a
-- copy, so a later change does not affect existing users.
CREATE TABLE realm_user_setting_default (
    property        TEXT    PRIMARY KEY,
    value           TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Settings of a user that differ from the defaults; properties are named as in `user_settings` of POST /register.
CREATE TABLE user_setting (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    property        TEXT    NOT NULL,
    value           TEXT    NOT NULL,
    PRIMARY KEY (user_id, property)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_setting_mailed ON user_setting (user_id)
    WHERE property = 'enable_stream_email_notifications' AND value = 'true';
CREATE INDEX user_setting_pushed ON user_setting (user_id)
    WHERE property = 'enable_stream_push_notifications' AND value = 'true';

-- Custom profile fields.
CREATE TABLE profile_field (
    id                          INTEGER PRIMARY KEY AUTOINCREMENT,
    name                        TEXT    NOT NULL UNIQUE,
    type                        INTEGER NOT NULL CHECK (type BETWEEN 1 AND 8),
    hint                        TEXT    NOT NULL,
    field_data                  TEXT    NOT NULL,     -- JSON for choices and external accounts, else empty
    position                    INTEGER NOT NULL,     -- `order` on the wire
    required                    INTEGER NOT NULL,
    editable_by_user            INTEGER NOT NULL,
    display_in_profile_summary  INTEGER NOT NULL
) STRICT;

-- Values of custom profile fields. A user without a value has no row.
CREATE TABLE profile_value (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    field_id        INTEGER NOT NULL REFERENCES profile_field (id),
    value           TEXT    NOT NULL,
    rendered_value  TEXT,                         -- HTML, for fields of text
    PRIMARY KEY (user_id, field_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX profile_value_field ON profile_value (field_id);

-- Presence of people, as reported by their clients. Bots have none.
CREATE TABLE presence (
    user_id             INTEGER PRIMARY KEY REFERENCES user (user_id),
    last_active_time    INTEGER,                  -- null: never active in a client
    last_connected_time INTEGER NOT NULL,
    update_id           INTEGER NOT NULL UNIQUE   -- grows with each change of any row; clients ask for later ones
) STRICT;

-- User statuses. Parts that are not set are empty.
CREATE TABLE user_status (
    user_id         INTEGER PRIMARY KEY REFERENCES user (user_id),
    status_text     TEXT    NOT NULL,
    emoji_name      TEXT    NOT NULL,
    emoji_code      TEXT    NOT NULL,
    reaction_type   TEXT    NOT NULL
) STRICT;

-- Muted users.
CREATE TABLE muted_user (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    muted_user_id   INTEGER NOT NULL REFERENCES user (user_id),
    date_muted      INTEGER NOT NULL,
    PRIMARY KEY (user_id, muted_user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX muted_user_muted ON muted_user (muted_user_id);

-- API keys, stored as SHA-256 digests. A user has one for each client that logged in.
CREATE TABLE api_key (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    digest          BLOB    NOT NULL UNIQUE,
    client          TEXT    NOT NULL,             -- name of the client that asked for it
    date_created    INTEGER NOT NULL
) STRICT;
CREATE INDEX api_key_user ON api_key (user_id);

-- When API keys were last used, to the hour. Separate from the keys, because a change of a key clears the credential cache.
CREATE TABLE api_key_use (
    api_key_id      INTEGER PRIMARY KEY REFERENCES api_key (id) ON DELETE CASCADE,
    last_used       INTEGER NOT NULL
) STRICT;

-- Sessions of browsers, which only people have. The cookie holds the secret, the row its SHA-256 digest.
CREATE TABLE session (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    digest          BLOB    NOT NULL UNIQUE,
    client          TEXT    NOT NULL,             -- the browser and its system, as it named them
    date_created    INTEGER NOT NULL
) STRICT;
CREATE INDEX session_user ON session (user_id);

-- When and from which address sessions were last used, to the hour. Separate for the same reason as api_key_use.
CREATE TABLE session_use (
    session_id      INTEGER PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
    last_used       INTEGER NOT NULL,
    address         TEXT    NOT NULL
) STRICT;

-- The key pair with which the server identifies itself to push services (RFC 8292): one row, made on first use. A browser
-- subscribes for this key, so another one would make all subscriptions useless.
CREATE TABLE push_key (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    private_key     BLOB    NOT NULL              -- PKCS #8
) STRICT;

-- Receivers of push notifications. A browser (Web Push, RFC 8030) belongs to a session, and its row ends with the session. All
-- phones of a person are one row, because the push bouncer addresses them together.
CREATE TABLE push_subscription (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    session_id      INTEGER UNIQUE REFERENCES session (id) ON DELETE CASCADE, -- null: the person's phones
    endpoint        TEXT    UNIQUE,               -- the address at the push service; whoever knows it may send there
    public_key      BLOB,                         -- the browser's, an uncompressed point of P-256
    auth_secret     BLOB,
    shows_content   INTEGER NOT NULL,             -- 0: notifications have no names and no texts
    origin          TEXT    NOT NULL,             -- scheme and host of the page that subscribed, or of the last phone's request
    failing_since   INTEGER,                      -- UNIX seconds; null if the last attempt succeeded
    CHECK ((session_id IS NULL) = (endpoint IS NULL))
) STRICT;
CREATE INDEX push_subscription_user ON push_subscription (user_id);
CREATE UNIQUE INDEX push_subscription_phones ON push_subscription (user_id) WHERE session_id IS NULL;

-- Phones that get notifications through the push bouncer, with the tokens of their apps. A phone belongs to the API key with
-- which it registered: when that ends, the bouncer is asked to forget the token, and then the row is deleted.
CREATE TABLE push_device (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    kind            INTEGER NOT NULL,             -- as the bouncer numbers them: 1 Apple (APNs), 2 Google (FCM)
    token           TEXT    NOT NULL,
    app_id          TEXT,                         -- of Apple
    api_key_id      INTEGER REFERENCES api_key (id) ON DELETE SET NULL, -- null: the bouncer is to forget it
    failed_tries    INTEGER NOT NULL DEFAULT 0,   -- to have it forgotten
    next_try        INTEGER NOT NULL DEFAULT 0,   -- UNIX seconds
    UNIQUE (user_id, kind, token)
) STRICT;
CREATE INDEX push_device_key ON push_device (api_key_id);

-- Messages for which the server has not decided yet whom to notify: inserted with the message, or with an edit that mentions
-- users, and deleted as soon as the decisions are made. Without a subscription there are none.
CREATE TABLE push_message (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id      INTEGER NOT NULL,             -- the message may be deleted since
    edited_by       INTEGER REFERENCES user (user_id), -- null: it is a new message
    known_to        BLOB                          -- a set of users: mentioned before the edit, or decided about
) STRICT;

-- Messages for users who get push notifications only while they are away. A notification waits here, because an event queue of
-- the user may still deliver the message.
CREATE TABLE push_held (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    message_id      INTEGER NOT NULL,             -- the message may be deleted since
    event_id        INTEGER NOT NULL,             -- a queue that has this event has delivered the message
    next_check      INTEGER NOT NULL,             -- UNIX seconds
    PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX push_held_check ON push_held (next_check);

-- Notifications of subscriptions, one for each conversation: those that wait for the push service, and those that the browser
-- or the phones may still show.
CREATE TABLE push_notification (
    subscription_id INTEGER NOT NULL REFERENCES push_subscription (id) ON DELETE CASCADE,
    tag             TEXT    NOT NULL,             -- names the conversation in the browser
    message_ids     BLOB    NOT NULL,             -- the set of messages that it is about, some of which may be deleted since
    is_shown        INTEGER NOT NULL DEFAULT 0,   -- 1: the push service accepted one with this tag
    queued          INTEGER NOT NULL,             -- when its newest message was added, in UNIX seconds
    failed_tries    INTEGER NOT NULL DEFAULT 0,
    next_try        INTEGER,                      -- UNIX seconds; null: the push service has all of it
    shown_ids       BLOB,                         -- of phones: the set of messages that they show
    PRIMARY KEY (subscription_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX push_notification_due ON push_notification (next_try) WHERE next_try IS NOT NULL;

-- Addresses and clients with which people logged in: wrong passwords from other addresses do not lock these, and a login from a
-- new address or with a new client causes an email. Only the latest few of each person are kept.
CREATE TABLE known_login (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    address         BLOB    NOT NULL,             -- a digest of the user and the address, of IPv6 its /64 network
    client          TEXT    NOT NULL,             -- the client, or the browser and its system
    last_used       INTEGER NOT NULL,
    PRIMARY KEY (user_id, address, client)
) STRICT, WITHOUT ROWID;

-- Identities of people at providers of OpenID Connect, stored at the first login. From then on an identity identifies the
-- account, even if the email of the account changes.
CREATE TABLE identity (
    issuer          TEXT    NOT NULL,
    subject         TEXT    NOT NULL,             -- the person at the provider
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    date_created    INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX identity_user ON identity (user_id, issuer);

-- The audit log, kept for `--audit-keep` days. Users are named by ids without references, and shown with their present names.
CREATE TABLE audit_entry (
    id              INTEGER PRIMARY KEY,
    time            INTEGER NOT NULL,             -- of repeated failures the last
    actor           TEXT    NOT NULL,             -- user, command line, server, or anyone
    actor_id        INTEGER,                      -- the user
    address         TEXT,                         -- the client's; null on the machine itself
    action          TEXT    NOT NULL,
    subject         TEXT    NOT NULL,             -- the kind of object: user, channel, setting ...
    subject_id      INTEGER,
    name            TEXT,                         -- of an object without a row of its own
    before          TEXT,                         -- JSON
    after           TEXT,                         -- JSON
    times           INTEGER NOT NULL DEFAULT 1    -- more than one for failed logins only
) STRICT;
CREATE INDEX audit_entry_time ON audit_entry (time);
CREATE INDEX audit_entry_action ON audit_entry (action, time);
CREATE INDEX audit_entry_actor ON audit_entry (actor, actor_id, time);

-- Links with which people set a new password, once: at most one for each person.
CREATE TABLE password_reset (
    user_id         INTEGER PRIMARY KEY REFERENCES user (user_id),
    digest          BLOB    NOT NULL UNIQUE,      -- SHA-256 of the secret part of the link
    created_by      INTEGER NOT NULL REFERENCES user (user_id), -- the administrator, who must still be one when it is used
    expires         INTEGER NOT NULL
) STRICT;

-- Names of client programs, which messages refer to.
CREATE TABLE client (
    id              INTEGER PRIMARY KEY,
    name            TEXT    NOT NULL UNIQUE
) STRICT;

-- User groups: system groups (members follow from roles), named groups, and anonymous groups, each of which holds the
-- value of one group setting.
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
CREATE INDEX user_group_creator ON user_group (creator_id) WHERE creator_id IS NOT NULL;

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

-- Group settings (`can_..._group`) of channels, groups and the organization: the group that has the permission. A
-- setting without a row has its default.
CREATE TABLE group_setting (
    owner           TEXT    NOT NULL CHECK (owner IN ('realm', 'stream', 'group')),
    owner_id        INTEGER NOT NULL,             -- stream_id or group id; 1 for the organization
    setting         TEXT    NOT NULL,
    group_id        INTEGER NOT NULL REFERENCES user_group (id),
    PRIMARY KEY (owner, owner_id, setting)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_setting_group ON group_setting (group_id);

-- Recipients: one for each channel, and one for each set of participants of a direct conversation.
CREATE TABLE recipient (
    recipient_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    stream_id       INTEGER UNIQUE REFERENCES stream (stream_id),
    user_ids        TEXT    UNIQUE,               -- direct conversations: all participants, ascending, comma-separated
    created_by      INTEGER REFERENCES user (user_id), -- direct conversations: who began it; NULL if not known
    CHECK ((stream_id IS NULL) <> (user_ids IS NULL))
) STRICT;
CREATE INDEX recipient_creator ON recipient (created_by) WHERE created_by IS NOT NULL;

-- Participants of direct conversations, indexed by user.
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

-- Channel folders.
CREATE TABLE channel_folder (
    id                      INTEGER PRIMARY KEY AUTOINCREMENT,
    name                    TEXT    NOT NULL,
    name_key                TEXT    NOT NULL,     -- unique among folders that are not archived
    description             TEXT    NOT NULL,
    rendered_description    TEXT    NOT NULL,
    date_created            INTEGER NOT NULL,
    creator_id              INTEGER REFERENCES user (user_id),
    position                INTEGER NOT NULL,     -- `order` on the wire
    is_archived             INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX channel_folder_name ON channel_folder (name_key) WHERE NOT is_archived;
CREATE INDEX stream_folder ON stream (folder_id) WHERE folder_id IS NOT NULL;
CREATE INDEX stream_creator ON stream (creator_id) WHERE creator_id IS NOT NULL;

-- Default channels: new users are subscribed to them.
CREATE TABLE default_stream (
    stream_id       INTEGER PRIMARY KEY REFERENCES stream (stream_id)
) STRICT;

-- Default channel groups: sets of channels that new users may choose when they join.
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

-- Topics. A row is created with the first message, never changes, and is deleted some time after the last message. The current
-- spelling and the newest message are read from the messages, so deleting and moving messages cannot invalidate them.
CREATE TABLE topic (
    topic_id        INTEGER PRIMARY KEY,
    stream_id       INTEGER NOT NULL REFERENCES stream (stream_id),
    name_key        TEXT    NOT NULL,
    UNIQUE (stream_id, name_key)
) STRICT;

-- Subscriptions with their settings. The row stays when a user unsubscribes, so that its settings survive.
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
-- `active` is in it because SQLite tests the condition for each row.
CREATE INDEX subscription_stream ON subscription (stream_id, user_id, active) WHERE active;
-- People who get mail or push notifications about all messages of a channel: few of its subscribers, who are found without
-- reading the others.
CREATE INDEX subscription_mailed ON subscription (stream_id, user_id, active) WHERE active AND email_notifications;
CREATE INDEX subscription_pushed ON subscription (stream_id, user_id, active) WHERE active AND push_notifications;

-- Periods of subscription as ranges of message ids: a message of the channel with from <= id < until was sent while the
-- user was subscribed. The current period has no end. Because of these, sending writes no row per receiver.
CREATE TABLE subscription_span (
    user_id             INTEGER NOT NULL REFERENCES user (user_id),
    stream_id           INTEGER NOT NULL REFERENCES stream (stream_id),
    from_message_id     INTEGER NOT NULL,
    until_message_id    INTEGER,
    PRIMARY KEY (user_id, stream_id, from_message_id)
) STRICT, WITHOUT ROWID;

-- Former subscribers of a channel: they receive events about the messages that they received. Spans of one message, which can be
-- very many, are found by it: those that end after a message would be all later ones.
CREATE INDEX subscription_span_ended ON subscription_span (stream_id, until_message_id)
    WHERE until_message_id > from_message_id + 1;
CREATE INDEX subscription_span_single ON subscription_span (stream_id, from_message_id, until_message_id)
    WHERE until_message_id = from_message_id + 1;
-- `until_message_id` is in it because SQLite tests the condition for each row.
CREATE INDEX subscription_span_current ON subscription_span (stream_id, from_message_id, until_message_id)
    WHERE until_message_id IS NULL;

-- Messages that were moved to a channel from another one. The receivers of other messages follow from the spans of the channel to
-- which they were sent; those of moved messages are in `user_ids`. Messages with the same receivers share a row, so a moved topic
-- has one row or a few. Ids of deleted messages may remain.
CREATE TABLE arrival (
    arrival_id      INTEGER PRIMARY KEY,
    recipient_id    INTEGER NOT NULL REFERENCES recipient (recipient_id),   -- the channel's
    message_ids     BLOB    NOT NULL,             -- a set of ids
    user_ids        BLOB    NOT NULL              -- a set of ids
) STRICT;
CREATE INDEX arrival_recipient ON arrival (recipient_id);

-- Messages. Ids grow in the order of sending and are never reused.
CREATE TABLE message (
    id                      INTEGER PRIMARY KEY AUTOINCREMENT,
    recipient_id            INTEGER NOT NULL REFERENCES recipient (recipient_id),
    topic_id                INTEGER REFERENCES topic (topic_id),    -- null for direct messages
    subject                 TEXT    NOT NULL,     -- the topic as this message spells it; empty for direct messages
    sender_id               INTEGER NOT NULL REFERENCES user (user_id),
    client_id               INTEGER NOT NULL REFERENCES client (id),
    timestamp               INTEGER NOT NULL,
    content                 TEXT    NOT NULL,     -- Markdown as sent
    html                    TEXT    NOT NULL,     -- `=` if it is the content in a paragraph, as of most messages
    rendered_version        INTEGER NOT NULL,     -- of the renderer
    attributes              INTEGER NOT NULL,     -- bits, named in `record::attribute`
    last_edit_timestamp     INTEGER,
    last_moved_timestamp    INTEGER,
    rendered_content        TEXT    GENERATED ALWAYS AS (iif(html = '=', '<p>' || content || '</p>', html)) VIRTUAL -- HTML; reading never renders
) STRICT;
CREATE INDEX message_recipient ON message (recipient_id);           -- ends in the id: a descending scan is newest first
CREATE INDEX message_topic ON message (topic_id) WHERE topic_id IS NOT NULL;
CREATE INDEX message_sender ON message (sender_id);
-- Wildcard mentions: the flags of all receivers are derived from the message.
CREATE INDEX message_stream_wildcard ON message (recipient_id) WHERE attributes & 1;
-- Partial indexes for the `has:` operators: few messages have these.
CREATE INDEX message_link ON message (recipient_id) WHERE attributes & 4;
CREATE INDEX message_image ON message (recipient_id) WHERE attributes & 8;
CREATE INDEX message_attachment ON message (recipient_id) WHERE attributes & 16;
CREATE INDEX message_reaction ON message (recipient_id) WHERE attributes & 32;

-- Full-text index of messages, stemmed and without the text itself. Text in scripts that do not separate words is
-- indexed as pairs of characters. Combining marks count as letters, so that words of Indic scripts stay whole. The newest
-- messages may have no entry yet: all after the newest one that has. Entries of messages in `search_backlog` have an earlier topic.
CREATE VIRTUAL TABLE message_search USING fts5 (
    content, subject,
    content = '', contentless_delete = 1,
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);

-- Messages that were moved to another topic, in the order of the moves, until their entries in the index have the new topic.
CREATE TABLE search_backlog (
    number                  INTEGER PRIMARY KEY,
    message_id              INTEGER NOT NULL      -- the message may be deleted since
) STRICT;

-- All words that are indexed, folded, each with its stem: for prefix search. A word is deleted some time after its last message.
CREATE TABLE search_word (
    word                    TEXT PRIMARY KEY,
    stem                    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Words of deleted and changed messages, until it is known whether another message has them; at most 100,000.
CREATE TABLE retired_word (
    word                    TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Times at which the remains of deleted and changed messages are due to be removed from the index and the lists of words and
-- topics: one for each hour in which messages were deleted or changed.
CREATE TABLE search_purge (
    due                     INTEGER PRIMARY KEY
) STRICT;

-- Edit history of messages: the state before each edit or move, and for moves also the state after.
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

-- Links that linkifiers made in the topic of a message when it got that topic: JSON as on the wire. Only messages with
-- such links have a row; an attribute of the message says so.
CREATE TABLE message_topic_link (
    message_id      INTEGER PRIMARY KEY REFERENCES message (id),
    links           TEXT    NOT NULL
) STRICT;

-- Submessages: polls, to-do lists and the votes and tasks in them, as JSON that only clients interpret.
CREATE TABLE submessage (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id      INTEGER NOT NULL REFERENCES message (id),
    sender_id       INTEGER NOT NULL REFERENCES user (user_id),
    msg_type        TEXT    NOT NULL,
    content         TEXT    NOT NULL
) STRICT;
CREATE INDEX submessage_message ON submessage (message_id);

-- Alert words.
CREATE TABLE alert_word (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    word            TEXT    NOT NULL,
    word_key        TEXT    NOT NULL,
    UNIQUE (user_id, word_key)
) STRICT;

-- Drafts. One without channel and users has no recipient yet.
CREATE TABLE draft (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    stream_id       INTEGER REFERENCES stream (stream_id),
    user_ids        TEXT,                         -- direct messages: JSON list of the other participants, ascending
    topic           TEXT    NOT NULL,
    content         TEXT    NOT NULL,
    last_edit_time  INTEGER NOT NULL
) STRICT;
CREATE INDEX draft_user ON draft (user_id, last_edit_time);

-- Saved snippets.
CREATE TABLE saved_snippet (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    title           TEXT    NOT NULL,
    content         TEXT    NOT NULL,
    date_created    INTEGER NOT NULL
) STRICT;
CREATE INDEX saved_snippet_user ON saved_snippet (user_id);

-- Navigation views.
CREATE TABLE navigation_view (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    fragment        TEXT    NOT NULL,
    is_pinned       INTEGER NOT NULL,
    name            TEXT,                         -- null for built-in views
    UNIQUE (user_id, fragment),
    UNIQUE (user_id, name)
) STRICT;

-- Scheduled messages. One that could not be sent stays, with `failed`. One that was sent stays without its text, so that
-- a later attempt to change it gets the right error.
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
    origin                          TEXT    NOT NULL, -- base URL under which the sender reached the server, for links
    failed                          INTEGER NOT NULL DEFAULT 0,
    sent                            INTEGER NOT NULL DEFAULT 0,
    CHECK ((stream_id IS NULL) <> (user_ids IS NULL))
) STRICT;
CREATE INDEX scheduled_message_sender ON scheduled_message (sender_id, scheduled_delivery_timestamp) WHERE NOT sent;
CREATE INDEX scheduled_message_due ON scheduled_message (scheduled_delivery_timestamp) WHERE NOT failed AND NOT sent;

-- Reminders of messages. The text is composed again at delivery. The stored one is used if the user cannot see the message
-- by then; it loses the message's text when the message is deleted.
CREATE TABLE reminder (
    reminder_id                     INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id                         INTEGER NOT NULL REFERENCES user (user_id),
    message_id                      INTEGER NOT NULL, -- may be deleted before the reminder is due
    note                            TEXT    NOT NULL,
    content                         TEXT    NOT NULL,
    rendered_content                TEXT    NOT NULL,
    scheduled_delivery_timestamp    INTEGER NOT NULL,
    origin                          TEXT    NOT NULL,
    failed                          INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX reminder_user ON reminder (user_id, scheduled_delivery_timestamp);
CREATE INDEX reminder_message ON reminder (message_id);
CREATE INDEX reminder_due ON reminder (scheduled_delivery_timestamp) WHERE NOT failed;

-- Read state of a user in a conversation (a channel, or a direct conversation): all messages up to `read_until` are
-- read, and those whose bit is set in `read_chunk`. Bits stand for all ids, not only for those of the conversation:
-- between two read messages with nothing unread between them all bits are set. So the set stays a few runs, and the
-- unread messages are those in its gaps.
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

CREATE INDEX read_chunk_recipient ON read_chunk (recipient_id, chunk);

-- Visibility policies of topics (muted, unmuted, followed). The topic need not have messages.
CREATE TABLE user_topic (
    user_id             INTEGER NOT NULL REFERENCES user (user_id),
    stream_id           INTEGER NOT NULL REFERENCES stream (stream_id),
    name_key            TEXT    NOT NULL,
    topic_name          TEXT    NOT NULL,         -- spelling at the time the policy was set
    visibility_policy   INTEGER NOT NULL CHECK (visibility_policy IN (1, 2, 3)), -- muted, unmuted, followed
    last_updated        INTEGER NOT NULL,
    PRIMARY KEY (user_id, stream_id, name_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_topic_topic ON user_topic (stream_id, name_key);

-- Flags of a user on a message, stored only where any is set. Flags that follow from the message for all receivers
-- (wildcard mentions) or from the read state are derived instead.
CREATE TABLE user_message_flags (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    message_id      INTEGER NOT NULL REFERENCES message (id),
    flags           INTEGER NOT NULL,             -- bits, named in `flags::bit`
    PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_message_flags_message ON user_message_flags (message_id);
CREATE INDEX user_message_starred ON user_message_flags (user_id, message_id) WHERE flags & 1;
CREATE INDEX user_message_mentioned ON user_message_flags (user_id, message_id) WHERE flags & 20;
CREATE INDEX user_message_alerted ON user_message_flags (user_id, message_id) WHERE flags & 8;

-- Properties of bots, except the server's own bots. The interface lets a bot's owner read its key at any time, so the key
-- is stored here in clear text; authentication uses its digest in `api_key`.
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
    config_data                     TEXT    NOT NULL DEFAULT '{}',  -- a JSON object of texts
    owner_notified                  INTEGER,      -- when its owner was told of a failure, in UNIX seconds
    created_by                      INTEGER REFERENCES user (user_id)  -- its first owner, who goes on answering for it
) STRICT;
CREATE INDEX bot_creator ON bot (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX bot_default_sending_stream ON bot (default_sending_stream)
    WHERE default_sending_stream IS NOT NULL;
CREATE INDEX bot_default_events_register_stream ON bot (default_events_register_stream)
    WHERE default_events_register_stream IS NOT NULL;

-- Bot storage: key-value pairs of bots.
CREATE TABLE bot_storage (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    key             TEXT    NOT NULL,
    value           TEXT    NOT NULL,
    PRIMARY KEY (user_id, key)
) STRICT, WITHOUT ROWID;

-- Local ids that clients gave to the messages that they sent lately: a client that sends the same message again gets its id.
CREATE TABLE sent_name (
    sender_id       INTEGER NOT NULL REFERENCES user (user_id),
    digest          BLOB    NOT NULL,             -- SHA-256 of the queue, the client's local id, the destination and the content
    message_id      INTEGER NOT NULL,             -- deleted with the message
    PRIMARY KEY (sender_id, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX sent_name_message ON sent_name (sender_id, message_id);

-- Number of notices that one person caused in a conversation within a day. Beyond a limit, further notices are not sent.
CREATE TABLE notice_budget (
    causer_id       INTEGER NOT NULL,             -- the person; no references, since rows are deleted after a day
    recipient_id    INTEGER NOT NULL,             -- the conversation with the notification bot, or the channel
    since           INTEGER NOT NULL,             -- when the first notice was sent, in UNIX seconds
    count           INTEGER NOT NULL,
    PRIMARY KEY (causer_id, recipient_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notice_budget_since ON notice_budget (since);

-- Pending deliveries to outgoing webhooks: inserted with the message, deleted when the other server has answered.
CREATE TABLE outgoing_webhook (
    outgoing_webhook_id INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id          INTEGER NOT NULL,
    bot_id              INTEGER NOT NULL REFERENCES user (user_id),
    "trigger"           TEXT    NOT NULL CHECK ("trigger" IN ('direct_message', 'mention')),
    failed_tries        INTEGER NOT NULL DEFAULT 0,
    next_try            INTEGER NOT NULL          -- UNIX seconds
) STRICT;
CREATE INDEX outgoing_webhook_bot ON outgoing_webhook (bot_id, next_try);

-- Outgoing webhooks, which each send looks up.
CREATE INDEX user_outgoing_webhook ON user (user_id) WHERE bot_type = 3;

-- Invitations: links below /join/ with which people create an account. A personal one has an email and is deleted when
-- it is used or revoked; a reusable one has none and stays when it is revoked, so that revoking it twice is an error.
-- The link for the first owner has no inviter.
CREATE TABLE invite (
    invite_id                           INTEGER PRIMARY KEY AUTOINCREMENT,
    digest                              BLOB    NOT NULL UNIQUE,    -- SHA-256 of the secret part of the link
    key                                 TEXT,                       -- the secret part itself, where GET /invites lists the link
    email                               TEXT,
    invited_by_user_id                  INTEGER REFERENCES user (user_id),
    invited                             INTEGER NOT NULL,           -- time of creation
    expiry_date                         INTEGER,                    -- null: never
    invited_as                          INTEGER NOT NULL CHECK (invited_as IN (100, 200, 300, 400, 600)),
    stream_ids                          TEXT    NOT NULL,           -- JSON lists
    group_ids                           TEXT    NOT NULL,
    include_realm_default_subscriptions INTEGER NOT NULL,
    notify_referrer_on_join             INTEGER NOT NULL,
    welcome_message_custom_text         TEXT,                       -- null: the organization's; empty: none
    is_revoked                          INTEGER NOT NULL DEFAULT 0,
    resent                              INTEGER,                    -- when its link was last made again, in UNIX seconds
    parent_id                           INTEGER REFERENCES invite (invite_id) ON DELETE CASCADE, -- of a sign-up: the reusable link
    is_mailed                           INTEGER NOT NULL DEFAULT 0  -- only a letter to the email has the link
) STRICT;
CREATE INDEX invite_inviter ON invite (invited_by_user_id);
CREATE INDEX invite_email ON invite (lower(email)) WHERE email IS NOT NULL;
CREATE INDEX invite_parent ON invite (parent_id) WHERE parent_id IS NOT NULL;

-- Contents of uploaded files. Content without a file (an upload that broke off, a file that was deleted) is removed in
-- pieces when it is due.
CREATE TABLE upload_content (
    content_id      INTEGER PRIMARY KEY AUTOINCREMENT,
    removed_from    INTEGER,                      -- when it is due, UNIX seconds; null: in use by a file
    user_id         INTEGER REFERENCES user (user_id) -- for whom an upload that is not finished counts
) STRICT;
CREATE INDEX upload_content_removed_from ON upload_content (removed_from) WHERE removed_from IS NOT NULL;

-- Chunks of a content. All but the last have the same length, so an offset determines its chunk.
CREATE TABLE upload_piece (
    content_id      INTEGER NOT NULL REFERENCES upload_content (content_id),
    number          INTEGER NOT NULL,             -- from 0
    bytes           BLOB    NOT NULL,
    PRIMARY KEY (content_id, number)
) STRICT;

-- Uploaded files (attachments). A row is inserted when the content is complete.
CREATE TABLE attachment (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id), -- uploader
    path_id         TEXT    NOT NULL UNIQUE,      -- the rest of its URL after /user_uploads/
    name            TEXT    NOT NULL,             -- file name given by the uploader
    content_type    TEXT    NOT NULL,             -- media type
    size            INTEGER NOT NULL,             -- bytes
    create_time     INTEGER NOT NULL,
    content_id      INTEGER NOT NULL UNIQUE REFERENCES upload_content (content_id),
    width           INTEGER,                      -- pixels, of an image that has thumbnails
    height          INTEGER,
    unclaimed_since INTEGER                       -- UNIX seconds; null: a message links to it
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

-- Messages that link to uploaded files: a user who can read such a message can load the file.
CREATE TABLE attachment_message (
    attachment_id   INTEGER NOT NULL REFERENCES attachment (id),
    message_id      INTEGER NOT NULL REFERENCES message (id),
    PRIMARY KEY (attachment_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachment_message_message ON attachment_message (message_id);

-- The same for scheduled messages.
CREATE TABLE attachment_scheduled_message (
    attachment_id           INTEGER NOT NULL REFERENCES attachment (id),
    scheduled_message_id    INTEGER NOT NULL REFERENCES scheduled_message (scheduled_message_id),
    PRIMARY KEY (attachment_id, scheduled_message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachment_scheduled_message_message ON attachment_scheduled_message (scheduled_message_id);

-- State shared by all uploads: bytes in use, and the key that signs temporary URLs. One row.
CREATE TABLE upload_state (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    space_used      INTEGER NOT NULL,
    secret          BLOB    NOT NULL
) STRICT;

-- The event log. `audience` is the set of receiving users: inline when small, else in `event_audience`. Rows that no
-- queue can still ask for are removed. A row whose message was deleted stays without receivers and members.
CREATE TABLE event (
    id              INTEGER PRIMARY KEY,
    type            TEXT    NOT NULL,             -- on the wire; what queues filter by
    name            TEXT    NOT NULL,             -- of the event type, for example stream/create
    version         INTEGER NOT NULL,             -- of the event type; a queue that needs another version expires
    audience        BLOB,
    audience_id     INTEGER,                      -- a row of event_audience
    also_public     INTEGER NOT NULL,             -- also for queues that asked for all public channels
    message_id      INTEGER,                      -- the message whose text it has, until that is deleted
    payload         TEXT    NOT NULL,             -- members of the event, JSON
    routing         TEXT                          -- decides about delivery, is never sent; JSON
) STRICT;
CREATE INDEX event_message ON event (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX event_large_audience ON event (audience_id) WHERE audience_id IS NOT NULL;

-- Large audiences, stored once for all events that share one.
CREATE TABLE event_audience (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_ids        BLOB    NOT NULL
) STRICT;

-- Event queues: cursors into the log.
CREATE TABLE event_queue (
    queue_id        TEXT    PRIMARY KEY,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    registration    TEXT    NOT NULL,             -- parameters of POST /register, JSON
    acknowledged    INTEGER NOT NULL              -- event id; written periodically, exact after a clean stop
) STRICT, WITHOUT ROWID;

-- Custom emoji. Deactivated ones stay, because messages and reactions refer to them.
CREATE TABLE realm_emoji (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL,
    file            TEXT    NOT NULL,             -- path in public_image below emoji/images/; hard to guess
    is_animated     INTEGER NOT NULL,             -- if 1, a still image of the same name exists
    author_id       INTEGER REFERENCES user (user_id),
    deactivated     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX realm_emoji_name ON realm_emoji (name) WHERE NOT deactivated;
CREATE INDEX realm_emoji_author ON realm_emoji (author_id);

-- Images that are served without authentication: emoji, avatars, the organization's icon and logos. The server decodes each
-- upload and encodes it again; the uploaded bytes are never served.
CREATE TABLE public_image (
    path            TEXT    PRIMARY KEY,          -- the rest of its URL after /user_avatars/1/
    content_type    TEXT    NOT NULL,
    content         BLOB    NOT NULL
) STRICT;

-- Exports of the organization that administrators asked for. The archive is a content of `upload_content`, until it is deleted.
CREATE TABLE realm_export (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    type            INTEGER NOT NULL CHECK (type IN (1, 2)), -- 1 public data, 2 with the private data of those who consent
    acting_user_id  INTEGER NOT NULL REFERENCES user (user_id),
    origin          TEXT    NOT NULL,             -- base URL under which the user reached the server, for the link
    date_requested  INTEGER NOT NULL,
    date_started    INTEGER,
    date_succeeded  INTEGER,
    date_failed     INTEGER,
    date_deleted    INTEGER,
    path            TEXT    UNIQUE,               -- the rest of its URL after /user_avatars/exports/1/; hard to guess
    content_id      INTEGER UNIQUE REFERENCES upload_content (content_id),
    size            INTEGER,                      -- bytes
    sha256          TEXT                          -- hexadecimal
) STRICT;

-- Email addresses of channels: for each person who asked for one, and each sender of the messages. The interface shows an
-- address again, so the token is readable.
CREATE TABLE channel_email (
    token           TEXT    PRIMARY KEY,          -- 32 hexadecimal digits, the secret part of the address
    stream_id       INTEGER NOT NULL REFERENCES stream (stream_id),
    asker_id        INTEGER NOT NULL REFERENCES user (user_id), -- whose permissions messages of the gateway's bot have
    sender_id       INTEGER NOT NULL REFERENCES user (user_id),
    UNIQUE (stream_id, asker_id, sender_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_email_asker ON channel_email (asker_id);

-- Addresses for answers to mails about messages. A row is deleted with its message.
CREATE TABLE reply_email (
    digest          BLOB    PRIMARY KEY,          -- SHA-256 of the token in the address
    user_id         INTEGER NOT NULL REFERENCES user (user_id), -- who got the mail, and is the author of answers
    message_id      INTEGER NOT NULL REFERENCES message (id), -- answers go to the conversation that it is in
    times_used      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX reply_email_message ON reply_email (message_id);
CREATE INDEX reply_email_user ON reply_email (user_id);
-- How the running server sends mail: one row, written at each start; none if the server sends no mail. Links in emails start with
-- this URL, because the host that a request names may be another site.
CREATE TABLE mail_setup (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    sender          TEXT    NOT NULL,             -- the address of --mail-from
    url             TEXT    NOT NULL              -- scheme, host and port of links, without a slash at the end
) STRICT;

-- Emails that wait for the mail server. A row is inserted with the change that causes it, and deleted when the mail server has
-- the email or refuses it for good.
CREATE TABLE outgoing_mail (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    kind            TEXT    NOT NULL,             -- for example invitation
    about           TEXT,                         -- by which it is withdrawn, for example password:5
    user_id         INTEGER REFERENCES user (user_id), -- the account that must be active when it is sent; null: none
    invite_id       INTEGER REFERENCES invite (invite_id) ON DELETE CASCADE, -- the invitation whose link it has
    recipient       TEXT    NOT NULL,             -- the address
    letter          TEXT    NOT NULL,             -- subject, text, HTML and headers, JSON
    created         INTEGER NOT NULL,             -- UNIX seconds
    expires         INTEGER NOT NULL,             -- from then on it is useless, and deleted
    next_try        INTEGER NOT NULL,             -- not sent before
    attempts        INTEGER NOT NULL DEFAULT 0,
    last_error      TEXT,
    basis           TEXT,                         -- the messages in it and a digest of their state, JSON; null: none
    priority        INTEGER NOT NULL DEFAULT 1    -- 0: someone waits for it, 1: others, 2: about messages
) STRICT;
CREATE INDEX outgoing_mail_due ON outgoing_mail (next_try);
CREATE INDEX outgoing_mail_priority ON outgoing_mail (priority, next_try);
CREATE INDEX outgoing_mail_about ON outgoing_mail (about) WHERE about IS NOT NULL;
CREATE INDEX outgoing_mail_invite ON outgoing_mail (invite_id) WHERE invite_id IS NOT NULL;
CREATE INDEX outgoing_mail_user ON outgoing_mail (user_id) WHERE user_id IS NOT NULL;

-- Links that prove the new addresses of users.
CREATE TABLE confirmation (
    user_id         INTEGER PRIMARY KEY REFERENCES user (user_id),
    digest          BLOB    NOT NULL UNIQUE,      -- SHA-256 of the secret part of the link
    email           TEXT    NOT NULL,             -- the new address
    expires         INTEGER NOT NULL              -- UNIX seconds
) STRICT;

-- Links that end mail of a kind, the same for all kinds. They are readable, since each email has one, and can do nothing else.
CREATE TABLE unsubscribe_key (
    user_id         INTEGER PRIMARY KEY REFERENCES user (user_id),
    key             TEXT    NOT NULL UNIQUE
) STRICT;

-- Messages for which the server has not decided yet who gets mail: inserted with the message, or with an edit that mentions
-- users, and deleted as soon as the decisions are made. A server without mail has none.
CREATE TABLE mail_message (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id      INTEGER NOT NULL,             -- the message may be deleted since
    edited_by       INTEGER REFERENCES user (user_id), -- null: it is a new message
    known_to        BLOB                          -- a set of users: mentioned before the edit, or decided about
) STRICT;

-- Messages for users who are not away. An event queue of the user may still deliver the message; if none does, they get mail.
CREATE TABLE mail_held (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    message_id      INTEGER NOT NULL,             -- the message may be deleted since
    event_id        INTEGER NOT NULL,             -- a queue that has this event has delivered the message
    next_check      INTEGER NOT NULL,             -- UNIX seconds
    PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_held_check ON mail_held (next_check);

-- Batches of messages that a person missed. The first message of a batch sets the time at which it is due. Then the server sends
-- an email about each conversation, and deletes the batch.
CREATE TABLE missed_batch (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    due             INTEGER NOT NULL,             -- UNIX seconds
    count           INTEGER NOT NULL DEFAULT 0    -- of its messages
) STRICT;
CREATE INDEX missed_batch_user ON missed_batch (user_id, due);
CREATE INDEX missed_batch_due ON missed_batch (due);

-- The messages of batches. An email is queued in the transaction that deletes its messages.
CREATE TABLE missed_message (
    batch_id        INTEGER NOT NULL REFERENCES missed_batch (id),
    message_id      INTEGER NOT NULL,             -- the message may be deleted since
    PRIMARY KEY (batch_id, message_id)
) STRICT, WITHOUT ROWID;

-- When the digests of people were last composed, also if there was nothing to send.
CREATE TABLE digest (
    user_id         INTEGER PRIMARY KEY REFERENCES user (user_id),
    sent            INTEGER NOT NULL              -- UNIX seconds
) STRICT;

-- Welcome texts that wait for their rendering: inserted with the account, and deleted when they are sent.
CREATE TABLE welcome_text (
    user_id         INTEGER PRIMARY KEY REFERENCES user (user_id),
    content         TEXT    NOT NULL              -- Markdown
) STRICT;

-- Work that committed jobs have left to follow-up jobs. The job that does the work deletes the row. After a crash, the next start
-- runs the jobs of all rows.
CREATE TABLE follow_up (
    id              INTEGER PRIMARY KEY,
    name            TEXT    NOT NULL,             -- the kind of work: `FollowUp::NAME`
    data            TEXT    NOT NULL              -- JSON, with the members of the type of this kind
) STRICT;
