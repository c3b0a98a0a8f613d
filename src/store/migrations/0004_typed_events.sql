-- Events are stored with the name and version of their type, and what only decides about their delivery is apart. Older rows
-- get a name that no type has: queues that still wait for one of them expire, all others go on.

ALTER TABLE event RENAME TO old_event;

CREATE TABLE event (
    id              INTEGER PRIMARY KEY,
    type            TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    version         INTEGER NOT NULL,
    audience        BLOB,
    audience_id     INTEGER,
    also_public     INTEGER NOT NULL,
    payload         TEXT    NOT NULL,
    routing         TEXT
) STRICT;

INSERT INTO event (id, type, name, version, audience, audience_id, also_public, payload)
SELECT id, type, 'untyped', 0, audience, audience_id, also_public, payload FROM old_event;

DROP TABLE old_event;
