-- Sessions of browsers, which were API keys of the client "website" before: people log in again once.
DELETE FROM api_key WHERE client = 'website';

CREATE TABLE session (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    digest          BLOB    NOT NULL UNIQUE,
    client          TEXT    NOT NULL,
    date_created    INTEGER NOT NULL
) STRICT;
CREATE INDEX session_user ON session (user_id);

CREATE TABLE session_use (
    session_id      INTEGER PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
    last_used       INTEGER NOT NULL,
    address         TEXT    NOT NULL
) STRICT;

CREATE TABLE known_login (
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    address         BLOB    NOT NULL,
    client          TEXT    NOT NULL,
    last_used       INTEGER NOT NULL,
    PRIMARY KEY (user_id, address, client)
) STRICT, WITHOUT ROWID;
