-- Words are completed from a list of their own: the index's took as long as there are places of the word before.
-- Of older messages the stems alone are known.

CREATE TABLE search_word (
    word                    TEXT PRIMARY KEY,
    stem                    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO search_word (word, stem) SELECT DISTINCT term, term FROM message_word;

DROP TABLE message_word;
