//! The text of reminders.

use crate::domain::access::users::{Accessible, UNKNOWN_USER};
use crate::domain::limits::{MAX_MESSAGE_LENGTH, MAX_REMINDER_NOTE_LENGTH};
use crate::domain::messages::markup::{Location, enumerated, framed, mentions_of_others, silent_mention};
use crate::domain::messages::record::MessageRow;
use crate::http::{ApiError, ApiResult, Caller};
use rusqlite::Connection;

/// Checks the length of a note, and returns it without leading line breaks and trailing white space.
pub fn note(text: &str) -> ApiResult<String> {
    let text = text.trim_end().trim_start_matches('\n');
    if text.chars().count() > MAX_REMINDER_NOTE_LENGTH {
        let msg = format!("Maximum reminder note length: {MAX_REMINDER_NOTE_LENGTH} characters");
        return Err(ApiError::bad_request(msg));
    }
    Ok(text.to_owned())
}

/// The text of a reminder: the sender and location of the message, and its content as a quote. A sender whom the reader
/// cannot access has no name.
pub fn of_message(
    connection: &Connection,
    reader: &Caller,
    message: &MessageRow,
    note: &str,
) -> ApiResult<String> {
    let place = Location::of(connection, message)?;
    let (kind, whereto) = match &place {
        Location::Channel { link, .. } => ("message", format!("in {link}")),
        Location::Direct { people, .. } => {
            let others = mentions_of_others(connection, people, message.sender_id)?;
            ("direct message", format!("to {}", enumerated(&others)))
        }
    };
    let mut text = format!("You requested a reminder for the following {kind}.");
    if !note.is_empty() {
        text.push_str(" Note:\n > ");
        text.push_str(note);
    }
    let sender = if Accessible::to(connection, reader)?.contains(message.sender_id) {
        silent_mention(&message.sender_full_name, message.sender_id)
    } else {
        UNKNOWN_USER.to_owned()
    };
    let url = place.url();
    // The content of a widget is data, which cannot be quoted.
    let widget = [("/poll", "poll"), ("/todo", "todo list")]
        .into_iter()
        .find(|(command, _)| message.content.starts_with(command));
    if let Some((_, widget)) = widget {
        return Ok(format!("{text}\n\n{sender} [sent]({url}) a {widget} {whereto}."));
    }
    let text = format!("{text}\n\n{sender} [said]({url}) {whereto}:\n");
    let room = MAX_MESSAGE_LENGTH.saturating_sub(text.chars().count());
    Ok(text + &framed("quote", &message.content, room))
}
