//! Mail that the server receives: reading it, and sending it as a message.
//!
//! | module | what it holds |
//! |---|---|
//! | `mime` | headers, texts and attachments of a mail |
//! | `html`, `quotes`, `subject`, `content` | the topic and the Markdown of its message |
//! | `deliver` | permissions of its sender, its files, and sending the message |

mod content;
mod deliver;
mod html;
mod mime;
mod quotes;
mod subject;

pub use self::deliver::{Recipient, deliver};
pub use self::mime::{Mail, OwnMail, Unreadable, read};

use crate::auth::Caller;
use crate::domain::{bots, notices, rows, users};
use crate::error::{ApiError, ApiResult};
use crate::types::UserId;
use rusqlite::Connection;

/// The bot that is the sender of mails to channels.
pub fn gateway(connection: &Connection) -> ApiResult<UserId> {
    let gateway = users::by_delivery_email(connection, notices::EMAIL_GATEWAY)?;
    let gateway = gateway.ok_or_else(|| ApiError::internal("the organization has no bot for mail"))?;
    Ok(gateway.user_id)
}

/// Checks that messages of mails for a user may have this sender: the user, or a bot of which the user may have the key. Who
/// has the address sends as the bot, like who has the key.
pub fn check_may_send_as(connection: &Connection, caller: &Caller, sender_id: UserId) -> ApiResult<()> {
    if sender_id == caller.user_id {
        return Ok(());
    }
    let bot = rows::user::by_id(connection, sender_id)?.filter(|user| user.is_bot() && !user.is_system_bot);
    let bot = bot.ok_or_else(|| ApiError::bad_request("No such bot"))?;
    bots::rules::check_fully_administers(connection, caller, &bot)
}
