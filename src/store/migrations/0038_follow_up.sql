-- Work that committed jobs have left to follow-up jobs.
CREATE TABLE follow_up (
    id              INTEGER PRIMARY KEY,
    name            TEXT    NOT NULL,
    data            TEXT    NOT NULL
) STRICT;
-- After an interrupted withdrawal, the log still has messages for users who lost them. Without their queues, clients register again.
DELETE FROM event_queue WHERE EXISTS (SELECT 1 FROM event_withdrawal);
DROP TABLE event_withdrawal;
