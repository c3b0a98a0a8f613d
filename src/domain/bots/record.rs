//! The wire forms of a bot for those who administer it.

use crate::domain::bots::sql::{BotRow, Service};
use crate::domain::rows::user::UserRow;
use crate::types::{BotType, UserId};
use serde::{Deserialize, Serialize};

/// A bot in `realm_bots` and in `realm_bot` events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BotRecord {
    /// The API email, with which it authenticates.
    email: String,
    /// Identifies the bot.
    user_id: UserId,
    /// Its name.
    full_name: String,
    /// 1 for a generic bot, 2 for an incoming webhook, 3 for an outgoing webhook, 4 for an embedded bot.
    bot_type: Option<BotType>,
    /// True if its account is in use.
    is_active: bool,
    /// Absent if it was revoked. Also absent for administrators who are not owners, if an owner owns the bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
    /// The name of a channel; null if there is none, or if the reader cannot see it.
    default_sending_stream: Option<String>,
    /// The name of a channel; null if there is none, or if the reader cannot see it.
    default_events_register_stream: Option<String>,
    /// True if it receives events of all public channels by default.
    default_all_public_streams: bool,
    /// The address of its image.
    avatar_url: String,
    /// The owner; null if there is none.
    owner_id: Option<UserId>,
    /// The service of an outgoing webhook; empty for other bots.
    services: Vec<ServiceRecord>,
}

/// The service of an outgoing webhook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServiceRecord {
    /// The address to which messages are posted; empty after the bot was given to another owner.
    base_url: String,
    /// The format of the requests: 1 for the native format, 2 for Slack's.
    interface: i64,
    /// Sent with each request, so that the service can authenticate the server. Empty for administrators who are not owners, if
    /// an owner owns the bot.
    token: String,
}

impl ServiceRecord {
    /// Returns the list of a bot's services, which has at most one.
    pub fn list(service: Option<&Service>) -> Vec<Self> {
        let record = |service: &Service| Self {
            base_url: service.base_url.clone(),
            interface: service.interface,
            token: service.token.clone(),
        };
        service.map(record).into_iter().collect()
    }
}

impl BotRecord {
    /// Returns the record of a bot.
    pub fn new(user: &UserRow, bot: &BotRow) -> Self {
        Self {
            email: user.email.clone(),
            user_id: user.user_id,
            full_name: user.full_name.clone(),
            bot_type: user.bot_type,
            is_active: user.is_active,
            api_key: bot.api_key.clone(),
            default_sending_stream: bot.sending_stream_name(),
            default_events_register_stream: bot.events_stream_name(),
            default_all_public_streams: bot.default_all_public_streams,
            avatar_url: user.avatar.url(),
            owner_id: user.bot_owner_id,
            services: ServiceRecord::list(bot.service.as_ref()),
        }
    }
}

/// A bot in the responses of `GET /bots` and `POST /bots`.
#[derive(Clone, Debug, Serialize)]
pub struct OwnBotRecord {
    /// The API email. Absent in `POST /bots`.
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<String>,
    /// Absent in `POST /bots`.
    #[serde(skip_serializing_if = "Option::is_none")]
    full_name: Option<String>,
    /// The key with which it authenticates; absent if it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
    /// The address of its image.
    avatar_url: String,
    /// The name of its default channel to send to; null if there is none, or if the reader
    /// cannot see it.
    default_sending_stream: Option<String>,
    /// The name of its default channel for events; null if there is none, or if the reader
    /// cannot see it.
    default_events_register_stream: Option<String>,
    /// True if it receives events of all public channels by default.
    default_all_public_streams: bool,
}

impl OwnBotRecord {
    /// Returns the record of a bot, as in `GET /bots`.
    pub fn new(user: &UserRow, bot: BotRow) -> Self {
        Self {
            username: Some(user.email.clone()),
            full_name: Some(user.full_name.clone()),
            avatar_url: user.avatar.url(),
            default_sending_stream: bot.sending_stream_name(),
            default_events_register_stream: bot.events_stream_name(),
            api_key: bot.api_key,
            default_all_public_streams: bot.default_all_public_streams,
        }
    }

    /// Leaves out the names, as in `POST /bots`.
    #[must_use]
    pub fn without_names(mut self) -> Self {
        (self.username, self.full_name) = (None, None);
        self
    }
}
