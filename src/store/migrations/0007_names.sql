-- Names lose characters that no name can have any more: control characters, line ends, and characters that change the
-- direction of the text after them; in names of groups also marks that end a mention. Each becomes a space. The id is
-- added, so that a name stays unique; should another one have just that name, a random number as well.

CREATE TEMP TABLE forbidden (position INTEGER PRIMARY KEY, character TEXT NOT NULL, in_groups INTEGER NOT NULL);
WITH RECURSIVE code (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM code WHERE number < 159)
INSERT INTO forbidden (character, in_groups)
SELECT char(number), 0 FROM code WHERE number < 32 OR number >= 127;
WITH RECURSIVE code (number) AS (SELECT 8232 UNION ALL SELECT number + 1 FROM code WHERE number < 8238)
INSERT INTO forbidden (character, in_groups) SELECT char(number), 0 FROM code;
WITH RECURSIVE code (number) AS (SELECT 8294 UNION ALL SELECT number + 1 FROM code WHERE number < 8297)
INSERT INTO forbidden (character, in_groups) SELECT char(number), 0 FROM code;
INSERT INTO forbidden (character, in_groups)
VALUES (char(65534), 0), (char(65535), 0), ('*', 1), ('`', 1), ('\', 1);

-- The texts to change, and then each with one more character replaced.
CREATE TEMP TABLE dirty (kind TEXT NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, name_key TEXT NOT NULL);
INSERT INTO dirty
SELECT 'user', user_id, full_name, '' FROM user
WHERE EXISTS (SELECT 1 FROM forbidden WHERE NOT in_groups AND instr(full_name, character));
INSERT INTO dirty
SELECT 'stream', stream_id, name, name_key FROM stream
WHERE EXISTS (SELECT 1 FROM forbidden WHERE NOT in_groups AND instr(name, character));
INSERT INTO dirty
SELECT 'channel_folder', id, name, name_key FROM channel_folder
WHERE EXISTS (SELECT 1 FROM forbidden WHERE NOT in_groups AND instr(name, character));
INSERT INTO dirty
SELECT 'user_group', id, name, name_key FROM user_group
WHERE name_key IS NOT NULL AND EXISTS (SELECT 1 FROM forbidden WHERE instr(name, character));
INSERT INTO dirty
SELECT 'realm', 0, json_extract(value, '$'), '' FROM realm_setting
WHERE property = 'name'
    AND EXISTS (SELECT 1 FROM forbidden WHERE NOT in_groups AND instr(json_extract(value, '$'), character));

CREATE TEMP TABLE clean AS
WITH RECURSIVE step (kind, id, name, name_key, done) AS (
    SELECT kind, id, name, name_key, 0 FROM dirty
    UNION ALL
    SELECT kind, id, replace(name, character, ' '), replace(name_key, character, ' '), position
    FROM step JOIN forbidden ON position = done + 1 AND (NOT in_groups OR kind = 'user_group')
)
SELECT kind, id, trim(name) || ' ' || id AS name, trim(name_key) || ' ' || id AS name_key,
    lower(hex(randomblob(8))) AS number, max(done)
FROM step GROUP BY kind, id;

UPDATE user SET full_name = clean.name FROM clean WHERE clean.kind = 'user' AND clean.id = user.user_id;
UPDATE realm_setting SET value = json_quote(substr(clean.name, 1, length(clean.name) - 2))
FROM clean WHERE clean.kind = 'realm' AND property = 'name';

UPDATE OR IGNORE stream SET name = clean.name, name_key = clean.name_key
FROM clean WHERE clean.kind = 'stream' AND clean.id = stream.stream_id;
UPDATE stream SET name = clean.name || ' ' || number, name_key = clean.name_key || ' ' || number
FROM clean WHERE clean.kind = 'stream' AND clean.id = stream.stream_id AND stream.name_key <> clean.name_key;

UPDATE OR IGNORE channel_folder SET name = clean.name, name_key = clean.name_key
FROM clean WHERE clean.kind = 'channel_folder' AND clean.id = channel_folder.id;
UPDATE channel_folder SET name = clean.name || ' ' || number, name_key = clean.name_key || ' ' || number
FROM clean WHERE clean.kind = 'channel_folder' AND clean.id = channel_folder.id AND channel_folder.name_key <> clean.name_key;

UPDATE OR IGNORE user_group SET name = clean.name, name_key = clean.name_key
FROM clean WHERE clean.kind = 'user_group' AND clean.id = user_group.id;
UPDATE user_group SET name = clean.name || ' ' || number, name_key = clean.name_key || ' ' || number
FROM clean WHERE clean.kind = 'user_group' AND clean.id = user_group.id AND user_group.name_key <> clean.name_key;

DROP TABLE clean;
DROP TABLE dirty;
DROP TABLE forbidden;
