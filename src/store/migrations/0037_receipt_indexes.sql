-- Spans of one message, which can be very many, are found by it, and longer ones by their end.
DROP INDEX subscription_span_ended;
CREATE INDEX subscription_span_ended ON subscription_span (stream_id, until_message_id)
    WHERE until_message_id > from_message_id + 1;
CREATE INDEX subscription_span_single ON subscription_span (stream_id, from_message_id, until_message_id)
    WHERE until_message_id = from_message_id + 1;
-- The receivers and readers of a message are found without looking at rows of each subscriber in other tables.
CREATE INDEX subscription_span_current ON subscription_span (stream_id, from_message_id, until_message_id)
    WHERE until_message_id IS NULL;
CREATE INDEX read_chunk_recipient ON read_chunk (recipient_id, chunk);
