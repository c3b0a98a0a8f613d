-- A table of all words, for prefix search: the vocabulary of the FTS5 index lists every occurrence. Of messages from before
-- this migration only the stems are known.

CREATE TABLE search_word (
    word                    TEXT PRIMARY KEY,
    stem                    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO search_word (word, stem) SELECT DISTINCT term, term FROM message_word;

DROP TABLE message_word;
