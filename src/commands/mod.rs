//! Commands of the `teamchat` program, such as `user create`.
//!
//! If a server has the database open, the program sends the command to the server's socket for commands; otherwise the
//! program runs it on the database itself. Either way it is one job of the writer, and a running server delivers its events.

mod mail;
mod operator;
mod organization;
mod purge;
mod status;
mod user;
mod webhook_bot;
mod work;

use crate::app::{App, Probe};
pub use crate::commands::mail::{send_now, test_letter};
use crate::commands::operator::as_operator;
pub use crate::commands::purge::{Place, Purge, Purged};
pub use crate::commands::status::{DeliveryStatus, LARGE_LOG, LOW_DISK, Status};
use crate::commands::user::{check_is_not_only_owner, find_bot_owner, find_user};
pub use crate::commands::webhook_bot::CreatedWebhookBot;
use crate::commands::webhook_bot::{WebhookBot, create_webhook_bot};
pub use crate::commands::work::Work;
use crate::domain::accounts::create::{NewUser, create};
use crate::domain::accounts::password::PasswordLink;
use crate::domain::audit;
use crate::domain::audit::{Action, Entry, Filter};
use crate::domain::bots::NewBotRow;
use crate::domain::invites::owner_link;
use crate::domain::logins::sessions;
use crate::domain::notices::ownership::Actor;
use crate::domain::notices::security::PasswordSetBy;
use crate::domain::realm::DUMMY_DOMAIN;
use crate::domain::rows::user::UserRow;
use crate::domain::users::passwords;
use crate::domain::users::passwords::OnBehalfOf;
use crate::domain::{accounts, bots, integrity, keys, logins, notices, realm, space, users};
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{BotType, Role, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// `user password`.
    SetPassword {
        /// The user's real email.
        email: String,
        /// The new password in clear text.
        password: String,
    },
    /// `user password-links`.
    CreatePasswordLinks {
        /// True for all people; false for those without a password.
        all: bool,
        /// True if the links are sent by mail.
        mail: bool,
    },
    /// `user role`.
    SetRole {
        /// The user's real email.
        email: String,
        /// The new role.
        role: Role,
    },
    /// `user deactivate` and `user reactivate`.
    SetActive {
        /// The user's real email.
        email: String,
        /// False deactivates the account.
        is_active: bool,
    },
    /// `user deactivate --invited`.
    DeactivateInvited {
        /// The user's real email.
        email: String,
        /// True if the accounts are only listed.
        dry_run: bool,
    },
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
    /// `user session list`.
    ListSessions {
        /// The user's real email.
        email: String,
    },
    /// `user session end`.
    EndSession {
        /// The user's real email.
        email: String,
        /// The session's id, as listed.
        id: i64,
    },
    /// `bot create`.
    CreateWebhookBot {
        /// The name of the integration.
        integration: String,
        /// The name of the channel that it posts to.
        channel: String,
        /// The owner's real email; the first owner of the organization by default.
        owner: Option<String>,
        /// The display name; that of the integration by default.
        full_name: Option<String>,
    },
    /// `user purge`.
    Purge(Purge),
    /// `user unlock`.
    UnlockUser {
        /// The user's real email.
        email: String,
    },
    /// `user rename`.
    RenameUser {
        /// The user's real email.
        email: String,
        /// The new display name.
        full_name: String,
    },
    /// `user email`.
    SetEmail {
        /// The user's real email.
        email: String,
        /// The new real email.
        new_email: String,
    },
    /// `user delete`.
    DeleteUser {
        /// The user's real email.
        email: String,
    },
    /// `user session end --all`.
    EndSessions {
        /// The user's real email.
        email: String,
    },
    /// `organization get`.
    GetRealm,
    /// `organization set`.
    SetRealm {
        /// The name of a setting or permission.
        name: String,
        /// The value as written.
        value: String,
    },
    /// `organization deactivate`.
    DeactivateRealm,
    /// `status`.
    Status,
    /// `audit`.
    ListAudit(Filter),
    /// Creates the link of the first owner, unless an owner can log in.
    OwnerLink,
    /// `organization reactivate`.
    ReactivateRealm,
    /// `check --repair`: the names of the checks that found something.
    Repair(Vec<String>),
    /// `compact`.
    Compact,
    /// Writes work on the file into the audit log.
    Record(Work),
    /// `mail test`.
    TestMail {
        /// The address to which the email goes.
        address: String,
    },
    /// `doctor`: expects a request to `/health` with this text.
    ExpectProbe(String),
    /// `doctor`: the request that was expected, if it arrived.
    SeenProbe,
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
    /// True if it is a bot.
    pub is_bot: bool,
    /// The first API key. It cannot be read again.
    pub api_key: String,
    /// True for a person for whom no password was set, because people do not log in with passwords.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_without_password: bool,
}

impl CreatedUser {
    /// A new user with their first API key.
    pub fn new(user: UserRow, api_key: String) -> Self {
        Self {
            user_id: user.user_id,
            is_bot: user.is_bot(),
            email: user.email,
            full_name: user.full_name,
            role: user.role,
            api_key,
            is_without_password: false,
        }
    }
}

