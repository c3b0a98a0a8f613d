//! The weekly digest: an email to each person who was away, about the topics and channels of the last days.
//!
//! - `activity`: finds these topics and channels, once for all people;
//! - `letter`: composes the email of one person, from what they may read.
//!
//! It is sent on `digest_weekday` (in UTC), once to each person: the row in `digest` is written with the email. If there is no more
//! room in the queue of mail, or some fail, the rest comes later in the week.

mod activity;
mod letter;

use crate::api::digest::activity::Activity;
use crate::api::resource::{Background, Resource};
use crate::app::App;
use crate::domain::limits::PRESENCE_OFFLINE_THRESHOLD_SECONDS;
use crate::domain::mail::Priority;
use crate::domain::realm::settings::{DIGEST_EMAILS_ENABLED, DIGEST_WEEKDAY};
use crate::domain::{logins, mail, realm};
use crate::error::ApiResult;
use crate::scheduler;
use crate::store::{ExecuteCached, StoreError, Tx, counter};
use crate::types::{SECONDS_PER_DAY, UserId};
use rusqlite::Connection;
use std::ops::Range;
use std::sync::Arc;

/// Seconds of absence after which a person gets a digest, of which it has the content.
const ABSENCE: i64 = 5 * SECONDS_PER_DAY;

/// Seconds until the rest of the digests is tried if there was no room for them, or some failed.
const PAUSE: i64 = 10 * 60;

/// The row of `counter` with the last day whose digests were sent, in days since 1970.
const LAST_DAY: &str = "digest_day";

/// The row of `counter` with the time at which the rest of the digests is tried, in UNIX seconds; 0 if there is none.
const REST: &str = "digest_rest";

pub const RESOURCE: Resource = Resource { name: "digest", background: Some(BACKGROUND), ..Resource::EMPTY };

const BACKGROUND: Background =
    |app, stopped| Box::pin(scheduler::run(app, stopped, |app| async move { send_due(&app).await }));

/// Sends the digests of the week, if they are due. Returns when the next ones are, in UNIX seconds, if the organization has them.
/// The days between are left out: a clock that test servers advance would stop at each.
async fn send_due(app: &App) -> ApiResult<Option<i64>> {
    let now = app.clock.seconds();
    let day = match app.readers.read(|snapshot| state(snapshot, now)).await? {
        State::Off => return Ok(None),
        State::NotBefore(next) => return Ok(Some(next)),
        State::Due(day) => day,
    };
    // If the server stops, it goes on after the next start, also on a later day.
    set_rest(app, now).await?;
    // People who use the server at this moment are not absent.
    logins::save_uses(app).await?;
    let found = app.read_in(&app.pools.slow_reads, None, move |snapshot| {
        Ok((activity::load(snapshot, now - ABSENCE)?, absent_people(snapshot, day, now)?))
    });
    let (activity, people) = found.await?;
    let (activity, mut is_complete) = (Arc::new(activity), true);
    for user_id in people {
        if app.writer.background().is_stopping() {
            return Err(StoreError::Stopped.into());
        }
        match scheduler::guard(send(app, user_id, Arc::clone(&activity), now)).await {
            Ok(true) => {}
            Ok(false) => {
                tracing::info!("digests wait, because too many emails are waiting for the mail server");
                is_complete = false;
                break;
            }
            Err(error) => {
                tracing::warn!(%error, %user_id, "a digest was not sent and will be tried again");
                is_complete = false;
            }
        }
    }
    if !is_complete {
        let next = app.clock.seconds() + PAUSE;
        set_rest(app, next).await?;
        return Ok(Some(next));
    }
    let finish = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        counter::set(tx, REST, 0)?;
        Ok(counter::set(tx, LAST_DAY, day)?)
    };
    app.writer.run(finish).await?;
    Ok(Some(week_of(day).end))
}

/// Records when the rest of the digests is tried.
async fn set_rest(app: &App, time: i64) -> ApiResult<()> {
    app.writer.run(move |tx| ApiResult::Ok(counter::set(tx, REST, time)?)).await
}

