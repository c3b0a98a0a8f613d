-- Subscribers of a channel are counted and listed from the index alone. Without the column of its own condition, SQLite looks
-- up each row to test it.
DROP INDEX subscription_stream;
CREATE INDEX subscription_stream ON subscription (stream_id, user_id, active) WHERE active;
