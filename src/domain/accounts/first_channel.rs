//! The channel of a new organization, so that the people who come find a place to talk.

use crate::domain::channels;
use crate::domain::channels::rules::Privacy;
use crate::domain::rows::channel::TopicsPolicy;
use crate::error::ApiResult;
use crate::store::Tx;
use rusqlite::Connection;

/// The name of the channel.
const NAME: &str = "general";

/// Its description, one line of plain text.
const DESCRIPTION: &str = "For everyone, about everything that has no channel of its own yet.";

/// Creates a public channel that new users are subscribed to, if the organization never had users or channels. There
/// are no clients yet, so it emits no events.
pub fn create_if_new(tx: &Tx<'_>) -> ApiResult<()> {
    if !is_new(tx)? {
        return Ok(());
    }
    let row = channels::NewStreamRow {
        name: NAME,
        description: DESCRIPTION,
        rendered_description: &format!("<p>{DESCRIPTION}</p>"),
        date_created: tx.now(),
        creator_id: None,
        privacy: Privacy::new(false, false, None)?,
        message_retention_days: None,
        topics_policy: TopicsPolicy::default(),
        folder_id: None,
    };
    let stream_id = channels::insert(tx, &row)?;
    channels::set_default(tx, stream_id, true)?;
    Ok(())
}

fn is_new(connection: &Connection) -> ApiResult<bool> {
    let statement = "SELECT NOT EXISTS (SELECT 1 FROM stream)
        AND NOT EXISTS (SELECT 1 FROM user WHERE NOT is_system_bot)";
    Ok(connection.prepare_cached(statement)?.query_row([], |row| row.get(0))?)
}
