-- People who get push notifications about all messages of a channel, as those who get mail.
CREATE INDEX user_setting_pushed ON user_setting (user_id)
    WHERE property = 'enable_stream_push_notifications' AND value = 'true';
CREATE INDEX subscription_pushed ON subscription (stream_id, user_id, active) WHERE active AND push_notifications;
