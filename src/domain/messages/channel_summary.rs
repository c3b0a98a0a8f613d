//! Members of channel records that are derived from their messages: `first_message_id` (feature level 256) and
//! `is_recently_active` (feature level 323). Events are emitted when sending, deleting or moving changes them, and when a
//! channel was silent for too long.

use crate::domain::access::channel_viewers::ChannelViewers;
use crate::domain::channels;
use crate::domain::channels::events::{StreamChange, StreamUpdated};
use crate::domain::groups::roles::UserFilter;
use crate::domain::rows::channel::StreamRow;
use crate::error::ApiResult;
use crate::events::Audience;
use crate::store::{ExecuteCached, Tx, counter};
use crate::types::{MessageId, RecipientId, SECONDS_PER_DAY};
use rusqlite::Connection;

/// The derived members of a channel's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The oldest message.
    first_message_id: Option<MessageId>,
    is_recently_active: bool,
}

/// Returns the current members of a channel.
pub fn of(tx: &Tx<'_>, stream: &StreamRow) -> ApiResult<Summary> {
    let newest = channels::newest_timestamp(tx, stream.recipient_id)?;
    Ok(Summary {
        first_message_id: channels::first_message_id(tx, stream.recipient_id)?,
        is_recently_active: channels::rules::is_recently_active(tx.now(), stream.date_created, newest),
    })
}

/// Emits the members that changed to everyone who can see the channel.
pub fn emit_if_changed(tx: &mut Tx<'_>, stream: &StreamRow, before: Summary) -> ApiResult<()> {
    let now = of(tx, stream)?;
    let first = (now.first_message_id != before.first_message_id)
        .then_some(StreamChange::FirstMessageId { value: now.first_message_id });
    let active = (now.is_recently_active != before.is_recently_active)
        .then_some(StreamChange::IsRecentlyActive { value: now.is_recently_active });
    if now.is_recently_active {
        // Its newest message may be gone.
        look_by(tx, active_until(tx, stream)?)?;
    }
    emit(tx, stream, first.into_iter().chain(active).collect())
}

/// Emits the members that a message that was just sent changes: if it is the first of the channel, or the first in a
/// long time. `previous` is the time of the one before it, in UNIX seconds.
pub fn emit_if_first(
    tx: &mut Tx<'_>,
    stream: &StreamRow,
    id: MessageId,
    previous: Option<i64>,
) -> ApiResult<()> {
    let first = previous.is_none().then_some(StreamChange::FirstMessageId { value: Some(id) });
    let was_active = channels::rules::is_recently_active(tx.now(), stream.date_created, previous);
    let active = (!was_active).then_some(StreamChange::IsRecentlyActive { value: true });
    emit(tx, stream, first.into_iter().chain(active).collect())
}

/// The row of `counter` that holds the time up to which silent channels were emitted, in UNIX seconds.
const LOOKED_UNTIL: &str = "recently_active";

/// The row of `counter` that holds the time of the next check of all channels, in UNIX seconds.
const NEXT_LOOK: &str = "recently_active_next";

/// The row of `counter` that holds the earliest end of activity that a change brought since a look began, in UNIX seconds: the
/// snapshot of that look may lack the change.
const CHANGED: &str = "recently_active_changed";

/// The most seconds between checks of all channels.
const LOOK_INTERVAL: i64 = SECONDS_PER_DAY;

/// When to look for silent channels next, in UNIX seconds; `None` if that was never done.
pub fn next_look(connection: &Connection) -> ApiResult<Option<i64>> {
    Ok(counter::load(connection, NEXT_LOOK)?)
}

/// Makes the next look one at this time, if it would be later.
fn look_by(connection: &Connection, time: i64) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE counter SET value = ?3 WHERE name IN (?1, ?2) AND value > ?3",
        (NEXT_LOOK, CHANGED, time),
    )
}

/// The channels that have become silent since the last look, and the time of the next look, in UNIX seconds.
pub fn silent_channels(connection: &Connection, now: i64) -> ApiResult<(Vec<RecipientId>, i64)> {
    let since = counter::load(connection, LOOKED_UNTIL)?;
    let (mut silent, mut next) = (Vec::new(), now + LOOK_INTERVAL);
    for stream in channels::all(connection)? {
        let until = active_until(connection, &stream)?;
        if until > now {
            next = next.min(until);
        } else if since.is_some_and(|since| until > since) {
            silent.push(stream.recipient_id);
        }
    }
    Ok((silent, next))
}

/// Emits a channel that has become silent, if it still is.
pub fn emit_silent(tx: &mut Tx<'_>, recipient_id: RecipientId, now: i64) -> ApiResult<()> {
    match channels::by_recipient(tx, recipient_id)? {
        Some(stream) if active_until(tx, &stream)? <= now => {
            emit(tx, &stream, vec![StreamChange::IsRecentlyActive { value: false }])
        }
        _ => Ok(()),
    }
}

/// The time from which on a channel is silent, unless it gets another message.
fn active_until(connection: &Connection, stream: &StreamRow) -> ApiResult<i64> {
    let newest = channels::newest_timestamp(connection, stream.recipient_id)?;
    Ok(channels::rules::active_until(stream.date_created, newest))
}

/// Records that a look begins, before it reads its snapshot.
pub fn begin_look(tx: &Tx<'_>) -> ApiResult<()> {
    Ok(counter::set(tx, CHANGED, i64::MAX)?)
}

/// Records that all channels were emitted that were silent in the snapshot, and when to look again.
pub fn set_looked(tx: &Tx<'_>, now: i64, next: i64) -> ApiResult<()> {
    counter::set(tx, LOOKED_UNTIL, now)?;
    counter::set(tx, NEXT_LOOK, next)?;
    match counter::load(tx, CHANGED)? {
        Some(time) => Ok(look_by(tx, time)?),
        None => Ok(()),
    }
}

/// The users who can see channels, while [`with_shared_viewers`] runs and once they were needed.
#[derive(Default)]
struct SharedViewers {
    is_on: bool,
    viewers: Option<ChannelViewers>,
}

/// Runs work that sends messages, and changes no roles and groups. The users who can see the channels are loaded at most once: the
/// messages may be the first ones of hundreds of new channels.
pub fn with_shared_viewers<T>(
    tx: &mut Tx<'_>,
    work: impl FnOnce(&mut Tx<'_>) -> ApiResult<T>,
) -> ApiResult<T> {
    tx.cache_mut::<SharedViewers>().1.is_on = true;
    let done = work(tx);
    *tx.cache_mut::<SharedViewers>().1 = SharedViewers::default();
    done
}

fn emit(tx: &mut Tx<'_>, stream: &StreamRow, changes: Vec<StreamChange>) -> ApiResult<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let shared = std::mem::take(tx.cache_mut::<SharedViewers>().1);
    let mut viewers = match shared.viewers {
        Some(viewers) => viewers,
        None => ChannelViewers::load(tx, UserFilter::Everyone, tx.now())?,
    };
    let audience = Audience::set(viewers.users_who_can_see(tx, stream)?);
    if shared.is_on {
        *tx.cache_mut::<SharedViewers>().1 = SharedViewers { is_on: true, viewers: Some(viewers) };
    }
    for change in changes {
        tx.emit(StreamUpdated::new(stream, change), audience.clone());
    }
    Ok(())
}
