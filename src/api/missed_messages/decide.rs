//! Decides who missed messages, in snapshots after their commit.

use crate::app::App;
use crate::domain::notifications::deciding::People;
use crate::domain::notifications::{MAIL, deciding};
use crate::domain::realm::user_ids;
use crate::domain::{mail, missed_messages, rows};
use crate::error::ApiResult;
use crate::events::Hub;
use crate::store::Snapshot;
use crate::types::UserId;
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::sync::Arc;

/// Decides about waiting and held messages. Returns when there is something to decide next, in UNIX seconds.
pub async fn decide_due(app: Arc<App>) -> ApiResult<Option<i64>> {
    if !app.readers.read(|snapshot| mail::is_on(snapshot)).await? {
        return Ok(None);
    }
    let decide = |snapshot: &Snapshot<'_>, hub: &Hub, now| {
        let people = People { all: &|| everyone(snapshot), has: &|user_id| is_person(snapshot, user_id) };
        deciding::decide(snapshot, hub, &MAIL, now, &people)
    };
    deciding::decide_due(&app, &MAIL, decide, missed_messages::add).await
}

/// All active people.
fn everyone(connection: &Connection) -> ApiResult<RoaringBitmap> {
    Ok(user_ids::active_ids(connection)? - user_ids::bot_ids(connection)?)
}

fn is_person(connection: &Connection, user_id: UserId) -> ApiResult<bool> {
    let user = rows::user::by_id(connection, user_id)?;
    Ok(user.is_some_and(|user| user.is_active && !user.is_bot()))
}
