//! The wire forms of a bot for those who administer it.

use crate::domain::bots::sql::{BotRow, Service};
use crate::domain::rows::user::UserRow;
use crate::types::{BotType, UserId};
use serde::{Deserialize, Serialize};

/// A bot in `realm_bots` and in `realm_bot` events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BotRecord {
    /// The API email, with which the bot authenticates.
    email: String,
    /// The bot's user id.
    user_id: UserId,
    /// The display name.
    full_name: String,
    /// 1 for a generic bot, 2 for an incoming webhook, 3 for an outgoing webhook, 4 for an embedded bot.
    bot_type: Option<BotType>,
    /// True unless the bot is deactivated.
    is_active: bool,
    /// The API key. Absent if it was revoked, and for administrators who are not owners if an owner owns the bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
    /// The name of the channel that the bot sends to by default; null for none, or if the reader cannot see it.
    default_sending_stream: Option<String>,
    /// The name of the channel whose events the bot receives by default; null for none, or if the reader cannot see it.
    default_events_register_stream: Option<String>,
    /// True if the bot receives events of all public channels by default.
    default_all_public_streams: bool,
    /// The URL of the bot's image.
    avatar_url: String,
    /// The user id of the owner; null if there is none.
    owner_id: Option<UserId>,
    /// The service of an outgoing webhook, at most one; empty for other bots.
    services: Vec<ServiceRecord>,
}

/// The service of an outgoing webhook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServiceRecord {
    /// The URL to which messages are posted; empty after the bot changed its owner.
    base_url: String,
    /// The payload format. 1: native, 2: Slack's.
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
    /// The display name. Absent in `POST /bots`.
    #[serde(skip_serializing_if = "Option::is_none")]
    full_name: Option<String>,
    /// The key with which the bot authenticates; absent if it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
    /// The URL of the bot's image.
    avatar_url: String,
    /// The name of the channel that the bot sends to by default; null for none, or if the reader cannot see it.
    default_sending_stream: Option<String>,
    /// The name of the channel whose events the bot receives by default; null for none, or if the reader cannot see it.
    default_events_register_stream: Option<String>,
    /// True if the bot receives events of all public channels by default.
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
