-- Bots: when the owner was told of a failure, so that they are told of few.
ALTER TABLE bot ADD COLUMN owner_notified INTEGER;

-- The version of the server that opened the file last, so that clients are told of another one.
ALTER TABLE realm ADD COLUMN server_version TEXT NOT NULL DEFAULT '';