/// The state of the digests.
enum State {
    /// This organization has none.
    Off,
    /// There are none before a time, in UNIX seconds.
    NotBefore(i64),
    /// The digests of a day are due, in days since 1970.
    Due(i64),
}

fn state(connection: &Connection, now: i64) -> ApiResult<State> {
    if !mail::is_on(connection)?
        || !DIGEST_EMAILS_ENABLED.get(connection)?
        || realm::is_deactivated(connection)?
    {
        return Ok(State::Off);
    }
    let today = now.div_euclid(SECONDS_PER_DAY);
    // The first day of 1970 was a Thursday.
    let weekday = (today + 3).rem_euclid(7);
    let day = today - (weekday - DIGEST_WEEKDAY.get(connection)?).rem_euclid(7);
    let week = week_of(day);
    let rest = counter::load(connection, REST)?.filter(|rest| week.contains(rest));
    let is_sent = counter::load(connection, LAST_DAY)? == Some(day);
    Ok(match rest {
        _ if is_sent => State::NotBefore(week.end),
        Some(rest) if rest > now => State::NotBefore(rest),
        None if day < today => State::NotBefore(week.end),
        _ => State::Due(day),
    })
}

/// The week that begins with a day, in UNIX seconds.
fn week_of(day: i64) -> Range<i64> {
    day * SECONDS_PER_DAY..(day + 7) * SECONDS_PER_DAY
}

/// The active people who were not there for some days, and had no digest in the week of a day; first those who wait for longest.
/// Times beyond `now` are of a clock that was wrong.
fn absent_people(connection: &Connection, day: i64, now: i64) -> ApiResult<Vec<UserId>> {
    let (since, until) = (now - ABSENCE + 1, now + PRESENCE_OFFLINE_THRESHOLD_SECONDS);
    let week = week_of(day);
    let people = connection
        .prepare_cached(
            "SELECT user_id FROM user LEFT JOIN digest USING (user_id)
             WHERE is_active AND bot_type IS NULL AND date_joined NOT BETWEEN ?1 AND ?2
                 AND coalesce(sent, 0) NOT BETWEEN ?3 AND ?4
             ORDER BY coalesce(sent, 0), user_id",
        )?
        .query_map((since, until, week.start, week.end - 1), |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<UserId>>>()?;
    let mut statement = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM (
             SELECT last_connected_time AS time FROM presence WHERE user_id = ?1
             UNION ALL SELECT last_used FROM session JOIN session_use ON session_id = session.id WHERE user_id = ?1
             UNION ALL SELECT last_used FROM api_key JOIN api_key_use ON api_key_id = api_key.id WHERE user_id = ?1)
         WHERE time BETWEEN ?2 AND ?3)",
    )?;
    let mut absent = Vec::new();
    for user_id in people {
        let was_there: bool = statement.query_row((user_id, since, until), |row| row.get(0))?;
        if !was_there {
            absent.push(user_id);
        }
    }
    Ok(absent)
}

/// Puts the digest of a person into the queue of mail, if there is something to write. Returns false if the queue has no room.
async fn send(app: &App, user_id: UserId, activity: Arc<Activity>, now: i64) -> ApiResult<bool> {
    let composed = app.read_in(&app.pools.slow_reads, None, move |snapshot| {
        letter::compose(snapshot, user_id, &activity, now)
    });
    let letter = composed.await?;
    let job = move |tx: &mut Tx<'_>| -> ApiResult<bool> {
        if let Some(letter) = letter {
            if !mail::outbox::has_room(tx, Priority::Bulk)? {
                return Ok(false);
            }
            mail::queue(tx, letter)?;
        }
        tx.execute_cached(
            "INSERT OR REPLACE INTO digest (user_id, sent) VALUES (?1, ?2)",
            (user_id, tx.now()),
        )?;
        Ok(true)
    };
    app.writer.run(job).await
}
