//! The command line of `teamchat`, parsed with clap. Every flag can also be set as an environment variable
//! `TEAMCHAT_...`.

mod accounts;
mod audit;
mod backup;
mod check;
mod common;
mod config;
mod connect;
mod credentials;
mod doctor;
mod export;
mod fetch;
mod health;
mod import;
mod keeping;
mod logging;
mod mail;
mod mail_deliver;
mod mail_flags;
#[cfg(test)]
mod manual;
mod oidc;
mod organization;
mod progress;
mod purge;
mod push_flags;
mod serve;
mod serve_options;
mod status;
mod test_flags;
mod test_server;
mod tls_flags;

use accounts::{
    DeactivateCommand, DeleteCommand, EmailCommand, PasswordCommand, PasswordLinksCommand, RenameCommand,
    RoleCommand, SessionsCommand, random_password, read_password,
};
use clap::builder::BoolishValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use common::{Account, DEFAULT_DB, Failure, File, Output, Style, escaped, role, run_command, run_creating};
use credentials::{KeyCommand, SessionCommand};
use serve::address_of;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use teamchat::commands::{Command, CreatedUser, CreatedWebhookBot, ListedUser};
use teamchat::types::{Role, nearest_name};

/// A team chat server in one binary and one SQLite file.
///
/// `teamchat serve --db chat.sqlite` starts it. `teamchat user create` creates accounts. Clients for Zulip work with it
/// unchanged.
#[derive(Parser)]
#[command(version, about, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    command: MainCommand,
    /// The flags of `serve`, with their sources.
    #[arg(skip)]
    settings: Vec<config::Setting>,
}

#[derive(Subcommand)]
enum MainCommand {
    /// Run the server until it is stopped (Ctrl-C or SIGTERM).
    ///
    /// If the database file is missing, it is created with a new organization. The server is ready when GET /health answers
    /// with status 200.
    #[command(override_usage = "teamchat serve [OPTIONS]")]
    Serve(Box<serve::Serve>),
    /// Save the database to a file, whether the server is running or not.
    ///
    /// The backup is a consistent copy of the database, compressed and checked. Only its owner can read it. A running server
    /// continues to work. Until the backup is finished, the disk needs space for an uncompressed copy beside OUT. `zstd -d`
    /// turns a backup into an SQLite file. `serve --backup-to` makes backups automatically.
    Backup(backup::BackupCommand),
    /// Replace the database with a backup. The server must be stopped.
    ///
    /// The backup is decompressed and checked first. If it has an error, nothing changes. The previous file stays beside the
    /// database, as FILE.before-restore-TIME. If the database is missing, it is created, so you can move a server to another
    /// machine.
    Restore(backup::RestoreCommand),
    /// Check the database: the file, and the consistency of its rows.
    ///
    /// Works whether the server is running or not. Prints a line for each problem. Exit code: 0 if the database is sound, 1
    /// if it has problems, 2 if it cannot be used.
    Check(check::CheckCommand),
    /// Shrink the database file by its unused space.
    ///
    /// Works whether the server is running or not. If the server is stopped, the file is rewritten: until that is done, the
    /// disk needs space for twice the size of the file.
    Compact(check::CompactCommand),
    /// Check the health of a server, for monitors and containers.
    ///
    /// Exits with 0 and prints warnings, or exits with 1 and prints the problem.
    Health(health::Health),
    /// Import an organization from another server into a new database.
    ///
    /// The import writes to a temporary file, which gets the name of the database when it is complete. If the archive has an
    /// error, no file remains.
    Import(import::Import),
    /// Create, list and change users, and manage their API keys and sessions.
    ///
    /// Works whether the server is running or not.
    #[command(subcommand)]
    User(UserCommand),
    /// List logins and changes to accounts, keys, permissions and settings, oldest first.
    ///
    /// Each entry has the time, the author, the author's address, and the values before and after the change. Works whether the
    /// server is running or not.
    Audit(audit::AuditCommand),
    /// Create bots for other programs.
    ///
    /// Works whether the server is running or not.
    #[command(subcommand)]
    Bot(BotCommand),
    /// Export a database as fixtures for test servers, or print sample fixtures.
    #[command(subcommand)]
    Fixtures(test_flags::FixturesCommand),
    /// Print and change the settings of the organization, or deactivate and reactivate it.
    ///
    /// Works whether the server is running or not.
    #[command(subcommand)]
    Organization(organization::OrganizationCommand),
    /// Write the organization, the data of one person, or channels to files.
    ///
    /// Works whether the server is running or not.
    #[command(subcommand)]
    Export(export::ExportCommand),
    /// Check a configuration file, and show the settings that take effect.
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Test this machine and the connection to the server: file, disk, clock, certificate, public address, proxy.
    ///
    /// Pass the flags of serve, or its --config. The command changes nothing. It works whether the server is running or not, but
    /// some tests require a running server. Prints a line for each test, with a remedy for each problem. Exit code: 0 if there
    /// is no problem (there may be warnings), 1 if there are problems, 2 if the database cannot be used.
    #[command(override_usage = "teamchat doctor [OPTIONS]")]
    Doctor(Box<doctor::DoctorCommand>),
    /// Test mail, and deliver received email.
    #[command(subcommand)]
    Mail(mail::MailCommand),
    /// Show the state of a server: people, messages, sizes, and problems with their remedies.
    ///
    /// Works whether the server is running or not.
    Status(status::StatusCommand),
}

