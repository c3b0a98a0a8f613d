//! The command line of `teamchat`, parsed with clap. Every flag can also be set as an environment variable
//! `TEAMCHAT_...`.

mod accounts;
mod common;
mod health;
mod purge;
mod serve;
mod serve_options;
mod test_flags;
mod test_server;

use accounts::{Account, PasswordCommand, RoleCommand, random_password, read_password};
use clap::builder::BoolishValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand};
use common::{DEFAULT_DB, Failure, File, Output, Style, role, run_command};
use serde_json::Value;
use serve::DEFAULT_ADDRESS;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use teamchat::api::control::{Command, CreatedUser, CreatedWebhookBot, ListedUser};
use teamchat::domain::keys::KeyRecord;
use teamchat::domain::logins::sessions::SessionRecord;
use teamchat::store::Database;
use teamchat::types::Role;

/// A team chat server in one binary and one SQLite file.
///
/// `teamchat serve --db chat.sqlite` runs it; `teamchat user create` makes accounts. Clients of the published team-chat
/// API work with it unchanged.
#[derive(Parser)]
#[command(version, about, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    command: MainCommand,
}

#[derive(Subcommand)]
enum MainCommand {
    /// Run the server until it is stopped (Ctrl-C or SIGTERM).
    ///
    /// A missing file is created, with its organization. The server is ready when GET /api/v1/server_settings responds.
    #[command(override_usage = "teamchat serve [OPTIONS]")]
    Serve(serve::Serve),
    /// Ask a server whether it does its work, for monitors and containers.
    ///
    /// Prints nothing and ends with code 0, or says what is wrong and ends with code 1.
    Health(health::Health),
    /// Create, list and change users, and manage their API keys.
    ///
    /// Works while the server runs and while it does not.
    #[command(subcommand)]
    User(UserCommand),
    /// Create bots for other programs.
    ///
    /// Works while the server runs and while it does not.
    #[command(subcommand)]
    Bot(BotCommand),
    /// Write what a database has as fixtures, for test servers.
    #[command(subcommand)]
    Fixtures(test_flags::FixturesCommand),
    /// Reactivate an organization that an owner has deactivated.
    ///
    /// Works while the server runs and while it does not.
    #[command(subcommand)]
    Organization(OrganizationCommand),
}

#[derive(Subcommand)]
enum BotCommand {
    /// Create a bot for an incoming webhook, and print the address to which the other program posts.
    Create(CreateBot),
}

#[derive(Args)]
struct CreateBot {
    #[command(flatten)]
    file: File,
    /// The program that posts, such as grafana, gitea, uptimekuma or slack_incoming. An unknown name lists all.
    #[arg(long, env = "TEAMCHAT_INTEGRATION", value_name = "NAME")]
    integration: String,
    /// The name of the channel that it posts to.
    #[arg(long, env = "TEAMCHAT_CHANNEL", value_name = "CHANNEL")]
    channel: String,
    /// The person who owns the bot, and is told when a delivery fails. The organization's first owner by default.
    #[arg(long, env = "TEAMCHAT_OWNER", value_name = "EMAIL")]
    owner: Option<String>,
    /// The bot's display name. That of the integration by default.
    #[arg(long, env = "TEAMCHAT_FULL_NAME", value_name = "NAME")]
    full_name: Option<String>,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand)]
enum OrganizationCommand {
    /// Let people log in again. Accounts, keys and messages are unchanged.
    Reactivate {
        #[command(flatten)]
        file: File,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Subcommand)]
enum UserCommand {
    /// Create a user or a bot, and print an API key.
    ///
    /// A person without --password-stdin gets a random password, printed once.
    Create(Create),
    /// List all users.
    List {
        #[command(flatten)]
        file: File,
        #[command(flatten)]
        output: Output,
    },
    /// Let a user log in again who was locked out by wrong passwords.
    ///
    /// Five wrong passwords lock an account for the address they came from, for 30 minutes, and twenty for all addresses
    /// but those where the user logged in before. A server that starts has forgotten all of them.
    Unlock {
        #[command(flatten)]
        file: File,
        /// The email address of the user.
        #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
        email: String,
        #[command(flatten)]
        output: Output,
    },
    /// Set a user's password, for people who forgot theirs.
    ///
    /// All API keys and sessions of the user end: every client has to log in again. Without --password-stdin the password is
    /// random, and printed once.
    Password(PasswordCommand),
    /// Change a user's role.
    Role(RoleCommand),
    /// Deactivate a user and their bots. Their messages stay.
    Deactivate(Account),
    /// Let a deactivated user log in again. Old API keys work again too.
    Reactivate(Account),
    /// Remove what a user has made, with all their bots.
    ///
    /// It is done in small steps, and clients are told of each. Deactivate the user first. Says what it will remove, and asks.
    Purge(purge::PurgeCommand),
    /// Create, list and revoke the API keys of a user.
    #[command(subcommand)]
    Key(KeyCommand),
    /// List and end the sessions of a user in browsers.
    #[command(subcommand)]
    Session(SessionCommand),
}

