//! Rules for bots: permissions, and checks of values.

use crate::auth::credentials::API_KEY_LENGTH;
use crate::auth::{Caller, Ctx};
use crate::domain::access::channels::Viewer;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::limits::{
    Accounts, MAX_BOTS_EVER, MAX_BOTS_OF_OWNER, MAX_CONFIG_DATA_LENGTH, MAX_PAYLOAD_URL_LENGTH,
};
use crate::domain::rows::user::UserRow;
use crate::domain::users::names;
use crate::domain::{access, channels, limits, rows, users};
use crate::error::{ApiError, ApiResult};
use crate::types::{BotType, JsonOrText, Role, StreamId, UserId};
use rand::RngExt;
use rand::distr::Alphanumeric;
use rusqlite::Connection;
use serde_json::Value;

/// The payload formats of outgoing webhooks: native, and Slack's.
pub const INTERFACES: [i64; 2] = [1, 2];

/// Checks the limit on active bots of the quota owner of a user.
pub fn check_active_number(connection: &Connection, user_id: UserId, now: i64) -> ApiResult<()> {
    let statement = "SELECT count(*) FROM user
         WHERE user_id IN (SELECT value FROM json_each(?1)) AND bot_type IS NOT NULL AND is_active";
    Accounts::of(connection, user_id, now)?.check("bots", statement, 1, MAX_BOTS_OF_OWNER)
}

/// Checks the limit on bots of a person, including deactivated ones, because clients receive all of them.
pub fn check_number(connection: &Connection, user_id: UserId, now: i64) -> ApiResult<()> {
    let statement = "SELECT count(*) FROM user
         WHERE user_id IN (SELECT value FROM json_each(?1)) AND bot_type IS NOT NULL";
    Accounts::of(connection, user_id, now)?.check("deactivated bots", statement, 1, MAX_BOTS_EVER)
}

/// Degree to which a user administers a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Administration {
    /// Not at all.
    None,
    /// Its name, image and role, and whether it is active.
    WithoutKey,
    /// All properties, including its key, its owner and the destination of its messages.
    Full,
}

impl Administration {
    /// The degree to which a user of a role administers a bot, whose owner has the role `owner_role`. Guests administer
    /// none, others their own, administrators all of them. A bot has rights that follow from those of its owner, so the
    /// key of an owner's bot is for owners, even while that owner is deactivated.
    pub fn of(role: Role, is_owner: bool, owner_role: Option<Role>) -> Self {
        match role {
            Role::Guest => Self::None,
            Role::Owner => Self::Full,
            _ if is_owner => Self::Full,
            Role::Administrator if owner_role == Some(Role::Owner) => Self::WithoutKey,
            Role::Administrator => Self::Full,
            Role::Moderator | Role::Member => Self::None,
        }
    }
}

/// Requires that the caller administers all of a bot, and not only an administrator of the bot of an owner.
pub fn check_fully_administers(connection: &Connection, caller: &Caller, bot: &UserRow) -> ApiResult<()> {
    let owner = rows::user::owner(connection, bot.bot_owner_id)?;
    let is_owner = bot.bot_owner_id == Some(caller.user_id);
    match Administration::of(caller.role, is_owner, owner.map(|owner| owner.role)) {
        Administration::Full => Ok(()),
        Administration::WithoutKey => Err(ApiError::owners_only()),
        Administration::None => Err(ApiError::insufficient_permission()),
    }
}

/// Checks that a bot of this owner may have a role. Other users can read the key of a bot and must not gain a role by
/// it: bots are at most members, and bots of guests are guests.
pub fn check_role(connection: &Connection, role: Role, owner_id: Option<UserId>) -> ApiResult<()> {
    if !matches!(role, Role::Member | Role::Guest) {
        return Err(ApiError::bad_request("A bot is a member or a guest."));
    }
    let owner = rows::user::owner(connection, owner_id)?;
    if role == Role::Member && owner.is_some_and(|owner| owner.role == Role::Guest) {
        return Err(ApiError::bad_request("The bot of a guest is a guest."));
    }
    Ok(())
}

/// Loads a bot that the caller may administer: their own, or any bot for administrators.
pub fn find(connection: &Connection, caller: &Caller, bot_id: UserId) -> ApiResult<UserRow> {
    caller.check_is_member()?;
    let bot = rows::user::by_id(connection, bot_id)?.filter(|user| user.is_bot() && !user.is_system_bot);
    let bot = bot.ok_or_else(|| ApiError::bad_request("No such bot"))?;
    users::rules::check_may_administer(caller, &bot)?;
    Ok(bot)
}

/// Loads a bot of which the caller may have the key: their own, or any bot for owners, or any but those of owners for
/// administrators.
pub fn find_with_key(connection: &Connection, caller: &Caller, bot_id: UserId) -> ApiResult<UserRow> {
    let bot = find(connection, caller, bot_id)?;
    check_fully_administers(connection, caller, &bot)?;
    Ok(bot)
}