#[derive(Subcommand)]
enum BotCommand {
    /// Create a bot for an incoming webhook, and print the URL to which the other program posts.
    Create(CreateBot),
}

#[derive(Args)]
struct CreateBot {
    #[command(flatten)]
    file: File,
    /// The integration, such as grafana, gitea, uptimekuma or slack_incoming. The error for an unknown name lists all.
    #[arg(long, env = "TEAMCHAT_INTEGRATION", value_name = "NAME")]
    integration: String,
    /// The name of the channel that the bot posts to.
    #[arg(long, env = "TEAMCHAT_CHANNEL", value_name = "CHANNEL")]
    channel: String,
    /// The email of the bot's owner, who is notified of failed deliveries. By default, the first owner of the organization.
    #[arg(long, env = "TEAMCHAT_OWNER", value_name = "EMAIL")]
    owner: Option<String>,
    /// The bot's display name. By default, the name of the integration.
    #[arg(long, env = "TEAMCHAT_FULL_NAME", value_name = "NAME")]
    full_name: Option<String>,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand)]
enum UserCommand {
    /// Create a user or a bot, and print an API key.
    ///
    /// Without --password-stdin, a person gets a random password, which is printed once. If the organization does not allow
    /// logins with passwords, the person gets no password.
    Create(Create),
    /// List all users.
    List {
        #[command(flatten)]
        file: File,
        #[command(flatten)]
        output: Output,
    },
    /// Unlock a user after wrong passwords.
    ///
    /// Five wrong passwords from one address lock an account for that address. Twenty lock it for all addresses, except
    /// those from which the user logged in before. A lock lasts 30 minutes. A restart of the server removes all locks.
    Unlock(Account),
    /// Set a user's password.
    ///
    /// Revokes all API keys and sessions of the user, so every client has to log in again. Without --password-stdin, the
    /// password is random and printed once.
    Password(PasswordCommand),
    /// Create links to set a password, for people who have none, such as after an import.
    ///
    /// Prints the links, or sends them with --mail. A link works once, for a day, and replaces the person's earlier link. Anyone who
    /// has a link can set the password.
    PasswordLinks(PasswordLinksCommand),
    /// Change a user's role.
    Role(RoleCommand),
    /// Deactivate a user and their bots. Their messages stay.
    Deactivate(DeactivateCommand),
    /// Let a deactivated user log in again. Old API keys and sessions stay revoked.
    Reactivate(Account),
    /// Change a user's display name.
    Rename(RenameCommand),
    /// Change a user's email, used to log in.
    Email(EmailCommand),
    /// Delete an account: name, email, picture, keys, sessions, subscriptions and personal texts.
    ///
    /// Messages, files, channels, groups, emoji, reactions and votes stay. Their author is then shown as "Deleted user" with a
    /// number. To delete them too, use `user purge` first. The bots of the user are deactivated. This cannot be undone.
    Delete(DeleteCommand),
    /// List the sessions and API keys of a user, or end them all. Kept for scripts; `user session` has the same.
    #[command(hide = true)]
    Sessions(SessionsCommand),
    /// Delete the content that a user and their bots created.
    ///
    /// Prints the counts and asks for confirmation. Deletes in small steps; clients see each step immediately. The user must
    /// be deactivated first, unless only bots are selected.
    Purge(purge::PurgeCommand),
    /// Create, list and revoke the API keys of a user.
    #[command(subcommand)]
    Key(KeyCommand),
    /// List and end a user's browser sessions.
    #[command(subcommand)]
    Session(SessionCommand),
}

