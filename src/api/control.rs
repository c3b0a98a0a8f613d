//! `POST /control`: commands of the `teamchat` program, such as `user create`.
//!
//! If a server has the database open, the program sends the command to it; otherwise the program runs it on the
//! database itself. Either way it is one job of the writer, and a running server delivers its events.

use crate::app::App;
use crate::domain::accounts::create::{NewUser, create};
use crate::domain::bots::sql::NewBotRow;
use crate::domain::invites::owner_link;
use crate::domain::keys::KeyRecord;
use crate::domain::realm::DUMMY_DOMAIN;
use crate::domain::users::{names, passwords, sql as users};
use crate::domain::{accounts, bots, keys, realm};
use crate::http::Resource;
use crate::http::{ANYONE, Anyone, ApiError, ApiResult, Call, Reply, Route};
use crate::store::Tx;
use crate::types::{BotType, Role, UserId};
use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The resource of `/control`.
pub const RESOURCE: Resource = Resource { name: "control", routes, ..Resource::EMPTY };

/// The path at which a server accepts commands. It is not below `/api/v1`.
pub const PATH: &str = "/control";

fn routes() -> Vec<Route> {
    vec![Route::call(Method::POST, PATH, ANYONE, handle).outside()]
}

/// A command, as sent to the server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// `user create`.
    CreateUser {
        /// The real email, used to log in.
        email: String,
        /// The display name.
        full_name: String,
        /// The role in the organization.
        role: Role,
        /// The owner's real email, for bots.
        bot_owner: Option<String>,
        /// The password in clear text: the connection does not leave the machine.
        password: Option<String>,
    },
    /// `user list`.
    ListUsers,
    /// `user key mint`.
    CreateKey {
        /// The user's real email.
        email: String,
        /// The client or purpose of the key, shown in lists.
        client: String,
    },
    /// `user key list`.
    ListKeys {
        /// The user's real email.
        email: String,
    },
    /// `user key revoke`.
    RevokeKey {
        /// The user's real email.
        email: String,
        /// The key's id, as listed.
        id: i64,
    },
    /// Creates the link of the first owner, if nobody can log in.
    OwnerLink,
    /// `organization reactivate`.
    ReactivateRealm,
}

/// The response to [`Command::CreateUser`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreatedUser {
    /// Identifies the user in the API.
    pub user_id: UserId,
    /// The API email.
    pub email: String,
    /// The display name.
    pub full_name: String,
    /// The role in the organization.
    pub role: Role,
    /// Whether it is a bot.
    pub is_bot: bool,
    /// The first API key. It cannot be read again.
    pub api_key: String,
}

/// A user in the response to [`Command::ListUsers`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListedUser {
    /// Identifies the user in the API.
    pub user_id: UserId,
    /// The real email.
    pub email: String,
    /// The display name.
    pub full_name: String,
    /// The role in the organization.
    pub role: Role,
    /// Whether it is a bot.
    pub is_bot: bool,
    /// Whether the account is active.
    pub is_active: bool,
    /// The number of API keys.
    pub keys: usize,
}

/// Parameters of `POST /control`.
#[derive(Deserialize)]
pub struct ControlParams {
    /// The token in the lock file, which only the owner of the database can read.
    token: String,
    /// The command as JSON.
    command: Command,
}

/// Runs a command for a caller who knows the token of the lock file, and so could change the database file itself.
async fn handle(call: Call<Anyone>, params: ControlParams) -> ApiResult<Reply> {
    let expected = &call.app.options.control_token;
    if expected.is_empty() || !equal_in_constant_time(expected, &params.token) {
        return Err(ApiError::not_found());
    }
    Reply::field("answer", &run(&call.app, params.command).await?)
}

fn equal_in_constant_time(one: &str, other: &str) -> bool {
    let difference = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && difference == 0
}

/// Hashes the password of a new user and runs the command as one job.
pub async fn run(app: &App, command: Command) -> ApiResult<Value> {
    let password_hash = match &command {
        Command::CreateUser { password: Some(password), .. } => {
            if !passwords::has_allowed_length(password) {
                let (min, max) = (passwords::MIN_LENGTH, passwords::MAX_LENGTH);
                return Err(ApiError::bad_request(format!("A password has {min} to {max} characters")));
            }
            Some(passwords::hash_async(password.clone()).await?)
        }
        _ => None,
    };
    app.writer.run(move |tx| execute(tx, command, password_hash)).await
}

fn execute(tx: &mut Tx<'_>, command: Command, password_hash: Option<String>) -> ApiResult<Value> {
    Ok(match command {
        Command::CreateUser { email, full_name, role, bot_owner, .. } => {
            let bot = bot_owner.map(|owner| find_bot_owner(tx, &owner)).transpose()?;
            let is_bot = bot.is_some();
            let new = NewUser { email, full_name, role, bot, password_hash };
            let (user, api_key) = if is_bot {
                accounts::create::create_bot(tx, &new, DUMMY_DOMAIN, &NewBotRow::default())?
            } else {
                let user = create(tx, &new)?;
                let api_key = keys::mint(tx, user.user_id, "command line")?;
                (user, api_key)
            };
            serde_json::to_value(CreatedUser {
                user_id: user.user_id,
                email: user.email,
                full_name: user.full_name,
                role,
                is_bot,
                api_key,
            })?
        }
        Command::ListUsers => {
            let list = users::all(tx)?.into_iter().map(|user| {
                Ok(ListedUser {
                    user_id: user.user_id,
                    is_bot: user.is_bot(),
                    email: user.delivery_email,
                    full_name: user.full_name,
                    role: user.role,
                    is_active: user.is_active,
                    keys: keys::list(tx, user.user_id)?.len(),
                })
            });
            serde_json::to_value(list.collect::<ApiResult<Vec<_>>>()?)?
        }
        Command::CreateKey { email, client } => {
            let user_id = find_user(tx, &email)?;
            let api_key = keys::mint(tx, user_id, &client)?;
            serde_json::json!({ "user_id": user_id, "email": email, "api_key": api_key })
        }
        Command::ListKeys { email } => {
            let list: Vec<KeyRecord> = keys::list(tx, find_user(tx, &email)?)?;
            serde_json::to_value(list)?
        }
        Command::RevokeKey { email, id } => {
            let user_id = find_user(tx, &email)?;
            if !keys::revoke(tx, user_id, id)? {
                return Err(ApiError::bad_request(format!("{email} has no key {id}")));
            }
            bots::change::clear_revoked_key(tx, user_id)?;
            Value::Null
        }
        Command::OwnerLink => owner_link::create(tx)?.into(),
        Command::ReactivateRealm => {
            realm::set_deactivated(tx, false)?;
            Value::Null
        }
    })
}

fn find_bot_owner(tx: &Tx<'_>, email: &str) -> ApiResult<(BotType, UserId)> {
    let owner = users::by_delivery_email(tx, email)?;
    let owner = owner.filter(|owner| owner.is_active && !owner.is_bot());
    let owner =
        owner.ok_or_else(|| ApiError::bad_request(format!("No active person has the email '{email}'")))?;
    Ok((BotType::Generic, owner.user_id))
}

fn find_user(tx: &Tx<'_>, email: &str) -> ApiResult<UserId> {
    if !names::is_email(email) {
        return Err(ApiError::bad_request(format!("'{email}' is not an email address")));
    }
    let user = users::by_delivery_email(tx, email)?;
    user.map(|user| user.user_id)
        .ok_or_else(|| ApiError::bad_request(format!("No user has the email '{email}'")))
}
