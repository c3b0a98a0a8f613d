-- Work that committed jobs have left to follow-up jobs.
CREATE TABLE follow_up (
    id              INTEGER PRIMARY KEY,
    name            TEXT    NOT NULL,
    data            TEXT    NOT NULL
) STRICT;
DROP TABLE event_withdrawal;