#[derive(Args)]
struct Create {
    /// The SQLite database file, by default chat.sqlite. A missing file is created if it is named here.
    #[arg(long, env = "TEAMCHAT_DB", value_name = "FILE")]
    db: Option<PathBuf>,
    /// The email address, used to log in.
    #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
    email: String,
    /// The display name.
    #[arg(long, env = "TEAMCHAT_FULL_NAME", value_name = "NAME")]
    full_name: String,
    /// The role in the organization.
    #[arg(long, env = "TEAMCHAT_ROLE", value_parser = role(), default_value = "member")]
    role: Role,
    /// Create a bot that belongs to this person.
    #[arg(long, env = "TEAMCHAT_BOT_OWNER", value_name = "EMAIL", conflicts_with = "password_stdin")]
    bot_owner: Option<String>,
    /// Read the password from the first line of standard input.
    #[arg(long, env = "TEAMCHAT_PASSWORD_STDIN", value_parser = BoolishValueParser::new())]
    password_stdin: bool,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand)]
enum KeyCommand {
    /// Create another API key. It is printed once and cannot be read again.
    Mint {
        #[command(flatten)]
        file: File,
        /// The email address of the user.
        #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
        email: String,
        /// The client or purpose of the key, shown in the list.
        #[arg(long, env = "TEAMCHAT_CLIENT", value_name = "NAME", default_value = "command line")]
        client: String,
        #[command(flatten)]
        output: Output,
    },
    /// List the API keys of a user: id, creation time, last use and purpose.
    List {
        #[command(flatten)]
        file: File,
        /// The email address of the user.
        #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
        email: String,
        #[command(flatten)]
        output: Output,
    },
    /// Revoke an API key. Only the client that uses it is logged out.
    Revoke {
        #[command(flatten)]
        file: File,
        /// The email address of the user.
        #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
        email: String,
        /// The id of the key, as listed.
        id: i64,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Subcommand)]
enum SessionCommand {
    /// List the sessions of a user: id, begin, last use, address and browser.
    List {
        #[command(flatten)]
        file: File,
        /// The email address of the user.
        #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
        email: String,
        #[command(flatten)]
        output: Output,
    },
    /// End a session. Only the browser that has it is logged out.
    End {
        #[command(flatten)]
        file: File,
        /// The email address of the user.
        #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
        email: String,
        /// The id of the session, as listed.
        id: i64,
        #[command(flatten)]
        output: Output,
    },
}

impl Arguments {
    /// Reads the command line, or ends the program with what is wrong with it.
    pub fn read() -> Self {
        Self::try_parse().unwrap_or_else(|mut error| {
            if error.kind() == ErrorKind::InvalidSubcommand {
                let names = format!("the commands here are {}", subcommands_here().join(", "));
                let tip = ContextValue::StyledStrs(vec![names.into()]);
                error.insert(ContextKind::Suggested, tip);
            }
            error.exit()
        })
    }

    /// Runs the command.
    pub fn run(self) -> ExitCode {
        let done = match self.command {
            MainCommand::Serve(serve) => serve.run(),
            MainCommand::Health(health) => health.run(),
            MainCommand::User(task) => task.run(),
            MainCommand::Bot(BotCommand::Create(create)) => create.run(),
            MainCommand::Fixtures(task) => task.run(),
            MainCommand::Organization(task) => task.run(),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // Without standard error there is nowhere to report to.
                let _unreported = writeln!(std::io::stderr(), "{} {error}", Style::stderr().red("error:"));
                if error.is::<test_flags::UsageError>() { ExitCode::from(2) } else { ExitCode::FAILURE }
            }
        }
    }
}

