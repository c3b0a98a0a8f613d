-- The text of a deleted message is withdrawn from its events: those that have the text name the message.
ALTER TABLE event RENAME TO earlier_event;
CREATE TABLE event (
    id              INTEGER PRIMARY KEY,
    type            TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    version         INTEGER NOT NULL,
    audience        BLOB,
    audience_id     INTEGER,
    also_public     INTEGER NOT NULL,
    message_id      INTEGER,
    payload         TEXT    NOT NULL,
    routing         TEXT
) STRICT;
INSERT INTO event (id, type, name, version, audience, audience_id, also_public, message_id, payload, routing)
SELECT id, type, name, version, audience, audience_id, also_public,
    CASE iif(json_valid(payload), name, '')
        WHEN 'message' THEN payload ->> '$.id'
        WHEN 'update_message' THEN payload ->> '$.message_id'
        WHEN 'submessage' THEN payload ->> '$.message_id'
    END,
    payload, routing
FROM earlier_event;
DROP TABLE earlier_event;
CREATE INDEX event_message ON event (message_id) WHERE message_id IS NOT NULL;
-- Stored audiences that no event has are found without reading the log.
CREATE INDEX event_large_audience ON event (audience_id) WHERE audience_id IS NOT NULL;
-- Messages are deleted a few at a time, and the reminders of each are looked up.
CREATE INDEX reminder_message ON reminder (message_id);
