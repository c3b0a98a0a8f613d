-- Notices that one person caused to another, and links of invitations that were made again, are limited by day.
CREATE TABLE notice_budget (
    causer_id       INTEGER NOT NULL,             -- the person; no references, since rows are deleted after a day
    recipient_id    INTEGER NOT NULL,             -- the conversation with the notification bot, or the channel
    since           INTEGER NOT NULL,             -- when the first notice was sent, in UNIX seconds
    count           INTEGER NOT NULL,
    PRIMARY KEY (causer_id, recipient_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notice_budget_since ON notice_budget (since);

ALTER TABLE invite ADD COLUMN resent INTEGER;
