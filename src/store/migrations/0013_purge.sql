-- Removing the words of deleted messages. What earlier versions left is looked through once.

CREATE TABLE retired_word (
    word            TEXT    PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE search_purge (
    due             INTEGER PRIMARY KEY
) STRICT;

INSERT INTO retired_word (word) SELECT word FROM search_word;
INSERT INTO search_purge (due) VALUES (0);

-- Uploads that are not finished count for somebody.
ALTER TABLE upload_content ADD COLUMN user_id INTEGER REFERENCES user (user_id);
