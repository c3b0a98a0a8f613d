//! The page: Markdown tables of the rules, and the errors by number.

use super::actions::{self, Action, Scope};
use super::people::{ChannelKind, Relation, Situation, Who};
use super::rules::{Refusal, judge};
use std::fmt::Write;

const HEAD: &str = "\
# Permissions

The required permissions of every operation that changes data, for an organization with default settings: `yes`, or the
number of the error in the list at the end. Each rule lists its conditions in the order of evaluation, with the error of
each. The rules are defined in `tests/api/permissions`, which generates this page and tries every operation with every
kind of user, and with several values of the group settings of a rule.

A *new member* is within the waiting period, here three days. The *creator* is a full member who created the object and
administers the channels. The *bot* and the *webhook bot*, which only sends, belong to a full member. The *outsider* has
no account. A user who is *in* a channel is subscribed to it; one who *left* was subscribed when it was created; the others
never were. Web-public channels are enabled.

Below `/json`, `POST /register` treats the outsider and bots as visitors, because they have no session there: see
*Without an account*.
";

/// Operations for visitors. Tests: `tests/api/visitors`, whose `routes.rs` compares the operations with those of the server.
const WITHOUT_ACCOUNT: &str = "
## Without an account

A *visitor* requests a file, an image or a path below `/json` without credentials. Paths below `/api` require a key, and a
wrong key is refused everywhere. Visitors read the whole history of web-public channels that are not archived, while
`enable_spectator_access` is on and the organization is not deactivated. All other operations refuse them.

| operation | a visitor gets | what is hidden or missing |
|---|---|---|
| `GET /messages` | messages; the narrow has `channels:web-public`, and only terms that are the same for all | unknown channel; 401 for other narrows |
| `GET /messages/{message_id}` | the message | 401 |
| `GET /users/me/{stream_id}/topics` | the topics | `Invalid channel ID` |
| `GET /users` | all users, or those whom a guest without channels can access; no emails, time zones or custom fields, and the day of joining | 401 while nothing is web-public |
| `POST /register` | the state, without a queue | 401 while nothing is web-public |
| `GET /user_uploads/...`, thumbnails | files that a readable message links to, each a thousand times a day | 401 |
| `GET /avatar/{user_id}` | the image, each a thousand times a day | 401 for emails, and while nothing is web-public |
| `GET /public/...` | pages of channels and topics, the same for all who ask | 404 |
";

/// The outcome of a rule, as a cell of the page.
type Outcome = Result<(), Refusal>;

/// The situations of an action, row by row.
pub fn situations(scope: Scope) -> Vec<Situation> {
    let rows: Vec<(ChannelKind, Relation)> = match scope {
        Scope::Organization => vec![(ChannelKind::Public, Relation::In)],
        Scope::Channel => ChannelKind::ALL
            .into_iter()
            .flat_map(|kind| Relation::ALL.map(|relation| (kind, relation)))
            .collect(),
    };
    let row = |(kind, relation)| Who::ALL.map(|who| Situation { who, relation, kind, change: None });
    rows.into_iter().flat_map(row).collect()
}

/// Writes the page.
pub fn write() -> String {
    let mut errors = Errors(Vec::new());
    let mut page = HEAD.to_owned();
    page.push_str("\n## In the organization\n");
    page.push_str(&head("operation", "requirement"));
    for action in actions::all().filter(|action| action.scope == Scope::Organization) {
        let cells = errors.cells(&outcomes(action));
        let _ = writeln!(page, "| {} | {} | {cells} |", action.name, errors.rule(action));
    }
    page.push_str("\n## In channels\n");
    for action in actions::all().filter(|action| action.scope == Scope::Channel) {
        let _ = write!(page, "\n### {}\n\nRequirement: {}.\n", action.name, errors.rule(action));
        page.push_str(&head("channel", "caller"));
        for (kinds, relations, outcomes) in rows_of_channels(&outcomes(action)) {
            let _ = writeln!(page, "| {kinds} | {relations} | {} |", errors.cells(&outcomes));
        }
    }
    page.push_str(WITHOUT_ACCOUNT);
    page.push_str("\n## Errors\n\n| | status | code | `msg` |\n|---|---|---|---|\n");
    for (index, Refusal { status, code, msg }) in errors.0.iter().enumerate() {
        let _ = writeln!(page, "| {} | {status} | {code} | {} |", index + 1, msg.replace('|', "\\|"));
    }
    page
}

