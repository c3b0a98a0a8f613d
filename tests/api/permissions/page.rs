//! The page: Markdown tables, and the errors by letter.

use super::Tried;
use super::actions::Scope;
use super::organization::{Case, ChannelKind, Who};
use crate::harness::Answer;
use std::fmt::Write;

/// What a try answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Status 200, and nobody was left out.
    Allowed,
    /// Status, code and text, ids and names taken out.
    Refused(u16, String, String),
}

impl Outcome {
    /// Reads an answer.
    pub fn of(answer: &Answer, case: &Case<'_>) -> Self {
        assert!(answer.status < 500, "{answer}");
        if answer.status == 200 {
            return Self::Allowed;
        }
        let text = answer["msg"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let text = text
            .replace(&case.channel().to_string(), "{id}")
            .replace(case.channel_name(), "{name}")
            .replace(&case.others_message().to_string(), "{id}");
        Self::Refused(answer.status, answer["code"].as_str().unwrap_or_default().to_owned(), text)
    }
}

const HEAD: &str = "# Who may do what

Every operation that changes something, tried by everybody in an organization with the settings of a new one: `yes`, or
the error, by its number in the list at the end. This page is a test (`tests/api/permissions`): it is written by trying,
and the test fails when the server does something else than it says.

Somebody is a *new member* for the waiting period, here three days. The *bot* belongs to a full member. The *outsider*
has no account. Who is *in* a channel is subscribed to it; the others never were. All channels belong to another owner.
";

/// Writes the page.
pub fn write(tried: &[Tried]) -> String {
    let mut errors = Vec::new();
    let mut page = HEAD.to_owned();
    for (scope, title) in [(Scope::Organization, "In the organization"), (Scope::Channel, "In channels")] {
        let _ = write!(page, "\n## {title}\n");
        let of_scope: Vec<&Tried> = tried.iter().filter(|tried| tried.action.scope == scope).collect();
        match scope {
            Scope::Organization => {
                page.push_str(&head("operation"));
                for tried in of_scope {
                    page.push_str(&row(tried.action.name, &tried.outcomes, &mut errors));
                }
            }
            Scope::Channel => {
                for tried in of_scope {
                    let _ = write!(page, "\n### {}\n", tried.action.name);
                    page.push_str(&head("channel"));
                    for (titles, outcomes) in rows_of_channels(&tried.outcomes) {
                        page.push_str(&row(&titles, &outcomes, &mut errors));
                    }
                }
            }
        }
    }
    page.push_str("\n## Errors\n\n| | status | code | `msg` |\n|---|---|---|---|\n");
    for (index, (status, code, text)) in errors.iter().enumerate() {
        let _ = writeln!(page, "| {} | {status} | {code} | {} |", index + 1, text.replace('|', "\\|"));
    }
    page
}

fn head(first: &str) -> String {
    let titles: Vec<&str> = Who::ALL.iter().map(|who| who.title()).collect();
    format!("\n| {first} | {} |\n|---|{}\n", titles.join(" | "), "---|".repeat(titles.len()))
}

fn row(title: &str, outcomes: &[Outcome], errors: &mut Vec<(u16, String, String)>) -> String {
    let cells: Vec<String> = outcomes
        .iter()
        .map(|outcome| match outcome {
            Outcome::Allowed => "yes".to_owned(),
            Outcome::Refused(status, code, text) => {
                let error = (*status, code.clone(), text.clone());
                let index = errors.iter().position(|known| *known == error).unwrap_or_else(|| {
                    errors.push(error);
                    errors.len() - 1
                });
                (index + 1).to_string()
            }
        })
        .collect();
    format!("| {title} | {} |\n", cells.join(" | "))
}

/// The rows of kinds of channels; those with the same outcomes become one.
fn rows_of_channels(outcomes: &[Outcome]) -> Vec<(String, Vec<Outcome>)> {
    let mut rows: Vec<(Vec<String>, Vec<Outcome>)> = Vec::new();
    let titles = ChannelKind::ALL.into_iter().flat_map(|kind| {
        [true, false].map(|there| format!("{}, {}", kind.title(), if there { "in" } else { "not in" }))
    });
    for (title, outcomes) in titles.zip(outcomes.chunks(Who::ALL.len())) {
        match rows.iter_mut().find(|(_, known)| known == outcomes) {
            Some((titles, _)) => titles.push(title),
            None => rows.push((vec![title], outcomes.to_vec())),
        }
    }
    let all = 2 * ChannelKind::ALL.len();
    let name = |titles: Vec<String>| if titles.len() == all { "any".to_owned() } else { titles.join("; ") };
    rows.into_iter().map(|(titles, outcomes)| (name(titles), outcomes)).collect()
}
