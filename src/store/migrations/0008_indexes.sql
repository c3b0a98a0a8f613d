-- Messages for webhooks are taken from the queue by bot, so that no bot waits for what is queued for another.
DROP INDEX outgoing_webhook_next_try;
CREATE INDEX outgoing_webhook_bot ON outgoing_webhook (bot_id, next_try);

-- Owners of bots are told when they see a default channel no longer.
CREATE INDEX bot_default_sending_stream ON bot (default_sending_stream)
    WHERE default_sending_stream IS NOT NULL;
CREATE INDEX bot_default_events_register_stream ON bot (default_events_register_stream)
    WHERE default_events_register_stream IS NOT NULL;

-- Who received a message while they were subscribed is found among the spans that ended after it, without their rows.
DROP INDEX subscription_span_ended;
CREATE INDEX subscription_span_ended ON subscription_span (stream_id, until_message_id)
    WHERE until_message_id IS NOT NULL;
