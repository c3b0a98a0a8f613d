-- The lowest priority is sent first: 0 is mail that someone waits for, 2 is mail about messages.
ALTER TABLE outgoing_mail ADD COLUMN priority INTEGER NOT NULL DEFAULT 1;
CREATE INDEX outgoing_mail_priority ON outgoing_mail (priority, next_try);
UPDATE outgoing_mail SET priority = 2 WHERE kind IN ('missed_messages', 'digest');
