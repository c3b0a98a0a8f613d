-- What the whole organization needs beside its messages. The tables are explained in schema.sql.

-- Invitations.
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
