-- Direct conversations know who began them, so that a limit counts those of each user: whoever sent their first message.
ALTER TABLE recipient ADD COLUMN created_by INTEGER REFERENCES user (user_id);
UPDATE recipient SET created_by = (
    SELECT sender_id FROM message WHERE message.recipient_id = recipient.recipient_id ORDER BY id LIMIT 1
)
WHERE user_ids IS NOT NULL;
CREATE INDEX recipient_creator ON recipient (created_by) WHERE created_by IS NOT NULL;
