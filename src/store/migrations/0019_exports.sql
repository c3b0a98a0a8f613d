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
