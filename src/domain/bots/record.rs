//! The wire forms of a bot for those who administer it.

use crate::domain::access::user_rows::UserRow;
use crate::domain::bots::sql::{BotRow, Service};
use crate::types::{BotType, UserId};
use serde::{Deserialize, Serialize};

/// A bot in `realm_bots` and in `realm_bot` events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BotRecord {
    email: String,
    user_id: UserId,
    full_name: String,
    bot_type: Option<BotType>,
    is_active: bool,
    /// Absent if it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
    /// The name of a channel.
    default_sending_stream: Option<String>,
    /// The name of a channel.
    default_events_register_stream: Option<String>,
    default_all_public_streams: bool,
    avatar_url: String,
    owner_id: Option<UserId>,
    services: Vec<ServiceRecord>,
}

/// The service of an outgoing webhook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServiceRecord {
    base_url: String,
    interface: i64,
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
            default_sending_stream: bot.default_sending_stream.clone(),
            default_events_register_stream: bot.default_events_register_stream.clone(),
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
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
    avatar_url: String,
    default_sending_stream: Option<String>,
    default_events_register_stream: Option<String>,
    default_all_public_streams: bool,
}

impl OwnBotRecord {
    /// Returns the record of a bot, as in `GET /bots`.
    pub fn new(user: &UserRow, bot: BotRow) -> Self {
        Self {
            username: Some(user.email.clone()),
            full_name: Some(user.full_name.clone()),
            api_key: bot.api_key,
            avatar_url: user.avatar.url(),
            default_sending_stream: bot.default_sending_stream,
            default_events_register_stream: bot.default_events_register_stream,
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
