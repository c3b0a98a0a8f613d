//! What the server says in its own name: messages of the notification bot.

use super::channels::row::StreamRow;
use super::messages::address::Address;
use super::messages::directory::render_for;
use super::messages::send::{Draft, deliver};
use super::users;
use crate::http::{ApiError, ApiResult, Caller};
use crate::store::Tx;
use crate::types::{Topic, UserId};
use rusqlite::Connection;

/// The bot's email begins so.
const NOTIFICATION_BOT: &str = "notification-bot";

/// The program that its messages are sent by.
const CLIENT: &str = "Internal";

/// A message of the bot that is ready to be sent.
pub struct BotMessage {
    bot: UserId,
    draft: Draft,
}

/// Where a message of the bot goes.
pub enum BotAddress {
    /// One user.
    User(UserId),
    /// A topic of a channel, whether or not anybody may post there.
    Topic(Box<StreamRow>, Topic),
}

impl BotMessage {
    /// Prepares a message, rendered as `reader` sees the organization.
    pub fn new(
        connection: &Connection,
        reader: &Caller,
        now: i64,
        origin: &str,
        to: BotAddress,
        content: String,
    ) -> ApiResult<Self> {
        let bot = bot(connection)?;
        let address = match to {
            BotAddress::User(user_id) => {
                let mut people = vec![bot, user_id];
                people.sort_unstable();
                Address::Direct(people)
            }
            BotAddress::Topic(stream, topic) => Address::Channel(stream, topic),
        };
        let rendered = render_for(connection, reader, now, origin, &content)?;
        let client = CLIENT.to_owned();
        Ok(Self {
            bot,
            draft: Draft { address, content, rendered, client, read_by_sender: true, echo: None },
        })
    }

    /// Sends it.
    pub fn send(&self, tx: &mut Tx<'_>) -> ApiResult<()> {
        deliver(tx, self.bot, &self.draft).map(|_| ())
    }
}

fn bot(connection: &Connection) -> ApiResult<UserId> {
    let bots = users::sql::system_bots(connection)?;
    let bot = bots.iter().find(|bot| bot.email.split('@').next() == Some(NOTIFICATION_BOT));
    bot.map(|bot| bot.user_id).ok_or_else(|| {
        tracing::error!("the organization has no notification bot");
        ApiError::internal()
    })
}
