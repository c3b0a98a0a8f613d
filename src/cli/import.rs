//! `teamchat import`.

use super::accounts::write_links;
use super::common::{Failure, Output, print};
use clap::Args;
use clap::builder::{BoolishValueParser, PossibleValuesParser, TypedValueParser};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use teamchat::app::Options;
use teamchat::commands;
use teamchat::commands::{Command, Work};
use teamchat::moving::import;
use teamchat::moving::import::report::Report;
use teamchat::moving::import::slack::Extras;
use teamchat::moving::import::{Format, Place, Source};
use teamchat::server::{Engine, runtime};
use teamchat::types::Clock;

#[derive(Args)]
pub(super) struct Import {
    /// The format of the archive.
    #[arg(value_parser = format())]
    format: Format,
    /// The archive (.tar.gz, .tar or .zip), the folder with its files, or its file of lines.
    path: PathBuf,
    /// The database to create. It must not exist.
    #[arg(long, env = "TEAMCHAT_DB", value_name = "NEW")]
    db: PathBuf,
    /// Import, print the report, and discard the result.
    #[arg(long, env = "TEAMCHAT_DRY_RUN", value_parser = BoolishValueParser::new())]
    dry_run: bool,
    /// The address of the old server. Links to it in messages are rewritten. Can be repeated.
    #[arg(long, env = "TEAMCHAT_OLD_URL", value_name = "URL")]
    old_url: Vec<String>,
    /// The address of the new server, for rewritten links and for the links of --password-links. Without it, these links are
    /// relative.
    #[arg(long, env = "TEAMCHAT_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
    /// For archives of Slack: a file with email addresses. Each line has the id or login name of a person, a comma, and the
    /// email address.
    #[arg(long, env = "TEAMCHAT_EMAILS", value_name = "FILE")]
    emails: Option<PathBuf>,
    /// For archives of Slack: a file with a token for Slack's API, to fetch files, emoji, names, images and email addresses.
    #[arg(long, env = "TEAMCHAT_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The address of Slack's API, if it is not https://slack.com/api.
    #[arg(long, env = "TEAMCHAT_SLACK_API", value_name = "URL", requires = "token_file")]
    slack_api: Option<String>,
    /// Print a link for each person without a password. The person opens it to set a password. A link works once, for a day.
    #[arg(long, env = "TEAMCHAT_PASSWORD_LINKS", value_parser = BoolishValueParser::new())]
    password_links: bool,
    #[command(flatten)]
    output: Output,
}

fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(|(name, _)| name)).try_map(|text| {
        let found = Format::ALL.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, format)| format).ok_or("there is no such format")
    })
}

impl Import {
    pub(super) fn run(self) -> Result<(), Failure> {
        let source = Source {
            format: self.format,
            path: self.path,
            old_addresses: self.old_url,
            public_url: self.public_url,
            slack: Extras { emails: self.emails, token_file: self.token_file, api: self.slack_api },
            password_links: self.password_links,
        };
        let place = Place::prepare(&self.db)?;
        let runtime = runtime()?;
        let database = place.database();
        let engine = runtime.block_on(Engine::open(&database, Clock::System, Options::default()))?;
        let (app, handle) = (Arc::clone(&engine.app), runtime.handle().clone());
        let imported = import::run(app, handle, &source, &place, !self.output.json);
        let format = Format::ALL.iter().find(|(_, format)| *format == source.format);
        let work = Work::Import { format: format.map_or("", |(name, _)| name).to_owned() };
        let recorded = runtime.block_on(commands::run(&engine.app, Command::Record(work)));
        engine.close();
        let mut report = imported?;
        recorded?;
        report.dry_run = self.dry_run;
        if !self.dry_run {
            place.finish()?;
        }
        let address = source.public_url.as_deref().unwrap_or_default().trim_end_matches('/');
        if self.dry_run && !self.output.json {
            // There is no database whose path could end the text.
            return print(|out| write_report(out, &report, address));
        }
        self.output.print(&self.db, &report, |out, _| write_report(out, &report, address))
    }
}

/// Writes a report. `address` is that of the server, for links; they have only their path if it is empty.
fn write_report(out: &mut dyn Write, report: &Report, address: &str) -> std::io::Result<()> {
    let verb = if report.dry_run { "Would import" } else { "Imported" };
    writeln!(out, "{verb} in {} s:", report.seconds)?;
    for (count, what) in [
        (report.users, "users"),
        (report.channels, "channels"),
        (report.messages, "messages"),
        (report.attachments, "files"),
    ] {
        writeln!(out, "{count:>10}  {what}")?;
    }
    for (what, count) in &report.others {
        writeln!(out, "{count:>10}  {what}")?;
    }
    if !report.administrators.is_empty() {
        writeln!(out, "Owners and administrators of the archive:")?;
    }
    for user in &report.administrators {
        writeln!(out, "{:>15}  {} <{}>", user.role, user.full_name, user.email)?;
    }
    if !report.left_out.is_empty() {
        writeln!(out, "Left out:")?;
    }
    for left in &report.left_out {
        writeln!(out, "{:>10}  {}: {}", left.count, left.what, left.why)?;
    }
    let differences = &report.rendered_differently;
    if differences.count > 0 {
        let of = differences.compared;
        writeln!(out, "{} of {of} messages look different after the import, such as:", differences.count)?;
        let ids: Vec<String> = differences.examples.iter().map(ToString::to_string).collect();
        writeln!(out, "            {}", ids.join(", "))?;
    }
    write_links(out, address, &report.password_links)
}
