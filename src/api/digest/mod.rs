//! The weekly digest: an email to each person who was away, about the topics and channels of the last days.
//!
//! - `activity`: finds these topics and channels, once for all people;
//! - `letter`: composes the email of one person, from what they may read.
//!
//! It is sent on `digest_weekday` (in UTC), once to each person: the row in `digest` is written with the email.

mod activity;
mod letter;

use crate::api::digest::activity::Activity;
use crate::api::resource::{Background, Resource};
use crate::app::App;
use crate::domain::limits::PRESENCE_OFFLINE_THRESHOLD_SECONDS;
use crate::domain::realm::settings::{DIGEST_EMAILS_ENABLED, DIGEST_WEEKDAY};
use crate::domain::{logins, mail, realm};
use crate::error::ApiResult;
use crate::scheduler;
use crate::store::{ExecuteCached, StoreError, Tx, counter};
use crate::types::{SECONDS_PER_DAY, UserId};
use rusqlite::Connection;
use std::sync::Arc;

/// Seconds of absence after which a person gets a digest, of which it has the content.
const ABSENCE: i64 = 5 * SECONDS_PER_DAY;

/// The least seconds between two digests for a person.
const PAUSE: i64 = SECONDS_PER_DAY / 2;

/// The row of `counter` with the last day whose digests were sent, in days since 1970.
const LAST_DAY: &str = "digest_day";

pub const RESOURCE: Resource = Resource { name: "digest", background: Some(BACKGROUND), ..Resource::EMPTY };

const BACKGROUND: Background =
    |app, stopped| Box::pin(scheduler::run(app, stopped, |app| async move { send_due(&app).await }));

/// Sends the digests of this day, if there are any. Returns when the next day with digests begins, in UNIX seconds, if the
/// organization has them. The days between are left out: a clock that test servers advance would stop at each.
async fn send_due(app: &App) -> ApiResult<Option<i64>> {
    let now = app.clock.seconds();
    let day = now.div_euclid(SECONDS_PER_DAY);
    match app.readers.read(|snapshot| state(snapshot, day)).await? {
        State::Off => return Ok(None),
        State::NotBefore(next) => return Ok(Some(next * SECONDS_PER_DAY)),
        State::Due => {}
    }
    // People who use the server at this moment are not absent.
    logins::save_uses(app).await?;
    let found = app.read_in(&app.pools.slow_reads, None, move |snapshot| {
        Ok((activity::load(snapshot, now - ABSENCE)?, absent_people(snapshot, now)?))
    });
    let (activity, people) = found.await?;
    let (activity, mut result) = (Arc::new(activity), Ok(()));
    for user_id in people {
        if app.writer.background().is_stopping() {
            return Err(StoreError::Stopped.into());
        }
        if let Err(error) = scheduler::guard(send(app, user_id, Arc::clone(&activity), now)).await {
            tracing::warn!(%error, %user_id, "a digest was not sent and will be tried again");
            result = Err(error);
        }
    }
    result?;
    app.writer.run(move |tx| ApiResult::Ok(counter::set(tx, LAST_DAY, day)?)).await?;
    Ok(Some((day + 7) * SECONDS_PER_DAY))
}

/// The state of the digests of a day.
enum State {
    /// This organization has none.
    Off,
    /// They were sent today, or are sent on another day of the week. The next such day, in days since 1970.
    NotBefore(i64),
    /// Today.
    Due,
}

fn state(connection: &Connection, day: i64) -> ApiResult<State> {
    if !mail::is_on(connection)?
        || !DIGEST_EMAILS_ENABLED.get(connection)?
        || realm::is_deactivated(connection)?
    {
        return Ok(State::Off);
    }
    // The first day of 1970 was a Thursday.
    let weekday = (day + 3).rem_euclid(7);
    let last_day = counter::load(connection, LAST_DAY)?;
    Ok(match (DIGEST_WEEKDAY.get(connection)? - weekday).rem_euclid(7) {
        0 if last_day != Some(day) => State::Due,
        0 => State::NotBefore(day + 7),
        days => State::NotBefore(day + days),
    })
}

/// The active people who were not there for some days, and got no digest lately. Times beyond `now` are of a clock that was wrong.
fn absent_people(connection: &Connection, now: i64) -> ApiResult<Vec<UserId>> {
    let (since, until) = (now - ABSENCE + 1, now + PRESENCE_OFFLINE_THRESHOLD_SECONDS);
    let people = connection
        .prepare_cached(
            "SELECT user_id FROM user LEFT JOIN digest USING (user_id)
             WHERE is_active AND bot_type IS NULL AND date_joined NOT BETWEEN ?1 AND ?2
                 AND coalesce(sent, 0) NOT BETWEEN ?3 AND ?2",
        )?
        .query_map((since, until, now - PAUSE + 1), |row| row.get(0))?
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

/// Puts the digest of a person into the queue of mail, if there is something to write.
async fn send(app: &App, user_id: UserId, activity: Arc<Activity>, now: i64) -> ApiResult<()> {
    let composed = app.read_in(&app.pools.slow_reads, None, move |snapshot| {
        letter::compose(snapshot, user_id, &activity, now)
    });
    let letter = composed.await?;
    let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        if let Some(letter) = letter {
            mail::queue(tx, letter)?;
        }
        tx.execute_cached(
            "INSERT OR REPLACE INTO digest (user_id, sent) VALUES (?1, ?2)",
            (user_id, tx.now()),
        )?;
        Ok(())
    };
    app.writer.run(job).await
}
