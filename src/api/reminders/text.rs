//! The text of reminders.

use crate::domain::access::users::{Accessible, UNKNOWN_USER};
use crate::domain::limits::{MAX_MESSAGE_LENGTH, MAX_REMINDER_NOTE_LENGTH};
use crate::domain::messages::markup::{Location, enumerated, framed, mentions_of_others, silent_mention};
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::rules;
use crate::domain::user_settings;
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::fill;
use rusqlite::Connection;

/// Checks the length of a note, and returns it trimmed as the content of a message.
pub fn note(text: &str) -> ApiResult<String> {
    let text = rules::trimmed(text)?;
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
    let language = user_settings::language_of(connection, reader.user_id)?;
    let (is_direct, whereto) = match &place {
        Location::Channel { link, .. } => (false, link.clone()),
        Location::Direct { people, .. } => {
            (true, enumerated(language, &mentions_of_others(connection, people, message.sender_id)?))
        }
    };
    let begin = match (is_direct, note.is_empty()) {
        (false, true) => language.t("You requested a reminder for the following message."),
        (false, false) => language.t("You requested a reminder for the following message. Note:"),
        (true, true) => language.t("You requested a reminder for the following direct message."),
        (true, false) => language.t("You requested a reminder for the following direct message. Note:"),
    };
    let mut text = begin.to_owned();
    if !note.is_empty() {
        text.push_str("\n > ");
        text.push_str(note);
    }
    let sender = if Accessible::to(connection, reader)?.contains(message.sender_id) {
        silent_mention(&message.sender_full_name, message.sender_id)
    } else {
        UNKNOWN_USER.to_owned()
    };
    let url = place.url();
    // The content of a widget is data, which cannot be quoted.
    let is = |command: &str| message.content.starts_with(command);
    let sentence = match (is_direct, is("/poll"), is("/todo")) {
        (false, true, _) => language.t("{sender} [sent]({url}) a poll in {place}."),
        (false, _, true) => language.t("{sender} [sent]({url}) a todo list in {place}."),
        (true, true, _) => language.t("{sender} [sent]({url}) a poll to {place}."),
        (true, _, true) => language.t("{sender} [sent]({url}) a todo list to {place}."),
        (false, false, false) => language.t("{sender} [said]({url}) in {place}:"),
        (true, false, false) => language.t("{sender} [said]({url}) to {place}:"),
    };
    let sentence = fill(sentence, &[("sender", &sender), ("url", url), ("place", &whereto)]);
    if is("/poll") || is("/todo") {
        return Ok(format!("{text}\n\n{sentence}"));
    }
    let text = format!("{text}\n\n{sentence}\n");
    let room = MAX_MESSAGE_LENGTH.saturating_sub(text.chars().count());
    Ok(text + &framed("quote", &message.content, room))
}
