-- Messages that users lost in a move, while events about them are still delivered to these users.
CREATE TABLE event_withdrawal (
    id              INTEGER PRIMARY KEY,
    message_ids     BLOB    NOT NULL,
    user_ids        BLOB    NOT NULL,
    also_public     INTEGER NOT NULL,
    until           INTEGER NOT NULL
) STRICT;
