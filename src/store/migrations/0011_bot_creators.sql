-- Bots know who made them: their work and what they own count for that person, also when the bot is given away. Who made
-- the bots of today is not known, so it is their owners.
ALTER TABLE bot ADD COLUMN created_by INTEGER REFERENCES user (user_id);
UPDATE bot SET created_by = (SELECT bot_owner_id FROM user WHERE user.user_id = bot.user_id);
CREATE INDEX bot_creator ON bot (created_by) WHERE created_by IS NOT NULL;