/// Checks that the type exists and that the caller may create bots of it, and returns it.
pub fn check_bot_type(ctx: Ctx<'_>, code: i64) -> ApiResult<BotType> {
    let bot_type = BotType::try_from(code);
    let viewer = Viewer::new(ctx);
    let may = |permission| access::permissions::is_held(&viewer, permission);
    let allowed = may(RealmGroup::CanCreateBots)?
        || (bot_type == Ok(BotType::IncomingWebhook) && may(RealmGroup::CanCreateWriteOnlyBots)?);
    if !allowed {
        return Err(ApiError::insufficient_permission());
    }
    match bot_type.map_err(ApiError::bad_request)? {
        BotType::Embedded => Err(ApiError::bad_request("Embedded bots are not enabled.")),
        bot_type => Ok(bot_type),
    }
}

/// Checks that a payload format exists.
pub fn check_interface(interface: i64) -> ApiResult<()> {
    if INTERFACES.contains(&interface) {
        Ok(())
    } else {
        Err(ApiError::bad_request("Invalid interface type"))
    }
}

/// True if an active user or a system bot has the same or a similar name.
pub fn is_name_in_use(connection: &Connection, full_name: &str, except: Option<UserId>) -> ApiResult<bool> {
    Ok(names::is_reserved(full_name) || users::looks_like_another(connection, full_name, except)?)
}

/// Checks that no active user, except `except`, has a name that looks like that of a bot.
pub fn check_name(connection: &Connection, full_name: &str, except: Option<UserId>) -> ApiResult<()> {
    if is_name_in_use(connection, full_name, except)? {
        return Err(ApiError::bad_request("Name is already in use!"));
    }
    Ok(())
}

/// Returns the email of a bot, `ada-bot@...` for the short name `ada`. Fails if it is invalid.
pub fn bot_email(short_name: &str, domain: &str) -> ApiResult<String> {
    let email = format!("{}-bot@{domain}", short_name.trim());
    if short_name.trim().is_empty() || !names::is_new_bot_email(&email) {
        return Err(ApiError::bad_request("Bad name or username"));
    }
    Ok(email)
}

/// Checks the URL of an outgoing webhook. Clients send it as JSON or as plain text. It cannot be an https one: messages
/// to it could never be posted.
pub fn check_payload_url(name: &str, text: JsonOrText) -> ApiResult<String> {
    let text = match text {
        JsonOrText::Text(text) | JsonOrText::Json(Value::String(text)) => text,
        JsonOrText::Json(_) => return Err(ApiError::bad_request(format!("{name} is not a string"))),
    };
    limits::check_length(name, &text, MAX_PAYLOAD_URL_LENGTH)?;
    let url = url::Url::parse(&text).ok();
    match url.as_ref().filter(|url| url.has_host()).map(url::Url::scheme) {
        Some("http") => Ok(text),
        Some("https") => Err(ApiError::bad_request(format!(
            "{name}: this server posts to http URLs, and not to https ones"
        ))),
        _ => Err(ApiError::bad_request(format!("{name} is not a URL"))),
    }
}

/// Returns a token by which the server of an outgoing webhook knows this one.
pub fn new_token() -> String {
    rand::rng().sample_iter(Alphanumeric).take(API_KEY_LENGTH).map(char::from).collect()
}

/// Checks the length of an integration's configuration, as the JSON that is stored.
pub fn check_config_data(json: &str) -> ApiResult<()> {
    limits::check_json_length("config_data", json, MAX_CONFIG_DATA_LENGTH)
}

/// Returns the id of a channel that the caller can read, by name; `None` for the empty name.
pub fn find_default_channel(ctx: Ctx<'_>, name: &str) -> ApiResult<Option<StreamId>> {
    if name.is_empty() {
        return Ok(None);
    }
    let viewer = Viewer::new(ctx);
    if let Some(stream) = channels::by_name(&ctx, name)?
        && !stream.is_archived
        && viewer.can_read(&stream)?
    {
        return Ok(Some(stream.stream_id));
    }
    Err(ApiError::bad_request(format!("Invalid channel name '{name}'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_distinguished_from_other_text() {
        let text = |text: &str| JsonOrText::Text(text.to_owned());
        let cases = [
            (text("http://example.com/hook"), Ok("http://example.com/hook")),
            (JsonOrText::Json("http://example.com".into()), Ok("http://example.com")),
            (
                text("https://example.com"),
                Err("payload_url: this server posts to http URLs, and not to https ones"),
            ),
            (JsonOrText::Json(7.into()), Err("payload_url is not a string")),
            (text("ftp://example.com"), Err("payload_url is not a URL")),
            (text("example.com"), Err("payload_url is not a URL")),
            (text(""), Err("payload_url is not a URL")),
        ];
        for (given, expected) in cases {
            let found = check_payload_url("payload_url", given);
            assert_eq!(found.as_deref().map_err(ApiError::msg), expected);
        }
    }
}
