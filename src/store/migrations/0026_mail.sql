-- How the running server sends mail: one row, written at each start; none if it sends none. Every letter takes its links from here:
-- the host that a request names may be another site.
CREATE TABLE mail_setup (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    sender          TEXT    NOT NULL,             -- the address of --mail-from
    url             TEXT    NOT NULL              -- scheme, host and port of links, without a slash at the end
) STRICT;

-- Letters that wait for the mail server. A row is inserted with the change that causes it, and deleted when the mail server has
-- the letter or refuses it for good.
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
    last_error      TEXT
) STRICT;
CREATE INDEX outgoing_mail_due ON outgoing_mail (next_try);
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

-- Links that end mail of a kind, the same for all kinds. They are readable, since each letter has one, and can do nothing else.
CREATE TABLE unsubscribe_key (
    user_id         INTEGER PRIMARY KEY REFERENCES user (user_id),
    key             TEXT    NOT NULL UNIQUE
) STRICT;
