-- Secrets of invitations become digests, except where the interface lists the link again. API keys know when they were last
-- used, passwords can be reset by link, bots are at most members, and what is counted against a limit has an index.

CREATE TABLE api_key_use (
    api_key_id      INTEGER PRIMARY KEY REFERENCES api_key (id) ON DELETE CASCADE,
    last_used       INTEGER NOT NULL
) STRICT;

CREATE TABLE password_reset (
    user_id         INTEGER PRIMARY KEY REFERENCES user (user_id),
    digest          BLOB    NOT NULL UNIQUE,
    created_by      INTEGER NOT NULL REFERENCES user (user_id),
    expires         INTEGER NOT NULL
) STRICT;

ALTER TABLE invite RENAME TO old_invite;
DROP INDEX invite_inviter;
DROP INDEX invite_email;

CREATE TABLE invite (
    invite_id                           INTEGER PRIMARY KEY AUTOINCREMENT,
    digest                              BLOB    NOT NULL UNIQUE,
    key                                 TEXT,
    email                               TEXT,
    invited_by_user_id                  INTEGER REFERENCES user (user_id),
    invited                             INTEGER NOT NULL,
    expiry_date                         INTEGER,
    invited_as                          INTEGER NOT NULL CHECK (invited_as IN (100, 200, 300, 400, 600)),
    stream_ids                          TEXT    NOT NULL,
    group_ids                           TEXT    NOT NULL,
    include_realm_default_subscriptions INTEGER NOT NULL,
    notify_referrer_on_join             INTEGER NOT NULL,
    welcome_message_custom_text         TEXT,
    is_revoked                          INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX invite_inviter ON invite (invited_by_user_id);
CREATE INDEX invite_email ON invite (lower(email)) WHERE email IS NOT NULL;

INSERT INTO invite
SELECT invite_id, sha256(key), iif(email IS NULL AND invited_by_user_id IS NOT NULL AND NOT is_revoked, key, NULL), email,
    invited_by_user_id, invited, expiry_date, invited_as, stream_ids, group_ids, include_realm_default_subscriptions,
    notify_referrer_on_join, welcome_message_custom_text, is_revoked
FROM old_invite;

DROP TABLE old_invite;

UPDATE user SET role = 400 WHERE bot_type IS NOT NULL AND NOT is_system_bot AND role < 400;

CREATE INDEX user_group_creator ON user_group (creator_id) WHERE creator_id IS NOT NULL;
CREATE INDEX stream_creator ON stream (creator_id) WHERE creator_id IS NOT NULL;

-- The server receives no mail: the addresses of channels led nowhere.
DROP TABLE channel_email_address;
