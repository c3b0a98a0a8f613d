//! Notices to the owners of bots: messages of a bot that reached nobody.
//!
//! A program that fails once fails every minute, so an owner is told of few failures.

use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::user_rows as users;
use crate::domain::access::user_rows::UserRow;
use crate::domain::bots::sql as bots;
use crate::domain::notices;
use crate::domain::subscriptions::members;
use crate::http::params::JsonOrText;
use crate::http::{ApiResult, Caller};
use crate::markdown::{Composition, Words};
use crate::store::Tx;
use crate::types::is_unprintable;
use serde_json::Value;

/// The shortest time between two notices about one bot, in seconds.
pub const OWNER_NOTICE_INTERVAL_SECONDS: i64 = 3600;

/// Tells the owner of a bot, if the caller is one, has an active owner, and that owner was not told of a failure lately.
/// `content` composes the message from the bot's row.
pub fn notify_owner(
    tx: &mut Tx<'_>,
    caller: &Caller,
    content: impl FnOnce(&UserRow) -> Composition,
) -> ApiResult<()> {
    let Some(owner_id) = caller.bot_owner_id.filter(|_| caller.is_bot()) else { return Ok(()) };
    let owner = users::by_id(tx, owner_id)?.filter(|owner| owner.is_active);
    let bot = users::by_id(tx, caller.user_id)?;
    let (Some(owner), Some(bot)) = (owner, bot) else { return Ok(()) };
    if !bots::note_owner_notice(tx, bot.user_id, tx.now(), OWNER_NOTICE_INTERVAL_SECONDS)? {
        return Ok(());
    }
    let address = notices::direct_address(tx, owner.user_id)?;
    notices::send_as_notification_bot(tx, address, content(&bot)).map(|_| ())
}

/// Tells the owner of a bot that it named a channel that does not exist: `to` is a name or an id.
pub fn missing_channel(tx: &mut Tx<'_>, caller: &Caller, to: &JsonOrText) -> ApiResult<()> {
    let named = match to {
        JsonOrText::Json(Value::Array(list)) => list.first().cloned().unwrap_or_default(),
        JsonOrText::Json(one) => one.clone(),
        JsonOrText::Text(name) => Value::String(name.clone()),
    };
    notify_owner(tx, caller, |bot| {
        let before = Words::new("Your bot ").code(&bot.delivery_email);
        let words = match named {
            Value::Number(id) => before
                .words(" tried to send a message to channel ID ")
                .number(id.as_i64().unwrap_or_default())
                .words(", but there is no channel with that ID."),
            other => before
                .words(" tried to send a message to channel #")
                .strong_text(&shortened(other.as_str().unwrap_or_default()))
                .words(", but that channel does not exist. Click ")
                .link("here", "#channels/new")
                .words(" to create it."),
        };
        words.into()
    })
}

/// Tells the owner of a bot that a channel to which it sent a message has no subscribers, if so.
pub fn channel_without_subscribers(tx: &mut Tx<'_>, caller: &Caller, stream: &StreamRow) -> ApiResult<()> {
    if !caller.is_bot() || !members::audience(tx, stream.stream_id)?.bitmap().is_empty() {
        return Ok(());
    }
    notify_owner(tx, caller, |bot| {
        Words::new("Your bot ")
            .code(&bot.delivery_email)
            .words(" tried to send a message to channel ")
            .channel(stream.stream_id.0, &stream.name)
            .words(". The channel exists but does not have any subscribers.")
            .into()
    })
}

/// A name as it was sent, in one line.
fn shortened(name: &str) -> String {
    name.chars().filter(|character| !is_unprintable(*character)).take(60).collect()
}
