-- Accounts know who invited them: limits count those of the last days for their inviter. Names are compared by what they look
-- like; names that look alike already stay as they are. The domains of stand-ins for hidden emails are kept, so that nobody
-- takes an address that stands for somebody else.

ALTER TABLE user ADD COLUMN invited_by INTEGER REFERENCES user (user_id);
CREATE INDEX user_invited_by ON user (invited_by, date_joined) WHERE invited_by IS NOT NULL;

CREATE TABLE name_skeleton (
    kind            TEXT    NOT NULL CHECK (kind IN ('user', 'email', 'stream', 'user_group')),
    is_folded       INTEGER NOT NULL,
    skeleton        TEXT    NOT NULL,
    id              INTEGER NOT NULL,
    PRIMARY KEY (kind, is_folded, skeleton, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX name_skeleton_id ON name_skeleton (kind, id);
INSERT INTO name_skeleton SELECT 'user', 0, skeleton(full_name), user_id FROM user;
INSERT INTO name_skeleton SELECT 'user', 1, folded_skeleton(full_name), user_id FROM user;
INSERT INTO name_skeleton SELECT 'email', 1, folded_skeleton(delivery_email), user_id FROM user;
INSERT INTO name_skeleton SELECT 'stream', 0, skeleton(name), stream_id FROM stream;
INSERT INTO name_skeleton SELECT 'stream', 1, folded_skeleton(name), stream_id FROM stream;
INSERT INTO name_skeleton SELECT 'user_group', 0, skeleton(name), id FROM user_group WHERE kind = 'named';
INSERT INTO name_skeleton SELECT 'user_group', 1, folded_skeleton(name), id FROM user_group WHERE kind = 'named';

CREATE TABLE dummy_email_domain (
    domain          TEXT    PRIMARY KEY
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO dummy_email_domain
SELECT substr(lower(email), instr(email, '@') + 1) FROM user
WHERE email <> delivery_email AND lower(email) GLOB 'user[0-9]*@?*';
