//! Giving a bot to another owner.
//!
//! A bot has rights that follow from its owner: it posts where the owner may, and is told the channels that the owner is
//! in. So nothing by which others acted through it may outlast a change of its owner: its key, its queues, the URL that
//! its messages are posted to, and messages that wait to be sent. It also leaves the private channels that the new owner
//! is not in, who would read them by it.

use crate::domain::access::channel_rows;
use crate::domain::access::user_rows;
use crate::domain::access::user_rows::UserRow;
use crate::domain::accounts::role;
use crate::domain::bots;
use crate::domain::bots::rules;
use crate::domain::membership::unsubscribe;
use crate::domain::messages::webhook_queue;
use crate::domain::notices::ownership;
use crate::domain::notices::ownership::{Actor, Handover};
use crate::domain::subscriptions::sql as subscriptions;
use crate::events;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::Role;

/// Gives a bot to another owner, and tells both. The bot of a guest becomes a guest. Returns the bot as it is afterwards.
/// The caller ends its pending polls with [`crate::events::Hub::remove_of`] after the job.
pub fn give(tx: &mut Tx<'_>, bot: &UserRow, owner: &UserRow, by: Actor) -> ApiResult<UserRow> {
    tracing::info!(bot_id = bot.user_id.0, owner_id = owner.user_id.0, ?by, "a bot got another owner");
    let handover = Handover {
        left_channels: leave_private_channels(tx, bot, owner)?,
        lost_url: bots::sql::clear_service(tx, bot.user_id, &rules::new_token())?,
        has_stopped_messages: bots::sql::stop_scheduled_messages(tx, bot.user_id)?,
    };
    webhook_queue::remove_all(tx, bot.user_id)?;
    events::delete_queues_of(tx, bot.user_id)?;
    let mut after = bots::change::set_owner(tx, bot, owner.user_id)?;
    // A guest would see by the bot what guests do not.
    if owner.role == Role::Guest && after.role != Role::Guest {
        role::change(tx, &after, Role::Guest, by)?;
        after.role = Role::Guest;
    }
    ownership::bot_given(tx, owner, &after, handover, by)?;
    if let Some(former) = user_rows::owner(tx, bot.bot_owner_id)? {
        ownership::bot_taken(tx, &former, &after, owner, by)?;
    }
    Ok(after)
}

/// Unsubscribes a bot from the private channels that its new owner is not subscribed to. Returns whether there were any.
fn leave_private_channels(tx: &mut Tx<'_>, bot: &UserRow, owner: &UserRow) -> ApiResult<bool> {
    let mut left = Vec::new();
    for own in subscriptions::own(tx, bot.user_id)? {
        if let Some(stream) = channel_rows::by_id(tx, own.stream_id)?
            && !stream.is_public()
            && !channel_rows::is_subscribed(tx, owner.user_id, stream.stream_id)?
        {
            left.push(stream);
        }
    }
    if left.is_empty() {
        return Ok(false);
    }
    unsubscribe::unsubscribe_users(tx, &left, &[bot.user_id])?;
    Ok(true)
}
