//! Notices to the owners of bots about messages that were not delivered.
//!
//! A broken program may fail every minute, so notices are rate limited.

use crate::auth::Caller;
use crate::domain::notices::budget;
use crate::domain::rows::channel::StreamRow;
use crate::domain::rows::user::UserRow;
use crate::domain::subscriptions::members;
use crate::domain::{bots, notices, rows, user_settings};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{JsonOrText, Language, UserId, is_unprintable};
use serde_json::Value;
use teamchat_markdown::{Composition, Words};

/// The shortest time between two notices about one bot, in seconds.
const OWNER_NOTICE_INTERVAL_SECONDS: i64 = 3600;

/// Notifies the owner of a bot, if the caller is one, has an active owner, and that owner was not notified recently.
/// `by` is the user whose message or request failed. `content` composes the message from the bot's row, in the language
/// of the owner.
pub fn notify_owner(
    tx: &mut Tx<'_>,
    caller: &Caller,
    by: UserId,
    content: impl FnOnce(&UserRow, Language) -> Composition,
) -> ApiResult<()> {
    let Some(owner_id) = caller.bot_owner_id.filter(|_| caller.is_bot()) else { return Ok(()) };
    let owner = rows::user::by_id(tx, owner_id)?.filter(|owner| owner.is_active);
    let bot = rows::user::by_id(tx, caller.user_id)?;
    let (Some(owner), Some(bot)) = (owner, bot) else { return Ok(()) };
    if !bots::note_owner_notice(tx, bot.user_id, tx.now(), OWNER_NOTICE_INTERVAL_SECONDS)? {
        return Ok(());
    }
    let address = notices::direct_address(tx, owner.user_id)?;
    let language = user_settings::language_of(tx, owner.user_id)?;
    budget::send_caused(tx, by, address, content(&bot, language))
}

/// Notifies the owner of a bot of a channel that does not exist: `to` is a name or an id.
pub fn missing_channel(tx: &mut Tx<'_>, caller: &Caller, to: &JsonOrText) -> ApiResult<()> {
    let named = match to {
        JsonOrText::Json(Value::Array(list)) => list.first().cloned().unwrap_or_default(),
        JsonOrText::Json(one) => one.clone(),
        JsonOrText::Text(name) => Value::String(name.clone()),
    };
    notify_owner(tx, caller, caller.user_id, |bot, language| {
        let bot = ("bot", Words::default().code(&bot.delivery_email));
        let words = match named {
            Value::Number(id) => {
                let id = Words::default().number(id.as_i64().unwrap_or_default());
                let text = language
                    .t("Your bot {bot} tried to send a message to channel ID {id}, but there is no channel with that ID.");
                Words::filled(text, &[bot, ("id", id)])
            }
            other => {
                let name = Words::default().strong_text(&shortened(other.as_str().unwrap_or_default()));
                let link = Words::default().link(language.t("here"), "#channels/new");
                let text = language.t(
                    "Your bot {bot} tried to send a message to channel #{name}, but that channel does not \
                     exist. Click {link} to create it.",
                );
                Words::filled(text, &[bot, ("name", name), ("link", link)])
            }
        };
        words.into()
    })
}

/// Notifies the owner of a bot if the channel of its message has no subscribers.
pub fn channel_without_subscribers(tx: &mut Tx<'_>, caller: &Caller, stream: &StreamRow) -> ApiResult<()> {
    if !caller.is_bot() || !members::audience(tx, stream.stream_id)?.bitmap().is_empty() {
        return Ok(());
    }
    notify_owner(tx, caller, caller.user_id, |bot, language| {
        let bot = Words::default().code(&bot.delivery_email);
        let channel = Words::default().channel(stream.stream_id.0, &stream.name);
        let text = language.t(
            "Your bot {bot} tried to send a message to channel {channel}. The channel exists but does not \
             have any subscribers.",
        );
        Words::filled(text, &[("bot", bot), ("channel", channel)]).into()
    })
}

/// A name as it was sent, in one line.
fn shortened(name: &str) -> String {
    name.chars().filter(|character| !is_unprintable(*character)).take(60).collect()
}