fn outcomes(action: &Action) -> Vec<Outcome> {
    let judge = |situation| judge(action.rule, action.is_for_webhooks, &situation);
    situations(action.scope).into_iter().map(judge).collect()
}

fn head(first: &str, second: &str) -> String {
    let titles: Vec<&str> = Who::ALL.iter().map(|who| who.title()).collect();
    format!("\n| {first} | {second} | {} |\n|---|---|{}\n", titles.join(" | "), "---|".repeat(titles.len()))
}

/// The errors, in the order in which they are first mentioned.
struct Errors(Vec<Refusal>);

impl Errors {
    fn number(&mut self, refusal: Refusal) -> usize {
        let known = self.0.iter().position(|known| *known == refusal);
        known.unwrap_or_else(|| {
            self.0.push(refusal);
            self.0.len() - 1
        }) + 1
    }

    fn cells(&mut self, outcomes: &[Outcome]) -> String {
        let cell = |outcome: &Outcome| match outcome {
            Ok(()) => "yes".to_owned(),
            Err(refusal) => self.number(*refusal).to_string(),
        };
        outcomes.iter().map(cell).collect::<Vec<_>>().join(" | ")
    }

    /// The rule in words.
    fn rule(&mut self, action: &Action) -> String {
        if action.rule.is_empty() {
            return "has an account".to_owned();
        }
        let step = |(condition, refusal): &(super::rules::Condition, Refusal)| {
            format!("{} ({})", condition.words(), self.number(*refusal))
        };
        action.rule.iter().map(step).collect::<Vec<_>>().join(", ")
    }
}

/// The rows of kinds of channels and relations to them; those with the same outcomes become one.
fn rows_of_channels(outcomes: &[Outcome]) -> Vec<(String, String, Vec<Outcome>)> {
    let of_kind: Vec<&[Outcome]> = outcomes.chunks(Relation::ALL.len() * Who::ALL.len()).collect();
    let mut seen: Vec<&[Outcome]> = Vec::new();
    let mut rows = Vec::new();
    for outcomes in &of_kind {
        if seen.contains(outcomes) {
            continue;
        }
        seen.push(outcomes);
        let kinds: Vec<&str> = ChannelKind::ALL
            .iter()
            .zip(&of_kind)
            .filter(|(_, other)| *other == outcomes)
            .map(|(kind, _)| kind.title())
            .collect();
        let all = kinds.len() == ChannelKind::ALL.len();
        let kinds = if all { "any".to_owned() } else { kinds.join("; ") };
        for (relations, outcomes) in rows_of_relations(outcomes) {
            rows.push((kinds.clone(), relations, outcomes));
        }
    }
    rows
}

fn rows_of_relations(outcomes: &[Outcome]) -> Vec<(String, Vec<Outcome>)> {
    let mut rows: Vec<(Vec<&str>, Vec<Outcome>)> = Vec::new();
    for (relation, outcomes) in Relation::ALL.into_iter().zip(outcomes.chunks(Who::ALL.len())) {
        match rows.iter_mut().find(|(_, known)| known == outcomes) {
            Some((titles, _)) => titles.push(relation.title()),
            None => rows.push((vec![relation.title()], outcomes.to_vec())),
        }
    }
    let all = Relation::ALL.len();
    let name = |titles: Vec<&str>| if titles.len() == all { "any".to_owned() } else { titles.join(", ") };
    rows.into_iter().map(|(titles, outcomes)| (name(titles), outcomes)).collect()
}
