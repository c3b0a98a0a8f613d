//! `teamchat user password`, `password-links`, `role`, `rename`, `email`, `delete`, `sessions`, `unlock`, `deactivate` and
//! `reactivate`, and passwords that are read or made.

use super::common::{Account, Failure, File, Output, confirm, role, run_command};
use super::credentials::{list_keys, list_sessions};
use super::purge::listed;
use super::serve::address_of;
use clap::Args;
use clap::builder::BoolishValueParser;
use rand::RngExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use teamchat::commands::{Command, PasswordLinks};
use teamchat::domain::accounts::password::PasswordLink;
use teamchat::domain::keys::KeyRecord;
use teamchat::domain::logins::sessions::SessionRecord;
use teamchat::types::Role;

#[derive(Args)]
pub(super) struct PasswordCommand {
    #[command(flatten)]
    account: Account,
    /// Read the password from the first line of standard input.
    #[arg(long, env = "TEAMCHAT_PASSWORD_STDIN", value_parser = BoolishValueParser::new())]
    password_stdin: bool,
}

#[derive(Args)]
pub(super) struct PasswordLinksCommand {
    #[command(flatten)]
    file: File,
    /// Create links for all people, including those who have a password.
    #[arg(long, env = "TEAMCHAT_ALL", value_parser = BoolishValueParser::new())]
    all: bool,
    /// Send the links by mail. Links of people with placeholder addresses are printed. If not all of the emails can wait for the
    /// mail server, none is sent: print the links instead, or ask people to use "Forgot your password?".
    #[arg(long, env = "TEAMCHAT_MAIL", value_parser = BoolishValueParser::new())]
    mail: bool,
    #[command(flatten)]
    output: Output,
}

impl PasswordLinksCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let db = &self.file.db;
        let command = Command::CreatePasswordLinks { all: self.all, mail: self.mail };
        let PasswordLinks { public_url, links } = run_command(db, command)?;
        let address = address_of(db, public_url);
        let mut rows = serde_json::to_value(&links)?;
        for (link, row) in links.iter().zip(rows.as_array_mut().into_iter().flatten()) {
            if let Some(path) = &link.path {
                row["url"] = format!("{address}{path}").into();
            }
        }
        self.output.print(db, &rows, |out, style| {
            if links.is_empty() {
                return writeln!(out, "All active people have a password.");
            }
            write_links(out, &address, &links)?;
            let note = "A link works once, for a day, and replaces the person's earlier link.";
            writeln!(out, "{}", style.dim(note))
        })
    }
}

/// Writes links, each in a line behind the email. `address` is that of the server.
pub(super) fn write_links(out: &mut dyn Write, address: &str, links: &[PasswordLink]) -> std::io::Result<()> {
    for PasswordLink { email, path } in links {
        match path {
            Some(path) => writeln!(out, "{email}\t{address}{path}")?,
            None => writeln!(out, "{email}\tsent by mail")?,
        }
    }
    Ok(())
}

#[derive(Args)]
pub(super) struct RoleCommand {
    #[command(flatten)]
    account: Account,
    /// The new role. A bot is a member or a guest.
    #[arg(long, env = "TEAMCHAT_ROLE", value_parser = role())]
    role: Role,
}

#[derive(Args)]
pub(super) struct DeactivateCommand {
    #[command(flatten)]
    account: Account,
    /// Include the accounts that they invited in the last week, and the accounts that those invited. Lists them and
    /// asks for confirmation.
    #[arg(long, env = "TEAMCHAT_INVITED", value_parser = BoolishValueParser::new())]
    invited: bool,
    /// Do not ask for confirmation.
    #[arg(long, env = "TEAMCHAT_YES", value_parser = BoolishValueParser::new())]
    yes: bool,
}

impl DeactivateCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        if !self.invited {
            return self.account.set_active(false);
        }
        let Account { file, email, output } = self.account;
        let command = |dry_run| Command::DeactivateInvited { email: email.clone(), dry_run };
        let found: Vec<String> = run_command(&file.db, command(true))?;
        let words = found.join(", ");
        if !self.yes {
            let refusal = format!("nothing was deactivated; --yes deactivates {words}");
            confirm(&format!("Deactivate {words}?"), &refusal, "nothing was deactivated")?;
        }
        let done: Vec<String> = run_command(&file.db, command(false))?;
        output.print(&file.db, &json!({ "deactivated": done }), |out, _| {
            writeln!(out, "Deactivated: {}.", done.join(", "))
        })
    }
}

impl RoleCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let Account { file, email, output } = self.account;
        let command = Command::SetRole { email: email.clone(), role: self.role };
        let _done: Value = run_command(&file.db, command)?;
        let value = json!({ "email": email, "role": self.role });
        output.print(&file.db, &value, |out, _| writeln!(out, "{email} is now {}.", self.role.name()))
    }
}

#[derive(Args)]
pub(super) struct RenameCommand {
    #[command(flatten)]
    account: Account,
    /// The new display name.
    #[arg(long, env = "TEAMCHAT_FULL_NAME", value_name = "NAME")]
    full_name: String,
}

#[derive(Args)]
pub(super) struct EmailCommand {
    #[command(flatten)]
    account: Account,
    /// The new email address.
    #[arg(long, env = "TEAMCHAT_NEW_EMAIL", value_name = "EMAIL")]
    new_email: String,
}

