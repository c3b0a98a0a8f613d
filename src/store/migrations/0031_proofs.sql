-- The messages in a letter, and a digest of their state, JSON: if it is another when the letter is sent, the letter is composed
-- again. Null: it has none.
ALTER TABLE outgoing_mail ADD COLUMN basis TEXT;

-- The reusable link whose terms a person signs up with, at an address that a letter proves.
ALTER TABLE invite ADD COLUMN parent_id INTEGER REFERENCES invite (invite_id) ON DELETE CASCADE;
CREATE INDEX invite_parent ON invite (parent_id) WHERE parent_id IS NOT NULL;

-- True if only a letter to the address has the link.
ALTER TABLE invite ADD COLUMN is_mailed INTEGER NOT NULL DEFAULT 0;

-- True if a letter or a provider of OpenID Connect has proven that the person has the address.
ALTER TABLE user ADD COLUMN is_email_proven INTEGER NOT NULL DEFAULT 0;
