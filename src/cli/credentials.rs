//! `teamchat user key` and `teamchat user session`: what logs a person in, without their password.

use super::common::{Account, Failure, Style, run_command};
use super::test_flags::UsageError;
use clap::Subcommand;
use clap::builder::BoolishValueParser;
use serde_json::{Value, json};
use std::io::Write;
use teamchat::commands::Command;
use teamchat::domain::keys::KeyRecord;
use teamchat::domain::logins::sessions::SessionRecord;
use teamchat::types::timestamp;

#[derive(Subcommand)]
pub(super) enum KeyCommand {
    /// Create another API key. It is printed once and cannot be read again.
    Mint {
        #[command(flatten)]
        account: Account,
        /// The client or purpose of the key, shown in the list.
        #[arg(long, env = "TEAMCHAT_CLIENT", value_name = "NAME", default_value = "command line")]
        client: String,
    },
    /// List the API keys of a user: id, creation time, last use and purpose.
    List(Account),
    /// Revoke an API key. Only the client that uses it is logged out.
    Revoke {
        #[command(flatten)]
        account: Account,
        /// The id of the key, as listed.
        id: i64,
    },
}

impl KeyCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Mint { account: Account { file, email, output }, client } => {
                let key: Value = run_command(&file.db, Command::CreateKey { email: email.clone(), client })?;
                output.print(&file.db, &key, |out, style| {
                    let api_key = key["api_key"].as_str().unwrap_or_default();
                    writeln!(out, "API key of {email}: {}", style.bold(api_key))?;
                    writeln!(out, "{}", style.dim("It is not shown again."))
                })
            }
            Self::List(Account { file, email, output }) => {
                let keys: Vec<KeyRecord> = run_command(&file.db, Command::ListKeys { email })?;
                output.print(&file.db, &keys, |out, style| list_keys(out, style, &keys))
            }
            Self::Revoke { account: Account { file, email, output }, id } => {
                let _done: Value = run_command(&file.db, Command::RevokeKey { email: email.clone(), id })?;
                let value = json!({ "email": email, "id": id, "revoked": true });
                output.print(&file.db, &value, |out, _| writeln!(out, "Key {id} of {email} was revoked."))
            }
        }
    }
}

#[derive(Subcommand)]
pub(super) enum SessionCommand {
    /// List the sessions of a user: id, start, last use, address and browser.
    List(Account),
    /// End a session, or log the user out everywhere.
    End {
        #[command(flatten)]
        account: Account,
        /// The id of the session, as listed. Only the browser that has it is logged out.
        id: Option<i64>,
        /// End all sessions and revoke all API keys.
        #[arg(long, env = "TEAMCHAT_ALL", value_parser = BoolishValueParser::new())]
        all: bool,
    },
}

impl SessionCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::List(Account { file, email, output }) => {
                let sessions: Vec<SessionRecord> = run_command(&file.db, Command::ListSessions { email })?;
                output.print(&file.db, &sessions, |out, style| list_sessions(out, style, &sessions))
            }
            Self::End { account, id: None, all: true } => account.end_all_sessions(),
            Self::End { id: None, all: false, .. } => {
                Err(UsageError("name the id of a session, or --all".to_owned()).into())
            }
            Self::End { id: Some(_), all: true, .. } => {
                Err(UsageError("name the id of a session or --all, not both".to_owned()).into())
            }
            Self::End { account: Account { file, email, output }, id: Some(id), all: false } => {
                let command = Command::EndSession { email: email.clone(), id };
                let _done: Value = run_command(&file.db, command)?;
                let value = json!({ "email": email, "id": id, "ended": true });
                output.print(&file.db, &value, |out, _| writeln!(out, "Session {id} of {email} has ended."))
            }
        }
    }
}

pub(super) fn list_sessions(
    out: &mut dyn Write,
    style: Style,
    sessions: &[SessionRecord],
) -> std::io::Result<()> {
    if sessions.is_empty() {
        return writeln!(out, "No sessions.");
    }
    let head = format!("{:>5}  {:20}  {:20}  {:15}  BROWSER", "ID", "SINCE", "LAST USED", "FROM");
    writeln!(out, "{}", style.dim(&head))?;
    for session in sessions {
        let time = |seconds| timestamp(seconds).to_string();
        let (since, used) = (time(session.date_created), time(session.last_used));
        let SessionRecord { id, address, client, .. } = session;
        writeln!(out, "{id:>5}  {since:20}  {used:20}  {address:15}  {client}")?;
    }
    Ok(())
}

pub(super) fn list_keys(out: &mut dyn Write, style: Style, keys: &[KeyRecord]) -> std::io::Result<()> {
    if keys.is_empty() {
        return writeln!(out, "No keys.");
    }
    writeln!(out, "{}", style.dim(&format!("{:>5}  {:20}  {:20}  FOR", "ID", "MADE", "LAST USED")))?;
    for key in keys {
        let time = |seconds| timestamp(seconds).to_string();
        let (made, used) = (time(key.date_created), key.last_used.map_or_else(|| "never".to_owned(), time));
        writeln!(out, "{:>5}  {made:20}  {used:20}  {}", key.id, key.client)?;
    }
    Ok(())
}
