//! Checks of a database file: those of SQLite, and the rules that its rows keep beyond the schema.
//!
//! Each check is a statement or a function that finds what breaks a rule. What can be derived from other rows can be
//! repaired: the search index, counts, and contents that no file refers to.

mod blobs;
mod check;
mod checks;
mod repairs;

use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::integrity::check::MAX_FINDINGS;
use crate::error::ApiResult;
use crate::store::Tx;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// Something that is wrong with a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The name of the check.
    pub check: String,
    /// The problem.
    pub what: String,
    /// True if `--repair` can derive what is right.
    pub repairable: bool,
}

/// Lists the names of all checks, in the order in which they run.
pub fn names() -> Vec<&'static str> {
    checks::ALL.iter().map(|check| check.name).collect()
}

/// Runs all checks on a snapshot. `on_check` gets each before it runs: its name, its number, and the number of all.
pub fn examine(connection: &Connection, on_check: &mut dyn FnMut(&str, u64, u64)) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, check) in checks::ALL.iter().enumerate() {
        on_check(check.name, number as u64, checks::ALL.len() as u64);
        let mut found = check.findings(connection).unwrap_or_else(|error| vec![error.to_string()]);
        if found.len() > MAX_FINDINGS {
            found.truncate(MAX_FINDINGS);
            found.push("and more".to_owned());
        }
        problems.extend(found.into_iter().map(|what| Problem {
            check: check.name.to_owned(),
            what,
            repairable: check.repair.is_some(),
        }));
    }
    problems
}

/// Runs the repairs of the checks with these names.
pub fn repair(tx: &Tx<'_>, names: &[String]) -> ApiResult<()> {
    for check in checks::ALL.iter().filter(|check| names.iter().any(|name| name == check.name)) {
        if let Some(repair) = check.repair {
            repair(tx, tx.now())?;
        }
    }
    tx.audit(Entry::new(Action::DatabaseRepaired, Subject::DATABASE).after(names.to_vec()))
}