#[derive(Args)]
struct Create {
    /// The SQLite database file, by default chat.sqlite. If you name a file that is missing, it is created.
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

impl Arguments {
    /// Parses the command line and the configuration file, or exits with an error.
    pub fn read() -> Self {
        let command = Self::command();
        let parsed = config::parse(&command, std::env::args_os().collect(), |name| std::env::var_os(name));
        let read = parsed.and_then(|config::Parsed { matches, settings, oidc }| {
            let read = Self::from_arg_matches(&matches);
            let mut arguments =
                Self { settings, ..read.map_err(|error| error.format(&mut Self::command()))? };
            match &mut arguments.command {
                MainCommand::Serve(serve) => serve.oidc = oidc,
                MainCommand::Doctor(doctor) => doctor.serve.oidc = oidc,
                _ => {}
            }
            Ok(arguments)
        });
        read.unwrap_or_else(|mut error| {
            if error.kind() == ErrorKind::UnknownArgument
                && let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg)
                && let Some(nearest) = nearest_flag(flag)
            {
                error.insert(ContextKind::SuggestedArg, ContextValue::String(nearest));
            }
            if error.kind() == ErrorKind::InvalidSubcommand {
                let command = command_here();
                let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
                let names = format!("available commands: {}", names.join(", "));
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
            MainCommand::Config(task) => task.run(&self.settings),
            MainCommand::Backup(backup) => backup.run(),
            MainCommand::Restore(restore) => restore.run(),
            MainCommand::Check(check) => match check.run() {
                Ok(code) => return code,
                Err(error) => Err(error),
            },
            MainCommand::Doctor(doctor) => match doctor.run() {
                Ok(code) => return code,
                Err(error) => Err(error),
            },
            MainCommand::Mail(task) => match task.run() {
                Ok(code) => return code,
                Err(error) => Err(error),
            },
            MainCommand::Compact(compact) => compact.run(),
            MainCommand::Health(health) => health.run(),
            MainCommand::Import(import) => import.run(),
            MainCommand::Export(task) => task.run(),
            MainCommand::User(task) => task.run(),
            MainCommand::Audit(command) => command.run(),
            MainCommand::Bot(BotCommand::Create(create)) => create.run(),
            MainCommand::Fixtures(task) => task.run(),
            MainCommand::Organization(task) => task.run(),
            MainCommand::Status(command) => command.run(),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // Without standard error there is nowhere to report to.
                let _unreported =
                    writeln!(std::io::stderr(), "{} {}", Style::stderr().red("error:"), escaped(&error));
                if error.is::<test_flags::UsageError>() { ExitCode::from(2) } else { ExitCode::FAILURE }
            }
        }
    }
}

/// The command that the words of the command line name.
fn command_here() -> clap::Command {
    let mut command = Arguments::command();
    for word in std::env::args().skip(1) {
        match command.find_subcommand(&word) {
            Some(found) => command = found.clone(),
            None => break,
        }
    }
    command
}

/// The flag of the command with the most similar name to an unknown one.
fn nearest_flag(unknown: &str) -> Option<String> {
    let command = command_here();
    let flags = command.get_arguments().filter_map(clap::Arg::get_long);
    nearest_name(unknown.trim_start_matches('-'), flags).map(|nearest| format!("--{nearest}"))
}

impl UserCommand {
    fn run(self) -> Result<(), Failure> {
        match self {
            Self::Create(create) => create.run(),
            Self::List { file, output } => {
                let users: Vec<ListedUser> = run_command(&file.db, Command::ListUsers)?;
                output.print(&file.db, &users, |out, style| list_users(out, style, &users))
            }
            Self::Unlock(account) => account.unlock(),
            Self::Password(command) => command.run(),
            Self::PasswordLinks(command) => command.run(),
            Self::Role(command) => command.run(),
            Self::Deactivate(command) => command.run(),
            Self::Reactivate(account) => account.set_active(true),
            Self::Rename(command) => command.run(),
            Self::Email(command) => command.run(),
            Self::Delete(command) => command.run(),
            Self::Sessions(command) => command.run(),
            Self::Purge(command) => command.run(),
            Self::Key(command) => command.run(),
            Self::Session(command) => command.run(),
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
        let bot: CreatedWebhookBot = run_command(db, command)?;
        let url = format!("{}{}", address_of(db, bot.public_url.clone()), bot.path);
        let mut value = serde_json::to_value(&bot)?;
        value["url"] = url.as_str().into();
        self.output.print(db, &value, |out, style| {
            let (name, owner) = (style.bold(&bot.full_name), &bot.owner);
            writeln!(out, "{} the bot {name}, owned by {owner}", style.green("Created"))?;
            writeln!(out, "\n  {}\n", style.bold(&url))?;
            let note = "Anyone who knows this URL can post. docs/integrations.md explains how to use it.";
            writeln!(out, "{}", style.dim(note))
        })
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
        // A typing error in a script makes no second organization.
        if self.db.is_none() && !db.exists() {
            return Err(
                format!("{DEFAULT_DB} does not exist here; to create it, pass --db {DEFAULT_DB}").into()
            );
        }
        let user: CreatedUser = run_creating(db, command, self.db.is_some())?;
        let password = password.filter(|_| generated && !user.is_without_password);
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
                "Clients show the key of a bot to its owner."
            } else {
                "Store them: they are not shown again."
            };
            writeln!(out, "{}", style.dim(note))
        })
    }
}

fn list_users(out: &mut dyn Write, style: Style, users: &[ListedUser]) -> std::io::Result<()> {
    if users.is_empty() {
        return writeln!(out, "No users yet. Create one with: teamchat user create");
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
