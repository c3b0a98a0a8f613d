-- Phones get push notifications through a bouncer: they share the queue with browsers, so that a subscription need not have a
-- session.

DROP INDEX push_notification_due;
ALTER TABLE push_notification RENAME TO earlier_push_notification;
ALTER TABLE push_subscription RENAME TO earlier_push_subscription;

CREATE TABLE push_subscription (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    session_id      INTEGER UNIQUE REFERENCES session (id) ON DELETE CASCADE,
    endpoint        TEXT    UNIQUE,
    public_key      BLOB,
    auth_secret     BLOB,
    shows_content   INTEGER NOT NULL,
    origin          TEXT    NOT NULL,
    failing_since   INTEGER,
    CHECK ((session_id IS NULL) = (endpoint IS NULL))
) STRICT;
CREATE INDEX push_subscription_user ON push_subscription (user_id);
CREATE UNIQUE INDEX push_subscription_phones ON push_subscription (user_id) WHERE session_id IS NULL;

CREATE TABLE push_device (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    kind            INTEGER NOT NULL,
    token           TEXT    NOT NULL,
    app_id          TEXT,
    api_key_id      INTEGER REFERENCES api_key (id) ON DELETE SET NULL,
    failed_tries    INTEGER NOT NULL DEFAULT 0,
    next_try        INTEGER NOT NULL DEFAULT 0,
    UNIQUE (user_id, kind, token)
) STRICT;
CREATE INDEX push_device_key ON push_device (api_key_id);

CREATE TABLE push_notification (
    subscription_id INTEGER NOT NULL REFERENCES push_subscription (id) ON DELETE CASCADE,
    tag             TEXT    NOT NULL,
    message_ids     BLOB    NOT NULL,
    is_shown        INTEGER NOT NULL DEFAULT 0,
    queued          INTEGER NOT NULL,
    failed_tries    INTEGER NOT NULL DEFAULT 0,
    next_try        INTEGER,
    shown_ids       BLOB,
    PRIMARY KEY (subscription_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX push_notification_due ON push_notification (next_try) WHERE next_try IS NOT NULL;

INSERT INTO push_subscription (id, user_id, session_id, endpoint, public_key, auth_secret, shows_content, origin, failing_since)
SELECT earlier.id, user_id, session_id, endpoint, public_key, auth_secret, shows_content, origin, failing_since
FROM earlier_push_subscription AS earlier JOIN session ON session.id = session_id;

INSERT INTO push_notification (subscription_id, tag, message_ids, is_shown, queued, failed_tries, next_try)
SELECT subscription_id, tag, message_ids, is_shown, queued, failed_tries, next_try FROM earlier_push_notification;

DROP TABLE earlier_push_notification;
DROP TABLE earlier_push_subscription;