/// The commands that can follow the words of the command line that are commands.
fn subcommands_here() -> Vec<String> {
    let mut command = Arguments::command();
    for word in std::env::args().skip(1) {
        match command.find_subcommand(&word) {
            Some(found) => command = found.clone(),
            None => break,
        }
    }
    command.get_subcommands().map(|known| known.get_name().to_owned()).collect()
}

impl UserCommand {
    fn run(self) -> Result<(), Failure> {
        match self {
            Self::Create(create) => create.run(),
            Self::List { file, output } => {
                let users: Vec<ListedUser> = run_command(&file.db, Command::ListUsers, false)?;
                output.print(&file.db, &users, |out, style| list_users(out, style, &users))
            }
            Self::Unlock { file, email, output } => {
                let done: Value = run_command(&file.db, Command::UnlockUser { email: email.clone() }, false)?;
                output.print(&file.db, &done, |out, _| writeln!(out, "{email} can log in."))
            }
            Self::Password(command) => command.run(),
            Self::Role(command) => command.run(),
            Self::Deactivate(account) => account.set_active(false),
            Self::Reactivate(account) => account.set_active(true),
            Self::Purge(command) => command.run(),
            Self::Key(KeyCommand::Mint { file, email, client, output }) => {
                let key: Value =
                    run_command(&file.db, Command::CreateKey { email: email.clone(), client }, false)?;
                output.print(&file.db, &key, |out, style| {
                    let api_key = key["api_key"].as_str().unwrap_or_default();
                    writeln!(out, "API key of {email}: {}", style.bold(api_key))?;
                    writeln!(out, "{}", style.dim("It is shown this once."))
                })
            }
            Self::Key(KeyCommand::List { file, email, output }) => {
                let keys: Vec<KeyRecord> = run_command(&file.db, Command::ListKeys { email }, false)?;
                output.print(&file.db, &keys, |out, style| list_keys(out, style, &keys))
            }
            Self::Key(KeyCommand::Revoke { file, email, id, output }) => {
                let done: Value =
                    run_command(&file.db, Command::RevokeKey { email: email.clone(), id }, false)?;
                output.print(&file.db, &done, |out, _| {
                    writeln!(out, "Key {id} of {email} does not work any more.")
                })
            }
            Self::Session(SessionCommand::List { file, email, output }) => {
                let sessions: Vec<SessionRecord> =
                    run_command(&file.db, Command::ListSessions { email }, false)?;
                output.print(&file.db, &sessions, |out, style| list_sessions(out, style, &sessions))
            }
            Self::Session(SessionCommand::End { file, email, id, output }) => {
                let command = Command::EndSession { email: email.clone(), id };
                let done: Value = run_command(&file.db, command, false)?;
                output.print(&file.db, &done, |out, _| writeln!(out, "Session {id} of {email} has ended."))
            }
        }
    }
}

impl CreateBot {
    fn run(self) -> Result<(), Failure> {
        let db = &self.file.db;
        let command = Command::CreateWebhookBot {
            integration: self.integration,
            channel: self.channel,
            owner: self.owner,
            full_name: self.full_name,
        };
        // Where a running server listens; without one, the address that it has by default.
        let server: Value = Database::announced(db)
            .and_then(|announcement| serde_json::from_str(&announcement).ok())
            .unwrap_or_default();
        let bot: CreatedWebhookBot = run_command(db, command, false)?;
        let address = server["address"].as_str().unwrap_or(DEFAULT_ADDRESS);
        let origin = bot.public_url.clone().unwrap_or_else(|| format!("http://{address}"));
        let url = format!("{}{}", origin.trim_end_matches('/'), bot.path);
        let mut value = serde_json::to_value(&bot)?;
        value["url"] = url.as_str().into();
        self.output.print(db, &value, |out, style| {
            let (name, owner) = (style.bold(&bot.full_name), &bot.owner);
            writeln!(out, "{} the bot {name}, owned by {owner}", style.green("Created"))?;
            writeln!(out, "\n  {}\n", style.bold(&url))?;
            let note = "Whoever knows this address can post. docs/integrations.md says where it goes.";
            writeln!(out, "{}", style.dim(note))
        })
    }
}

