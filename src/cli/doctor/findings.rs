//! The results of the tests, as lines and as JSON.

use crate::cli::common::Style;
use serde::Serialize;
use serde_json::json;
use std::fmt::Display;
use std::io::Write;

/// The results so far.
#[derive(Default)]
pub(super) struct Findings(Vec<Finding>);

/// The result of a test.
#[derive(Serialize)]
struct Finding {
    level: Level,
    /// The name of the test.
    check: &'static str,
    /// The state that was found.
    what: String,
    /// The remedy, unless all is well.
    #[serde(rename = "do", skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Level {
    Ok,
    Warning,
    Problem,
}

impl Findings {
    /// All is well.
    pub(super) fn ok(&mut self, check: &'static str, what: impl Display) {
        self.0.push(Finding { level: Level::Ok, check, what: what.to_string(), remedy: None });
    }

    /// Something to look after.
    pub(super) fn warning(&mut self, check: &'static str, what: impl Display, remedy: impl Display) {
        self.add(Level::Warning, check, &what, &remedy);
    }

    /// Something that does not work, or that loses data.
    pub(super) fn problem(&mut self, check: &'static str, what: impl Display, remedy: impl Display) {
        self.add(Level::Problem, check, &what, &remedy);
    }

    fn add(&mut self, level: Level, check: &'static str, what: &dyn Display, remedy: &dyn Display) {
        let (what, remedy) = (what.to_string(), Some(remedy.to_string()));
        self.0.push(Finding { level, check, what, remedy });
    }

    /// Adds the warnings of the status, which have their remedies in them.
    pub(super) fn add_warnings(&mut self, warnings: &[String]) {
        let warnings = warnings.iter().cloned();
        self.0.extend(warnings.map(|what| Finding {
            level: Level::Warning,
            check: "status",
            what,
            remedy: None,
        }));
    }

    /// True if a test of this name found nothing to do.
    pub(super) fn is_fine(&self, check: &str) -> bool {
        self.0.iter().filter(|finding| finding.check == check).all(|finding| finding.level == Level::Ok)
    }

    /// True if something does not work.
    pub(super) fn has_problem(&self) -> bool {
        self.0.iter().any(|finding| finding.level == Level::Problem)
    }

    /// Writes a line for each, or an object.
    pub(super) fn write(&self, out: &mut dyn Write, is_json: bool) -> std::io::Result<()> {
        if is_json {
            return writeln!(out, "{}", json!({ "sound": !self.has_problem(), "checks": self.0 }));
        }
        let style = Style::stdout();
        for Finding { level, check, what, remedy } in &self.0 {
            let level = match level {
                Level::Ok => style.green("ok     "),
                Level::Warning => style.bold("warning"),
                Level::Problem => style.red("problem"),
            };
            let remedy = remedy.as_ref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
            writeln!(out, "{level}  {check}: {what}{remedy}")?;
        }
        Ok(())
    }
}