#[derive(Args)]
pub(super) struct DeleteCommand {
    #[command(flatten)]
    account: Account,
    /// Do not ask for confirmation.
    #[arg(long, env = "TEAMCHAT_YES", value_parser = BoolishValueParser::new())]
    yes: bool,
}

// `user sessions` is kept for scripts; `user session` and `user key` have the same.
#[derive(Args)]
pub(super) struct SessionsCommand {
    #[command(flatten)]
    account: Account,
    /// End all sessions and revoke all API keys.
    #[arg(long, env = "TEAMCHAT_END_ALL", value_parser = BoolishValueParser::new())]
    end_all: bool,
}

impl RenameCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let Account { file, email, output } = self.account;
        let full_name = self.full_name;
        let command = Command::RenameUser { email: email.clone(), full_name: full_name.clone() };
        let _done: Value = run_command(&file.db, command)?;
        let value = json!({ "email": email, "full_name": full_name });
        output.print(&file.db, &value, |out, _| writeln!(out, "{email} is now called {full_name}."))
    }
}

impl EmailCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let Account { file, email, output } = self.account;
        let new_email = self.new_email;
        let command = Command::SetEmail { email: email.clone(), new_email: new_email.clone() };
        let _done: Value = run_command(&file.db, command)?;
        let value = json!({ "email": new_email, "previous_email": email });
        output.print(&file.db, &value, |out, _| writeln!(out, "{email} now logs in as {new_email}."))
    }
}

impl DeleteCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let Account { file, email, output } = self.account;
        if !self.yes {
            let refusal = format!("nothing was deleted; --yes deletes the account {email}");
            let question = format!(
                "Delete the account {email}? Its messages, files and channels stay. This cannot be undone."
            );
            confirm(&question, &refusal, "nothing was deleted")?;
        }
        let done: Value = run_command(&file.db, Command::DeleteUser { email: email.clone() })?;
        let kept: BTreeMap<String, u64> = serde_json::from_value(done["kept"].clone())?;
        let name = done["full_name"].as_str().unwrap_or_default();
        output.print(&file.db, &done, |out, _| {
            writeln!(
                out,
                "The account {email} was deleted. Its content stays, under the name \"{name}\": {}.",
                listed(&kept)
            )
        })
    }
}

impl SessionsCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        if self.end_all {
            return self.account.end_all_sessions();
        }
        let Account { file, email, output } = self.account;
        let sessions: Vec<SessionRecord> =
            run_command(&file.db, Command::ListSessions { email: email.clone() })?;
        let keys: Vec<KeyRecord> = run_command(&file.db, Command::ListKeys { email })?;
        let value = json!({ "sessions": sessions, "api_keys": keys });
        output.print(&file.db, &value, |out, style| {
            list_sessions(out, style, &sessions)?;
            list_keys(out, style, &keys)
        })
    }
}

impl Account {
    pub(super) fn end_all_sessions(self) -> Result<(), Failure> {
        let Self { file, email, output } = self;
        let _done: Value = run_command(&file.db, Command::EndSessions { email: email.clone() })?;
        let value = json!({ "email": email, "ended_all": true });
        output.print(&file.db, &value, |out, _| writeln!(out, "{email} must log in again everywhere."))
    }

    pub(super) fn unlock(self) -> Result<(), Failure> {
        let Self { file, email, output } = self;
        let done: Value = run_command(&file.db, Command::UnlockUser { email: email.clone() })?;
        output.print(&file.db, &done, |out, _| writeln!(out, "{email} can log in."))
    }

    pub(super) fn set_active(self, is_active: bool) -> Result<(), Failure> {
        let Self { file, email, output } = self;
        let done: Value = run_command(&file.db, Command::SetActive { email: email.clone(), is_active })?;
        let is_changed = done["changed"] == true;
        let words = match (is_active, is_changed) {
            (true, true) => "can log in again",
            (true, false) => "was already active",
            (false, true) => "is deactivated",
            (false, false) => "was already deactivated",
        };
        let value = json!({ "email": email, "is_active": is_active, "changed": is_changed });
        output.print(&file.db, &value, |out, _| writeln!(out, "{email} {words}."))
    }
}

impl PasswordCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let Account { file, email, output } = self.account;
        let password = if self.password_stdin { read_password()? } else { random_password() };
        let command = Command::SetPassword { email: email.clone(), password: password.clone() };
        let _done: Value = run_command(&file.db, command)?;
        let mut value = json!({ "email": email });
        if !self.password_stdin {
            value["password"] = password.as_str().into();
        }
        output.print(&file.db, &value, |out, style| {
            if !self.password_stdin {
                writeln!(out, "New password of {email}: {}", style.bold(&password))?;
            }
            writeln!(
                out,
                "{}",
                style.dim("All API keys of the account were revoked; clients must log in again.")
            )
        })
    }
}

/// Reads a password from the first line of standard input.
pub(super) fn read_password() -> std::io::Result<String> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// A password of four groups of four characters: 80 bits, easy to type on a phone.
pub(super) fn random_password() -> String {
    const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut random = rand::rng();
    let groups: Vec<String> = (0..4)
        .map(|_| (0..4).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect())
        .collect();
    groups.join("-")
}
