-- Welcome texts that wait for their rendering: inserted with the account, and deleted when they are sent.
CREATE TABLE welcome_text (
    user_id         INTEGER PRIMARY KEY REFERENCES user (user_id),
    content         TEXT    NOT NULL              -- Markdown
) STRICT;
