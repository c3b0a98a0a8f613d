//! `teamchat check` and `teamchat compact`.

use super::backup::size;
use super::common::{Failure, File, Output, escaped, print, record, report_upgrade, run_command};
use super::progress::{Meter, while_shown};
use clap::Args;
use clap::builder::BoolishValueParser;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use teamchat::commands::{Command, Work};
use teamchat::domain::integrity::{Problem, examine};
use teamchat::domain::space::Space;
use teamchat::store::Database;

/// The exit code of a database with problems, and of one that cannot be used at all.
const PROBLEMS: u8 = 1;
const UNUSABLE: u8 = 2;

/// The name of the problem of a file that cannot be opened.
const FILE: &str = "file";

#[derive(Args)]
pub(super) struct CheckCommand {
    #[command(flatten)]
    file: File,
    /// Rebuild derived data: the search index, the total size of files, and the links of files. Also delete contents that
    /// belong to no file. The server must be stopped.
    #[arg(long, env = "TEAMCHAT_REPAIR", value_parser = BoolishValueParser::new())]
    repair: bool,
    #[command(flatten)]
    output: Output,
}

#[derive(Args)]
pub(super) struct CompactCommand {
    #[command(flatten)]
    file: File,
    #[command(flatten)]
    output: Output,
}

impl CheckCommand {
    /// Prints what is wrong, a line each.
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let db = &self.file.db;
        let before = match self.examine() {
            Ok(problems) => problems,
            Err(error) => {
                if self.output.json {
                    let problem =
                        Problem { check: FILE.to_owned(), what: error.to_string(), repairable: false };
                    self.print_json(&[problem], &[])?;
                }
                writeln!(std::io::stderr(), "error: {}", escaped(&error))?;
                return Ok(UNUSABLE.into());
            }
        };
        let names: Vec<String> =
            before.iter().filter(|problem| problem.repairable).map(|problem| problem.check.clone()).collect();
        let mut left = before.clone();
        if self.repair && !names.is_empty() {
            if Database::announced(db).is_some() {
                return Err("the server is running; stop it before you repair the file".into());
            }
            let _done: Value = run_command(db, Command::Repair(names))?;
            left = self.examine()?;
        }
        let repaired: Vec<&Problem> = before.iter().filter(|problem| !left.contains(problem)).collect();
        if self.output.json {
            self.print_json(&left, &repaired)?;
        } else {
            print(|out| {
                for problem in &repaired {
                    writeln!(out, "repaired: {}: {}", problem.check, problem.what)?;
                }
                for problem in &left {
                    writeln!(out, "{}: {}", problem.check, problem.what)?;
                }
                if left.is_empty() { writeln!(out, "{} is sound.", db.display()) } else { Ok(()) }
            })?;
            let mut error = std::io::stderr();
            if !self.repair && left.iter().any(|problem| problem.repairable) {
                writeln!(
                    error,
                    "`teamchat check --repair` repairs some of these problems; make a backup first."
                )?;
            }
            if left.iter().any(|problem| !problem.repairable) {
                writeln!(error, "`teamchat restore` replaces a damaged database with a backup.")?;
            }
        }
        Ok(if left.is_empty() { ExitCode::SUCCESS } else { PROBLEMS.into() })
    }

    fn print_json(&self, problems: &[Problem], repaired: &[&Problem]) -> Result<(), Failure> {
        let value = json!({ "sound": problems.is_empty(), "problems": problems, "repaired": repaired });
        self.output.print(&self.file.db, &value, |_, _| Ok(()))
    }

    fn examine(&self) -> Result<Vec<Problem>, Failure> {
        Database::check_exists(&self.file.db)?;
        let connection = Database::connect_reader(&self.file.db)?;
        let mut meter = Meter::default();
        let problems = Database::in_snapshot(&connection, |connection| {
            examine(connection, &mut |name, done, total| meter.show(name, done, total))
        });
        meter.clear();
        Ok(problems?)
    }
}

impl CompactCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let db = &self.file.db;
        let (before, after) = if Database::announced(db).is_some() { release(db)? } else { rewrite(db)? };
        let value = json!({ "bytes_before": before, "bytes_after": after });
        self.output.print(db, &value, |out, _| {
            writeln!(out, "The file now has {}; before, it had {}.", size(after), size(before))
        })
    }
}

/// Has the running server give free space back. Returns the size of the file before and after, in bytes.
fn release(db: &Path) -> Result<(u64, u64), Failure> {
    let reader = Database::connect_reader(db).ok();
    let free = || {
        let space = reader.as_ref().and_then(|reader| Space::of(reader).ok());
        space.map_or(0, |space| space.free.cast_unsigned())
    };
    let all = free();
    let work = || run_command::<(Space, Space)>(db, Command::Compact);
    let (before, after) = while_shown(work, |meter| {
        meter.show("returning free space", all.saturating_sub(free()), all);
    })??;
    Ok((before.size.cast_unsigned(), after.size.cast_unsigned()))
}

/// Rewrites a file that no server has open. Returns its size before and after, in bytes.
fn rewrite(db: &Path) -> Result<(u64, u64), Failure> {
    Database::check_exists(db)?;
    let space = Database::connect_reader(db).ok().and_then(|reader| Space::of(&reader).ok());
    let used = space.map_or(0, |space| (space.size - space.free).cast_unsigned());
    // SQLite first writes a copy elsewhere, and then puts it into the log of the database.
    let mut log = std::fs::canonicalize(db)?.into_os_string();
    log.push("-wal");
    let saved = || std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
    let (bytes_before, bytes_after, upgraded_from) = while_shown(
        || Database::compact(db),
        |meter| match saved() {
            0 => meter.show("rewriting", 0, 0),
            saved => meter.show("saving", saved.min(used), used),
        },
    )??;
    report_upgrade(db, upgraded_from.as_deref())?;
    record(db, Work::Compact { bytes_before, bytes_after });
    Ok((bytes_before, bytes_after))
}
