//! Who may know of a channel, as a set: the receivers of its events.

use crate::domain::access::channel_rows;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::groups::members;
use crate::http::ApiResult;
use crate::types::{Role, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;

/// The active users by what their role lets them see.
#[derive(Clone, Debug, Default)]
pub struct People {
    /// Everybody.
    pub active: RoaringBitmap,
    /// See only what they are subscribed to, and what can be read without an account.
    pub guests: RoaringBitmap,
    /// Know of every channel.
    pub administrators: RoaringBitmap,
}

impl People {
    /// Loads them. One walk over the users: for jobs that change channels, not for those that send.
    pub fn load(connection: &Connection) -> rusqlite::Result<Self> {
        let mut people = Self::default();
        let mut statement = connection
            .prepare_cached("SELECT user_id, role FROM user WHERE is_active AND NOT is_system_bot")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let bit = row.get::<_, UserId>(0)?.bit();
            let role: Role = row.get(1)?;
            people.active.extend(bit);
            if role == Role::Guest {
                people.guests.extend(bit);
            }
            if role.is_administrator() {
                people.administrators.extend(bit);
            }
        }
        Ok(people)
    }

    /// Everybody but guests.
    pub fn members(&self) -> RoaringBitmap {
        &self.active - &self.guests
    }
}

/// The users who may know of a channel: [`crate::domain::access::channels::Standing::may_know`] for all at once.
pub fn to(
    connection: &Connection,
    people: &People,
    now: i64,
    stream: &StreamRow,
) -> ApiResult<RoaringBitmap> {
    if stream.is_web_public {
        return Ok(people.active.clone());
    }
    let subscribers = channel_rows::subscribers(connection, stream.stream_id)?;
    if stream.is_public() {
        return Ok(people.members() | subscribers);
    }
    let mut by_group = RoaringBitmap::new();
    for setting in StreamSetting::ALL.into_iter().filter(|setting| setting.shows_channel()) {
        by_group |= members::all(connection, setting.group_of(connection, stream.stream_id)?, now)?;
    }
    Ok(subscribers | &people.administrators | (by_group - &people.guests))
}
