//! Kinds of bots, as numbers on the wire and in SQL.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

/// Kind of a bot, `bot_type` on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub enum BotType {
    /// 1: calls the API from its owner's program.
    Generic,
    /// 2: posts only through an incoming webhook.
    IncomingWebhook,
    /// 3: its messages are posted to another server.
    OutgoingWebhook,
    /// 4: runs inside the published server. Not available here.
    Embedded,
}

impl BotType {
    /// All kinds, by their number.
    pub const ALL: [Self; 4] = [Self::Generic, Self::IncomingWebhook, Self::OutgoingWebhook, Self::Embedded];

    /// The number on the wire and in SQL.
    pub fn code(self) -> i64 {
        match self {
            Self::Generic => 1,
            Self::IncomingWebhook => 2,
            Self::OutgoingWebhook => 3,
            Self::Embedded => 4,
        }
    }
}

impl From<BotType> for i64 {
    fn from(bot_type: BotType) -> Self {
        bot_type.code()
    }
}

impl TryFrom<i64> for BotType {
    type Error = &'static str;

    fn try_from(code: i64) -> Result<Self, Self::Error> {
        Self::ALL.into_iter().find(|bot_type| bot_type.code() == code).ok_or("Invalid bot type")
    }
}

impl ToSql for BotType {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.code()))
    }
}

impl FromSql for BotType {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let code = i64::column_result(value)?;
        Self::try_from(code).map_err(|_| FromSqlError::OutOfRange(code))
    }
}
