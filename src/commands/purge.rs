//! `user purge`: deletes the content that a person and their bots created.

use super::operator::as_operator;
use crate::api::{
    alert_words, bot_storage, drafts, navigation_views, saved_snippets, scheduled_messages, user_status,
};
use crate::app::App;
use crate::domain::audit;
use crate::domain::audit::{Action, Entry};
use crate::domain::limits::Accounts;
use crate::domain::messages::reminders;
use crate::domain::purge::{Batch, Kind};
use crate::domain::{emoji, profile_values, rows};
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::UserId;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of jobs of one command. Other commands and the shutdown wait for it.
const JOBS: usize = 50;

/// Counts the content of a person, or deletes a part of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Purge {
    /// The person's real email, or a bot's.
    pub email: String,
    /// Kinds of content to count and delete.
    pub kinds: Vec<Kind>,
    /// Includes the new accounts that the person invited.
    pub invited: bool,
    /// Position at which to continue; `None` only counts.
    pub place: Option<Place>,
}

/// Progress of a deletion.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Place {
    /// The kind that is being deleted.
    pub kind: Kind,
    /// The last one that was looked at.
    pub from: i64,
}

/// The response to [`Purge`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Purged {
    /// Number of accounts concerned.
    pub accounts: usize,
    /// Counts of the content, or of the deletions of this command.
    pub counts: BTreeMap<String, u64>,
    /// Position at which to continue; `None` at the end.
    pub next: Option<Place>,
}

impl Purge {
    /// Runs the command, on the account that its email names.
    pub(super) async fn run(self, app: &App, user_id: UserId) -> ApiResult<Purged> {
        let now = app.clock.seconds();
        let (kinds, invited) = (self.kinds, self.invited);
        let read = app.read_in(&app.pools.slow_reads, None, move |snapshot| {
            let accounts = Accounts::of_person(snapshot, user_id, now, invited)?;
            // Bots are deactivated by the purge itself.
            if self.place.is_some() && kinds.iter().any(|kind| *kind != Kind::Bots) {
                check_deactivated(snapshot, &self.email, invited, accounts.user_ids())?;
            }
            let mut counts = BTreeMap::new();
            if self.place.is_none() {
                for kind in &kinds {
                    counts.insert(kind.name().to_owned(), kind.count(snapshot, accounts.list())?);
                }
            }
            Ok((accounts.user_ids().to_vec(), kinds, counts))
        });
        let (accounts, kinds, counts) = read.await?;
        let mut purged = Purged { accounts: accounts.len(), counts, next: self.place };
        for _ in 0..JOBS {
            let Some(Place { kind, from }) = purged.next else { break };
            let shown = match kind {
                Kind::Emoji => {
                    app.read_in(&app.pools.slow_reads, None, |snapshot| Ok(emoji::shown(snapshot)?)).await?
                }
                _ => BTreeSet::new(),
            };
            let of = accounts.clone();
            let batch = app
                .writer
                .run(move |tx| {
                    as_operator(tx, |tx| {
                        if from == 0 {
                            tx.audit(Entry::new(Action::AccountPurged, user_id).after(kind.name()))?;
                        }
                        let mut budget = tx.budget("user_purge");
                        let mut removed = Batch { next: Some(from), ..Batch::default() };
                        while let Some(from) = removed.next
                            && budget.next_step()
                        {
                            removed.add(match kind {
                                Kind::Personal => remove_personal(tx, &of, from)?,
                                _ => kind.remove(tx, &of, from, &shown)?,
                            });
                            // Which emoji are shown is read before each batch.
                            if kind == Kind::Emoji {
                                break;
                            }
                        }
                        Ok(removed)
                    })
                })
                .await?;
            for (what, count) in batch.done {
                *purged.counts.entry(what.to_owned()).or_default() += count;
            }
            let next_kind = || kinds.iter().copied().filter(|other| *other > kind).min();
            purged.next = match batch.next {
                Some(from) => Some(Place { kind, from }),
                None => next_kind().map(|kind| Place { kind, from: 0 }),
            };
        }
        Ok(purged)
    }
}

/// Refuses active accounts: they could go on writing, and the purge would leave what they write meanwhile.
fn check_deactivated(
    connection: &Connection,
    email: &str,
    invited: bool,
    accounts: &[UserId],
) -> ApiResult<()> {
    let mut active = Vec::new();
    for user_id in accounts {
        active.extend(rows::user::by_id(connection, *user_id)?.filter(|user| user.is_active));
    }
    // Deactivating a person deactivates their bots.
    let Some(user) = active.iter().min_by_key(|user| user.is_bot()) else { return Ok(()) };
    let active = &user.delivery_email;
    let of = if invited && !user.is_bot() { format!("{email} --invited") } else { active.clone() };
    let msg = format!("{active} is active: run 'teamchat user deactivate --email {of}' before the purge");
    Err(ApiError::bad_request(msg))
}

/// Removes the personal texts of one account; `from` is its position in the list. Limits keep them few.
pub(super) fn remove_personal(tx: &mut Tx<'_>, accounts: &[UserId], from: i64) -> ApiResult<Batch> {
    let mut batch = Batch::default();
    let Some(user_id) = usize::try_from(from).ok().and_then(|index| accounts.get(index)).copied() else {
        return Ok(batch);
    };
    batch.count("drafts", drafts::purge(tx, user_id)?);
    batch.count("saved_snippets", saved_snippets::purge(tx, user_id)?);
    batch.count("scheduled_messages", scheduled_messages::update::purge(tx, user_id)?);
    batch.count("reminders", reminders::delete_all(tx, user_id)?);
    batch.count("alert_words", alert_words::purge(tx, user_id)?);
    batch.count("navigation_views", navigation_views::purge(tx, user_id)?);
    batch.count("statuses", user_status::purge(tx, user_id)?);
    batch.count("profile_values", profile_values::change::delete_all(tx, user_id)?);
    batch.count("bot_storage_entries", bot_storage::delete_all(tx, user_id)?);
    audit::forget_user(tx, user_id)?;
    batch.next = Some(from + 1);
    Ok(batch)
}
