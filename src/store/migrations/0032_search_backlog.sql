-- Messages whose entries in the search index have an earlier topic.
CREATE TABLE search_backlog (
    number                  INTEGER PRIMARY KEY,
    message_id              INTEGER NOT NULL
) STRICT;
