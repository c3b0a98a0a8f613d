CREATE TABLE audit_entry (
    id              INTEGER PRIMARY KEY,
    time            INTEGER NOT NULL,
    actor           TEXT    NOT NULL,
    actor_id        INTEGER,
    address         TEXT,
    action          TEXT    NOT NULL,
    subject         TEXT    NOT NULL,
    subject_id      INTEGER,
    name            TEXT,
    before          TEXT,
    after           TEXT,
    times           INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE INDEX audit_entry_time ON audit_entry (time);
CREATE INDEX audit_entry_action ON audit_entry (action, time);
CREATE INDEX audit_entry_actor ON audit_entry (actor, actor_id, time);
