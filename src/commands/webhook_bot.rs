//! `teamchat bot create`: bots for incoming webhooks.

use super::user::{find_bot_owner, first_owner};
use crate::domain::accounts::create::NewUser;
use crate::domain::bots::NewBotRow;
use crate::domain::bots::integrations::IntegrationName;
use crate::domain::users::{emails, names};
use crate::domain::{accounts, bots, channels, realm};
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{BotType, Role, UserId};
use serde::{Deserialize, Serialize};

/// The response to `bot create`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreatedWebhookBot {
    /// Identifies the bot in the API.
    pub user_id: UserId,
    /// The display name.
    pub full_name: String,
    /// The owner's display name.
    pub owner: String,
    /// The integration's display name.
    pub integration: String,
    /// The address for the other program, below that of the server.
    pub path: String,
    /// The address of the server, if it is configured.
    pub public_url: Option<String>,
}

/// Properties of a bot for an incoming webhook.
pub(super) struct WebhookBot {
    pub(super) integration: String,
    pub(super) channel: String,
    pub(super) owner: Option<String>,
    pub(super) full_name: Option<String>,
}

/// Creates a bot for an incoming webhook, with the first free name and email.
pub(super) fn create_webhook_bot(
    tx: &mut Tx<'_>,
    wanted: WebhookBot,
    public_url: Option<String>,
) -> ApiResult<CreatedWebhookBot> {
    let name = IntegrationName::find(&wanted.integration).ok_or_else(|| {
        let names: Vec<&str> = IntegrationName::ALL.iter().map(|name| name.as_str()).collect();
        let msg = format!("unknown integration '{}'; available: {}", wanted.integration, names.join(", "));
        ApiError::bad_request(msg)
    })?;
    let (integration, display_name) = (name.as_str(), name.display_name());
    let stream = channels::by_name(tx, wanted.channel.trim())?.filter(|stream| !stream.is_archived);
    let stream = stream
        .ok_or_else(|| ApiError::bad_request(format!("There is no channel '{}'", wanted.channel.trim())))?;
    let owner = match &wanted.owner {
        Some(email) => find_bot_owner(tx, email)?,
        None => first_owner(tx)?.ok_or_else(|| ApiError::bad_request("no owner exists yet; pass --owner"))?,
    };
    let full_name = match wanted.full_name {
        Some(full_name) => full_name,
        None => {
            let mut name = display_name.to_owned();
            let mut number = 1;
            while bots::rules::is_name_in_use(tx, &name, None)? {
                number += 1;
                name = format!("{display_name} {number}");
            }
            name
        }
    };
    let full_name = names::check_full_name(&full_name)?;
    bots::rules::check_name(tx, &full_name, None)?;
    let domain = realm::bot_domain(public_url.as_deref());
    let mut number = 1;
    let mut email = bots::rules::bot_email(integration, &domain)?;
    while emails::is_taken(tx, &email)? {
        number += 1;
        email = bots::rules::bot_email(&format!("{integration}-{number}"), &domain)?;
    }
    let bot = NewBotRow {
        service_name: Some(integration.to_owned()),
        default_sending_stream: Some(stream.stream_id),
        ..NewBotRow::default()
    };
    let kind = Some((BotType::IncomingWebhook, owner.user_id));
    let user =
        NewUser { email, full_name: full_name.clone(), role: Role::Member, bot: kind, password_hash: None };
    let (user, api_key) = accounts::create::create_bot(tx, &user, &domain, &bot)?;
    Ok(CreatedWebhookBot {
        user_id: user.user_id,
        full_name,
        owner: owner.full_name,
        integration: display_name.to_owned(),
        // The id stays when the channel is renamed.
        path: format!("/api/v1/external/{integration}?api_key={api_key}&stream={}", stream.stream_id),
        public_url,
    })
}