/// The response to [`Command::CreatePasswordLinks`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PasswordLinks {
    /// The public address of the running server.
    pub public_url: Option<String>,
    /// The links, by the id of the user.
    pub links: Vec<PasswordLink>,
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
    /// True if it is a bot.
    pub is_bot: bool,
    /// True if the account is not deactivated.
    pub is_active: bool,
    /// The number of API keys.
    pub keys: usize,
}

/// Runs a command: most as one job of the writer.
pub async fn run(app: &App, command: Command) -> ApiResult<Value> {
    // The usual answer at a start, which does not wait for the writer.
    if let Command::OwnerLink = command
        && !app.readers.read(|snapshot| owner_link::is_due(snapshot)).await?
    {
        return Ok(Value::Null);
    }
    match command {
        Command::GetRealm => app.readers.read(|snapshot| organization::get(snapshot)).await,
        Command::SetRealm { name, value } => organization::set(app, name, value).await,
        Command::Status => to_json(status::status(app).await),
        Command::TestMail { address } => mail::test(app, &address).await,
        Command::DeleteUser { email } => user::delete(app, email).await,
        Command::ExpectProbe(token) => {
            *app.probe.lock() = Probe { token, seen: None };
            Ok(Value::Null)
        }
        Command::SeenProbe => {
            let probe = std::mem::take(&mut *app.probe.lock());
            Ok(serde_json::to_value(probe.seen)?)
        }
        Command::ListAudit(filter) => {
            let read =
                app.read_in(&app.pools.slow_reads, None, move |snapshot| audit::list(snapshot, &filter));
            to_json(read.await)
        }
        Command::Purge(purge) => {
            let user_id = user::find_user_id(app, &purge.email).await?;
            to_json(purge.run(app, user_id).await)
        }
        Command::DeactivateInvited { email, dry_run } => {
            to_json(user::deactivate_invited(app, email, dry_run).await)
        }
        Command::Compact => {
            let (before, after) = space::release(app).await?;
            let (bytes_before, bytes_after) = (before.size.cast_unsigned(), after.size.cast_unsigned());
            let job = move |tx: &mut Tx<'_>| {
                as_operator(tx, |tx| work::record(tx, Work::Compact { bytes_before, bytes_after }))
            };
            app.writer.run(job).await?;
            Ok(serde_json::to_value((before, after))?)
        }
        Command::SetActive { email, is_active: false } => {
            Ok(serde_json::json!({ "changed": user::deactivate(app, email).await? }))
        }
        command => run_as_job(app, command).await,
    }
}

/// The answer of a command: its result, or null for none.
fn to_json(result: ApiResult<impl Serialize>) -> ApiResult<Value> {
    Ok(serde_json::to_value(result?)?)
}

/// Hashes the password of a command, runs the command as one job, and does what follows from it outside of the file.
async fn run_as_job(app: &App, command: Command) -> ApiResult<Value> {
    let password_hash = match &command {
        Command::CreateUser { password: Some(password), .. } | Command::SetPassword { password, .. } => {
            if !passwords::has_allowed_length(password) {
                let (min, max) = (passwords::MIN_LENGTH, passwords::MAX_LENGTH);
                return Err(ApiError::bad_request(format!("A password has {min} to {max} characters")));
            }
            Some(passwords::hash_async(&app.pools, OnBehalfOf::KnownAddress, password.clone()).await?)
        }
        _ => None,
    };
    // A new password, and an explicit command, forget the wrong ones.
    let unlocked = match &command {
        Command::UnlockUser { email } | Command::SetPassword { email, .. } => {
            Some(email.trim().to_lowercase())
        }
        _ => None,
    };
    let public_url = app.options.public_url.clone();
    let job = move |tx: &mut Tx<'_>| as_operator(tx, |tx| execute(tx, command, password_hash, public_url));
    let mut answer = app.writer.run(job).await?;
    if let Some(email) = unlocked {
        let was_locked = app.rate_limiter.passwords.unlock(&email);
        if answer.is_object() {
            answer["had_wrong_passwords"] = was_locked.into();
        }
    }
    Ok(answer)
}

/// Gives a user a role. The operator may give any, also in one step.
fn set_role(tx: &mut Tx<'_>, user: &UserRow, role: Role) -> ApiResult<()> {
    if user.role == role {
        return Ok(());
    }
    if user.is_bot() {
        bots::rules::check_role(tx, role, user.bot_owner_id)?;
    }
    let refusal = "The owner permission cannot be removed from the only organization owner.";
    check_is_not_only_owner(tx, user, refusal)?;
    accounts::role::change(tx, user, role, Actor::Operator)
}

