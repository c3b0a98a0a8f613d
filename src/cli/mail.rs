//! `teamchat mail`.

use super::common::{Failure, Style, print, run_command};
use super::mail_deliver::DeliverCommand;
use super::serve::Serve;
use super::test_flags::UsageError;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::process::ExitCode;
use teamchat::commands::{Command, send_now, test_letter};
use teamchat::domain::realm::settings::NAME;
use teamchat::server::runtime;
use teamchat::smtp::is_address;
use teamchat::store::Database;
use teamchat::types::Clock;

#[derive(Subcommand)]
pub enum MailCommand {
    /// Send a test email immediately, and print the answer of the mail server.
    ///
    /// Accepts the flags of serve, or its --config. Without --smtp-url, the running server sends the email with its own settings.
    /// Exit code: 0 if the mail server accepted the email, 1 if it did not, 2 for wrong usage.
    #[command(override_usage = "teamchat mail test ADDRESS [OPTIONS]")]
    Test(Box<TestCommand>),
    /// Deliver an email from standard input to the running server, for aliases of mail servers.
    ///
    /// The server must receive email, with --mail-listen and --mail-pattern. Its rules and limits apply. Mail servers that can
    /// deliver by LMTP or SMTP do not need this command. Exit code: 0 if the server accepted the email, 65 if it refused the
    /// email, 67 if the recipient does not exist, 75 if the mail server must try again later (also if the server is not running),
    /// 2 for wrong usage.
    #[command(override_usage = "teamchat mail deliver --recipient ADDRESS --mail-listen ADDR:PORT < EMAIL")]
    Deliver(DeliverCommand),
}

#[derive(Args)]
pub struct TestCommand {
    /// The email address of the recipient.
    #[arg(value_name = "ADDRESS")]
    address: String,
    #[command(flatten)]
    serve: Serve,
}

impl MailCommand {
    pub fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Self::Test(command) => command.run().map(|()| ExitCode::SUCCESS),
            Self::Deliver(command) => Ok(command.run()),
        }
    }
}

impl TestCommand {
    fn run(self) -> Result<(), Failure> {
        let Self { address, serve } = self;
        if !is_address(&address) {
            return Err(UsageError(format!(
                "'{address}' is not an email address; write it like ada@example.com"
            ))
            .into());
        }
        let (db, options) = (&serve.file.db, serve.mail_options(&[])?);
        Database::check_exists(db)?;
        let answer: Value = match options {
            Some(options) => {
                // A file that would have to be upgraded first stays as it is.
                let name =
                    Database::connect_reader(db).ok().and_then(|connection| NAME.get(&connection).ok());
                let name = name.unwrap_or_else(|| "Team chat".to_owned());
                let letter = test_letter(&options, &address, &name, Clock::System.seconds());
                let server = options.server.to_string();
                match runtime()?.block_on(send_now(&options, &letter)) {
                    Ok(words) => json!({ "sent": true, "server": server, "words": words }),
                    Err(refusal) => json!({ "sent": false, "server": server, "words": refusal.text }),
                }
            }
            None if Database::announced(db).is_some() => {
                run_command(db, Command::TestMail { address: address.clone() })?
            }
            None => {
                let text = "name the mail server with --smtp-url and --mail-from, or with --config";
                return Err(UsageError(text.to_owned()).into());
            }
        };
        let (server, words) = (text(&answer, "server"), text(&answer, "words"));
        if answer["sent"] != true {
            return Err(format!("{server} did not accept the email to {address}: {words}").into());
        }
        if serve.output.json {
            return print(|out| writeln!(out, "{answer}"));
        }
        print(|out| {
            let sent = Style::stdout().green("Sent");
            writeln!(out, "{sent}: {server} accepted the email to {address} ({words})")
        })
    }
}

fn text<'a>(answer: &'a Value, name: &str) -> &'a str {
    answer[name].as_str().unwrap_or_default()
}