impl OrganizationCommand {
    fn run(self) -> Result<(), Failure> {
        let Self::Reactivate { file, output } = self;
        let done: Value = run_command(&file.db, Command::ReactivateRealm, false)?;
        let words = match done["was_deactivated"].as_bool() {
            Some(false) => "The organization was not deactivated: people can log in.",
            _ => "People can log in again.",
        };
        output.print(&file.db, &done, |out, _| writeln!(out, "{words}"))
    }
}

impl Create {
    fn run(self) -> Result<(), Failure> {
        let generated = self.bot_owner.is_none() && !self.password_stdin;
        let password = if self.password_stdin {
            Some(read_password()?)
        } else if generated {
            Some(random_password())
        } else {
            None
        };
        let command = Command::CreateUser {
            email: self.email,
            full_name: self.full_name,
            role: self.role,
            bot_owner: self.bot_owner,
            password: password.clone(),
        };
        let db = self.db.as_deref().unwrap_or(Path::new(DEFAULT_DB));
        let user: CreatedUser = run_command(db, command, self.db.is_some())?;
        let password = password.filter(|_| generated);
        let mut value = serde_json::to_value(&user)?;
        if let Some(password) = &password {
            value["password"] = password.as_str().into();
        }
        self.output.print(db, &value, |out, style| {
            let kind = if user.is_bot { "bot" } else { user.role.name() };
            writeln!(out, "{} {} ({kind})", style.green("Created"), style.bold(&user.full_name))?;
            writeln!(out, "  email     {}", user.email)?;
            if let Some(password) = &password {
                writeln!(out, "  password  {}", style.bold(password))?;
            }
            writeln!(out, "  API key   {}", style.bold(&user.api_key))?;
            let note = if user.is_bot {
                "Clients show the key of a bot to its owner again."
            } else {
                "Keep them: they are shown this once."
            };
            writeln!(out, "{}", style.dim(note))
        })
    }
}

fn list_users(out: &mut dyn Write, style: Style, users: &[ListedUser]) -> std::io::Result<()> {
    if users.is_empty() {
        return writeln!(out, "No users yet. Make one with: teamchat user create");
    }
    let width = users.iter().map(|user| user.full_name.chars().count()).max().unwrap_or(0);
    let email = users.iter().map(|user| user.email.chars().count()).max().unwrap_or(0);
    let head = format!("{:>5}  {:width$}  {:email$}  {:13}  KEYS", "ID", "NAME", "EMAIL", "ROLE");
    writeln!(out, "{}", style.dim(&head))?;
    for user in users {
        let kind = if user.is_bot { "bot" } else { user.role.name() };
        let line = format!(
            "{:>5}  {:width$}  {:email$}  {kind:13}  {:>4}",
            user.user_id.0, user.full_name, user.email, user.keys
        );
        if user.is_active {
            writeln!(out, "{line}")?;
        } else {
            writeln!(out, "{}", style.dim(&format!("{line}  deactivated")))?;
        }
    }
    Ok(())
}

fn list_sessions(out: &mut dyn Write, style: Style, sessions: &[SessionRecord]) -> std::io::Result<()> {
    if sessions.is_empty() {
        return writeln!(out, "No sessions.");
    }
    let head = format!("{:>5}  {:20}  {:20}  {:15}  BROWSER", "ID", "SINCE", "LAST USED", "FROM");
    writeln!(out, "{}", style.dim(&head))?;
    for session in sessions {
        let time = |seconds| jiff::Timestamp::from_second(seconds).unwrap_or_default().to_string();
        let (since, used) = (time(session.date_created), time(session.last_used));
        let SessionRecord { id, address, client, .. } = session;
        writeln!(out, "{id:>5}  {since:20}  {used:20}  {address:15}  {client}")?;
    }
    Ok(())
}

fn list_keys(out: &mut dyn Write, style: Style, keys: &[KeyRecord]) -> std::io::Result<()> {
    if keys.is_empty() {
        return writeln!(out, "No keys.");
    }
    writeln!(out, "{}", style.dim(&format!("{:>5}  {:20}  {:20}  FOR", "ID", "MADE", "LAST USED")))?;
    for key in keys {
        let time = |seconds| jiff::Timestamp::from_second(seconds).unwrap_or_default().to_string();
        let (made, used) = (time(key.date_created), key.last_used.map_or_else(|| "never".to_owned(), time));
        writeln!(out, "{:>5}  {made:20}  {used:20}  {}", key.id, key.client)?;
    }
    Ok(())
}
