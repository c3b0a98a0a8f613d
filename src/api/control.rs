//! What commands ask of the organization: `teamchat user create` and its like.
//!
//! A command that finds the file in use sends itself to the server that uses it; otherwise it is carried out on the
//! file. Either way it is one job on the writer, and its events reach the clients.

use crate::app::App;
use crate::domain::accounts::create::{NewUser, create};
use crate::domain::bots::sql::NewBotRow;
use crate::domain::invites::owner_link;
use crate::domain::keys::KeyRecord;
use crate::domain::realm::DUMMY_DOMAIN;
use crate::domain::users::{names, passwords, sql as users};
use crate::domain::{accounts, bots as domain_bots, keys, realm};
use crate::http::Resource;
use crate::http::{ANYONE, Anyone, ApiError, ApiResult, Call, Reply, Route};
use crate::store::Tx;
use crate::types::{BotType, Role, UserId};
use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The way in for commands.
pub const RESOURCE: Resource = Resource { name: "command_line", routes, ..Resource::EMPTY };

/// Where a running server takes commands.
pub const PATH: &str = "/control";

fn routes() -> Vec<Route> {
    vec![Route::call(Method::POST, PATH, ANYONE, control).outside()]
}

/// A command, as it goes over the wire.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// `user create`.
    CreateUser {
        /// The real email.
        email: String,
        /// The name shown.
        full_name: String,
        /// The role.
        role: Role,
        /// For bots: the owner's email.
        bot_owner: Option<String>,
        /// The password, in clear text: the way is the machine's own.
        password: Option<String>,
    },
    /// `user list`.
    ListUsers,
    /// `user key create`.
    CreateKey {
        /// Whose.
        email: String,
        /// What the key is for.
        client: String,
    },
    /// `user key list`.
    ListKeys {
        /// Whose.
        email: String,
    },
    /// `user key revoke`.
    RevokeKey {
        /// Whose.
        email: String,
        /// The key's number in the list.
        id: i64,
    },
    /// Where the first owner can be made, if nobody can log in.
    OwnerLink,
    /// `organization reactivate`.
    ReactivateRealm,
}

/// A user that was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreatedUser {
    /// The id.
    pub user_id: UserId,
    /// The API email.
    pub email: String,
    /// The name shown.
    pub full_name: String,
    /// The role.
    pub role: Role,
    /// Whether it is a bot.
    pub is_bot: bool,
    /// A first key, shown once.
    pub api_key: String,
}

/// A user in a list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListedUser {
    /// The id.
    pub user_id: UserId,
    /// The real email.
    pub email: String,
    /// The name shown.
    pub full_name: String,
    /// The role.
    pub role: Role,
    /// Whether it is a bot.
    pub is_bot: bool,
    /// Whether the account is in use.
    pub is_active: bool,
    /// How many keys it has.
    pub keys: usize,
}

/// Parameters of the way in.
#[derive(Deserialize)]
pub struct ControlParams {
    /// What the lock file told the command.
    token: String,
    /// A [`Command`] as JSON.
    command: Command,
}

/// Carries out a command for somebody who can read the file's lock, which is somebody who could change the file.
async fn control(call: Call<Anyone>, params: ControlParams) -> ApiResult<Reply> {
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

/// Carries out a command.
pub async fn run(app: &App, command: Command) -> ApiResult<Value> {
    let password_hash = match &command {
        Command::CreateUser { password: Some(password), .. } => {
            let length = password.chars().count();
            if !(passwords::MIN_LENGTH..=passwords::MAX_LENGTH).contains(&length) {
                let (min, max) = (passwords::MIN_LENGTH, passwords::MAX_LENGTH);
                return Err(ApiError::bad_request(format!("A password has {min} to {max} characters")));
            }
            Some(passwords::hash_apart(password.clone()).await?)
        }
        _ => None,
    };
    app.writer.run(move |tx| carry_out(tx, command, password_hash)).await
}

fn carry_out(tx: &mut Tx<'_>, command: Command, password_hash: Option<String>) -> ApiResult<Value> {
    Ok(match command {
        Command::CreateUser { email, full_name, role, bot_owner, .. } => {
            let bot = bot_owner.map(|owner| owner_of_bot(tx, &owner)).transpose()?;
            let is_bot = bot.is_some();
            let new = NewUser { email, full_name, role, bot, password_hash };
            let (user, api_key) = if is_bot {
                accounts::create_bot::create(tx, &new, DUMMY_DOMAIN, &NewBotRow::default())?
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
            let user_id = user_with(tx, &email)?;
            let api_key = keys::mint(tx, user_id, &client)?;
            serde_json::json!({ "user_id": user_id, "email": email, "api_key": api_key })
        }
        Command::ListKeys { email } => {
            let list: Vec<KeyRecord> = keys::list(tx, user_with(tx, &email)?)?;
            serde_json::to_value(list)?
        }
        Command::RevokeKey { email, id } => {
            let user_id = user_with(tx, &email)?;
            if !keys::revoke(tx, user_id, id)? {
                return Err(ApiError::bad_request(format!("{email} has no key {id}")));
            }
            domain_bots::change::key_revoked(tx, user_id)?;
            Value::Null
        }
        Command::OwnerLink => owner_link::new_path(tx)?.into(),
        Command::ReactivateRealm => {
            realm::set_deactivated(tx, false)?;
            Value::Null
        }
    })
}

fn owner_of_bot(tx: &Tx<'_>, email: &str) -> ApiResult<(BotType, UserId)> {
    let owner = users::by_delivery_email(tx, email)?;
    let owner = owner.filter(|owner| owner.is_active && !owner.is_bot());
    let owner =
        owner.ok_or_else(|| ApiError::bad_request(format!("No active person has the email '{email}'")))?;
    Ok((BotType::Generic, owner.user_id))
}

fn user_with(tx: &Tx<'_>, email: &str) -> ApiResult<UserId> {
    if !names::is_email(email) {
        return Err(ApiError::bad_request(format!("'{email}' is not an email address")));
    }
    let user = users::by_delivery_email(tx, email)?;
    user.map(|user| user.user_id)
        .ok_or_else(|| ApiError::bad_request(format!("No user has the email '{email}'")))
}