/// Creates a person, with a password if people log in with one, or a bot; and an API key.
fn create_user(tx: &mut Tx<'_>, mut new: NewUser) -> ApiResult<CreatedUser> {
    accounts::first_channel::create_if_new(tx)?;
    let has_passwords: bool = realm::settings::PASSWORD_AUTH_ENABLED.get(tx)?;
    new.password_hash = new.password_hash.filter(|_| has_passwords);
    let is_bot = new.bot.is_some();
    let (user, api_key) = if is_bot {
        accounts::create::create_bot(tx, &new, DUMMY_DOMAIN, &NewBotRow::default())?
    } else {
        let user = create(tx, &new)?;
        notices::welcome::greet(tx, &user, None)?;
        let api_key = keys::mint(tx, user.user_id, "command line")?;
        (user, api_key)
    };
    let is_without_password = !is_bot && !has_passwords;
    Ok(CreatedUser { is_without_password, ..CreatedUser::new(user, api_key) })
}

fn execute(
    tx: &mut Tx<'_>,
    command: Command,
    password_hash: Option<String>,
    public_url: Option<String>,
) -> ApiResult<Value> {
    match command {
        Command::CreateWebhookBot { integration, channel, owner, full_name } => {
            let wanted = WebhookBot { integration, channel, owner, full_name };
            to_json(create_webhook_bot(tx, wanted, public_url))
        }
        Command::CreateUser { email, full_name, role, bot_owner, .. } => {
            let owner = bot_owner.map(|owner| find_bot_owner(tx, &owner)).transpose()?;
            let bot = owner.map(|owner| (BotType::Generic, owner.user_id));
            let new = NewUser { email, full_name, role, bot, password_hash };
            to_json(create_user(tx, new))
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
            to_json(list.collect::<ApiResult<Vec<_>>>())
        }
        Command::SetPassword { email, .. } => {
            let user = find_user(tx, &email)?;
            if user.is_bot() {
                return Err(ApiError::bad_request("Bots have no password"));
            }
            accounts::password::check_is_enabled(tx)?;
            let hash = password_hash.ok_or_else(|| ApiError::internal("a password without its hash"))?;
            to_json(accounts::password::set(tx, &user, &hash, PasswordSetBy::Operator))
        }
        Command::CreatePasswordLinks { all, mail } => {
            let links = accounts::password::create_links(tx, all, mail)?;
            to_json(Ok(PasswordLinks { public_url, links }))
        }
        Command::SetRole { email, role } => {
            let user = find_user(tx, &email)?;
            to_json(set_role(tx, &user, role))
        }
        Command::SetActive { email, .. } => {
            let user = find_user(tx, &email)?;
            if !user.is_active {
                accounts::deactivation::reactivate(tx, &user, Actor::Operator)?;
            }
            Ok(serde_json::json!({ "changed": !user.is_active }))
        }
        Command::CreateKey { email, client } => {
            let user = find_user(tx, &email)?;
            let user_id = user.user_id;
            let api_key = keys::mint(tx, user_id, &client)?;
            if !user.is_bot() {
                notices::security::key_created_by_operator(tx, user_id, &client)?;
            }
            Ok(serde_json::json!({ "user_id": user_id, "email": email, "api_key": api_key }))
        }
        Command::ListKeys { email } => to_json(keys::list(tx, find_user(tx, &email)?.user_id)),
        Command::RevokeKey { email, id } => {
            let user_id = find_user(tx, &email)?.user_id;
            if !keys::revoke(tx, user_id, id)? {
                return Err(ApiError::bad_request(format!("{email} has no key {id}")));
            }
            bots::change::clear_revoked_key(tx, user_id)?;
            to_json(logins::end_requested(tx, user_id))
        }
        Command::ListSessions { email } => {
            let user_id = find_user(tx, &email)?.user_id;
            to_json(sessions::list(tx, user_id, tx.now()))
        }
        Command::EndSession { email, id } => {
            let user_id = find_user(tx, &email)?.user_id;
            if !sessions::end(tx, user_id, id)? {
                return Err(ApiError::bad_request(format!("{email} has no session {id}")));
            }
            to_json(logins::end_requested(tx, user_id))
        }
        Command::UnlockUser { email } => {
            let name = email.trim().to_lowercase();
            let user_id = find_user(tx, &name)?.user_id;
            tx.audit(Entry::new(Action::AccountUnlocked, user_id))?;
            Ok(serde_json::json!({ "email": name }))
        }
        Command::OwnerLink => to_json(owner_link::create(tx)),
        Command::Repair(names) => to_json(integrity::repair(tx, &names)),
        Command::RenameUser { email, full_name } => to_json(user::rename(tx, &email, &full_name)),
        Command::SetEmail { email, new_email } => to_json(user::set_email(tx, &email, &new_email)),
        Command::EndSessions { email } => to_json(user::end_sessions(tx, &email)),
        Command::DeactivateRealm => organization::set_deactivated(tx, true),
        Command::ReactivateRealm => organization::set_deactivated(tx, false),
        Command::Record(work) => to_json(work::record(tx, work)),
        Command::ListAudit(_)
        | Command::TestMail { .. }
        | Command::GetRealm
        | Command::SetRealm { .. }
        | Command::Status
        | Command::DeleteUser { .. }
        | Command::ExpectProbe(_)
        | Command::SeenProbe
        | Command::Compact
        | Command::Purge(_)
        | Command::DeactivateInvited { .. } => Err(ApiError::internal("a command that is more than one job")),
    }
}
