//! Whether a message event passes the `narrow` of a queue (`POST /register`).

use crate::domain::messages::events::{FlagHolders, MessageSent};
use crate::domain::messages::record::DisplayRecipient;
use crate::events::Receiver;
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, Topic, UserId};

/// Checks whether all terms of the queue's narrow hold for a new message.
pub fn matches(message: &MessageSent, flags: &FlagHolders, receiver: &Receiver<'_>) -> bool {
    receiver.registration.narrow.iter().all(|(operator, operand)| match operator.as_str() {
        "channel" | "stream" => is_channel(message, operand),
        "topic" => is_topic(message, operand),
        "sender" => is_sender(message, operand),
        "is" => is(message, flags, operand, receiver.user_id),
        _ => false,
    })
}

fn is_channel(message: &MessageSent, operand: &str) -> bool {
    let DisplayRecipient::Stream(name) = &message.display_recipient else { return false };
    name.to_lowercase() == operand.to_lowercase() || is_id(message.stream_id.map(|id| id.0), operand)
}

fn is_topic(message: &MessageSent, operand: &str) -> bool {
    let wanted = if operand == EMPTY_TOPIC_DISPLAY_NAME { "" } else { operand };
    message.stream_id.is_some() && message.subject.to_lowercase() == wanted.to_lowercase()
}

fn is_sender(message: &MessageSent, operand: &str) -> bool {
    let sender = &message.sender;
    sender.email.eq_ignore_ascii_case(operand) || is_id(Some(sender.user_id.0), operand)
}

fn is_id(id: Option<i64>, operand: &str) -> bool {
    operand.parse().is_ok_and(|operand| id == Some(operand))
}

fn is(message: &MessageSent, flags: &FlagHolders, operand: &str, user_id: UserId) -> bool {
    match operand {
        "dm" | "private" => message.stream_id.is_none(),
        "unread" => !flags.read.contains(&user_id),
        "mentioned" => {
            flags.stream_wildcard
                || flags.mentioned.contains(&user_id)
                || flags.topic_wildcard.contains(&user_id)
        }
        "alerted" => flags.alerted.contains(&user_id),
        "resolved" => message.subject.starts_with(Topic::RESOLVED_PREFIX),
        // A new message has none of the other flags.
        _ => false,
    }
}
