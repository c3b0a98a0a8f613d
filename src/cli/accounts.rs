//! `teamchat user password`, `role`, `deactivate` and `reactivate`, and passwords that are read or made.

use super::common::{Failure, File, Output, role, run_command};
use clap::Args;
use clap::builder::BoolishValueParser;
use rand::RngExt;
use serde_json::Value;
use std::io::BufRead;
use teamchat::api::control::Command;
use teamchat::types::Role;

#[derive(Args)]
pub(super) struct Account {
    #[command(flatten)]
    file: File,
    /// The email address of the user.
    #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
    email: String,
    #[command(flatten)]
    output: Output,
}

#[derive(Args)]
pub(super) struct PasswordCommand {
    #[command(flatten)]
    account: Account,
    /// Read the password from the first line of standard input.
    #[arg(long, env = "TEAMCHAT_PASSWORD_STDIN", value_parser = BoolishValueParser::new())]
    password_stdin: bool,
}

#[derive(Args)]
pub(super) struct RoleCommand {
    #[command(flatten)]
    account: Account,
    /// The new role. A bot is a member or a guest.
    #[arg(long, env = "TEAMCHAT_ROLE", value_parser = role())]
    role: Role,
}

impl RoleCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let Account { file, email, output } = self.account;
        let command = Command::SetRole { email: email.clone(), role: self.role };
        let done: Value = run_command(&file.db, command, false)?;
        output.print(&file.db, &done, |out, _| writeln!(out, "{email} is now {}.", self.role.name()))
    }
}

impl Account {
    pub(super) fn set_active(self, is_active: bool) -> Result<(), Failure> {
        let Self { file, email, output } = self;
        let done: Value =
            run_command(&file.db, Command::SetActive { email: email.clone(), is_active }, false)?;
        let words = if is_active { "can log in again" } else { "is deactivated" };
        output.print(&file.db, &done, |out, _| writeln!(out, "{email} {words}."))
    }
}

impl PasswordCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let Account { file, email, output } = self.account;
        let password = if self.password_stdin { read_password()? } else { random_password() };
        let command = Command::SetPassword { email: email.clone(), password: password.clone() };
        let _done: Value = run_command(&file.db, command, false)?;
        let mut value = serde_json::json!({ "email": email });
        if !self.password_stdin {
            value["password"] = password.as_str().into();
        }
        output.print(&file.db, &value, |out, style| {
            if !self.password_stdin {
                writeln!(out, "New password of {email}: {}", style.bold(&password))?;
            }
            writeln!(out, "{}", style.dim("All API keys of the account have ended; clients log in again."))
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
