//! `user purge`: removes what a person has made, with all their bots.

use crate::app::App;
use crate::domain::emoji::sql as emoji;
use crate::domain::limits::Accounts;
use crate::domain::purge::Kind;
use crate::http::ApiResult;
use crate::types::UserId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How many jobs one command runs: the next command waits for it, and a server that stops.
const JOBS: usize = 50;

/// A command that counts what a person has made, or removes a part of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Purge {
    /// The person's real email, or a bot's.
    pub email: String,
    /// What to count and to remove.
    pub kinds: Vec<Kind>,
    /// Whether the new accounts that the person invited are included.
    pub invited: bool,
    /// Where to go on removing; `None` only counts.
    pub place: Option<Place>,
}

/// How far a removal is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Place {
    /// What is removed.
    pub kind: Kind,
    /// The last one that was looked at.
    pub from: i64,
}

/// The response to [`Purge`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Purged {
    /// How many accounts are concerned.
    pub accounts: usize,
    /// How many things there are, or what this command did.
    pub counts: BTreeMap<String, u64>,
    /// Where to go on; `None` if all is done.
    pub next: Option<Place>,
}

impl Purge {
    /// Runs the command, on the account that its email names.
    pub(super) async fn run(self, app: &App, user_id: UserId) -> ApiResult<Purged> {
        let now = app.clock.seconds();
        let (kinds, invited) = (self.kinds, self.invited);
        let read = app.read_in(&app.pools.slow_reads, None, move |snapshot| {
            let accounts = Accounts::of_person(snapshot, user_id, now, invited)?;
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
            let batch = app.writer.run(move |tx| kind.remove(tx, &of, from, &shown)).await?;
            app.hub.remove_of(&batch.deactivated);
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
