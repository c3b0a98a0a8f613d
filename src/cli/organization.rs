//! `teamchat organization`.

use super::common::{Failure, File, Output, confirm, run_command};
use clap::Subcommand;
use clap::builder::BoolishValueParser;
use serde_json::{Map, Value};
use teamchat::commands::Command;
use teamchat::types::nearest_name;

#[derive(Subcommand)]
pub(super) enum OrganizationCommand {
    /// Print the settings and permissions of the organization, or one of them.
    ///
    /// Names and values are those of the REST API.
    Get {
        #[command(flatten)]
        file: File,
        /// The name of a setting or permission. All by default.
        name: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Change a setting or a permission, with the permissions of an owner.
    ///
    /// The value of a permission is the name of a group, such as role:administrators, or the id of a group.
    Set {
        #[command(flatten)]
        file: File,
        /// The name of the setting or permission, as `organization get` prints it.
        name: String,
        /// The value: text, a number, true, false, or unlimited.
        #[arg(allow_negative_numbers = true)]
        value: String,
        #[command(flatten)]
        output: Output,
    },
    /// Deactivate the organization: logins and requests are refused. Nothing is deleted.
    Deactivate {
        #[command(flatten)]
        file: File,
        /// Do not ask for confirmation.
        #[arg(long, env = "TEAMCHAT_YES", value_parser = BoolishValueParser::new())]
        yes: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Let people log in again after `deactivate`. Accounts, keys and messages are unchanged.
    Reactivate {
        #[command(flatten)]
        file: File,
        #[command(flatten)]
        output: Output,
    },
}

impl OrganizationCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Get { file, name, output } => {
                let mut all: Map<String, Value> = run_command(&file.db, Command::GetRealm)?;
                if let Some(name) = name {
                    let value = all.remove(&name).ok_or_else(|| unknown(&name, &all))?;
                    all = Map::from_iter([(name, value)]);
                }
                output.print(&file.db, &all, |out, _| {
                    all.iter().try_for_each(|(name, value)| writeln!(out, "{name} = {value}"))
                })
            }
            Self::Set { file, name, value, output } => {
                let command = Command::SetRealm { name: name.clone(), value: value.clone() };
                let done: Value = run_command(&file.db, command)?;
                let words = if done["changed"] == true { "is now" } else { "was already" };
                output.print(&file.db, &done, |out, _| writeln!(out, "{name} {words} {value}."))
            }
            Self::Deactivate { file, yes, output } => {
                if !yes {
                    let refusal = "nothing was changed; --yes deactivates the organization";
                    confirm("Deactivate the organization?", refusal, "nothing was changed")?;
                }
                let done: Value = run_command(&file.db, Command::DeactivateRealm)?;
                let words = if done["was_deactivated"] == true { "was already" } else { "is" };
                output.print(&file.db, &done, |out, _| {
                    writeln!(
                        out,
                        "The organization {words} deactivated. `teamchat organization reactivate` reverts it."
                    )
                })
            }
            Self::Reactivate { file, output } => {
                let done: Value = run_command(&file.db, Command::ReactivateRealm)?;
                let words = match done["was_deactivated"].as_bool() {
                    Some(false) => "The organization was not deactivated: users can log in.",
                    _ => "Users can log in again.",
                };
                output.print(&file.db, &done, |out, _| writeln!(out, "{words}"))
            }
        }
    }
}

/// The error for a name that no setting has.
fn unknown(name: &str, all: &Map<String, Value>) -> String {
    let nearest = nearest_name(name, all.keys().map(String::as_str));
    let tip = nearest.map(|nearest| format!("; did you mean '{nearest}'?")).unwrap_or_default();
    format!("there is no setting '{name}'{tip}")
}
