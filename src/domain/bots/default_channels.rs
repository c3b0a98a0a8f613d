//! Visibility of the names of a bot's default channels. An owner may have lost access to a channel since it was chosen,
//! or an administrator chose one that the owner cannot see.

use crate::domain::access::channels::Viewer;
use crate::domain::bots::sql::BotRow;
use crate::domain::rows;
use crate::domain::rows::user::UserRow;
use crate::error::{ApiResult, ok_unless_refused};
use crate::store::Tx;
use crate::types::UserId;

/// Removes the default channels that a viewer may not know of from a bot's row.
pub fn hide_inaccessible(viewer: &Viewer<'_>, bot: &mut BotRow) -> ApiResult<()> {
    for channel in [&mut bot.default_sending_stream, &mut bot.default_events_register_stream] {
        let Some(known) = channel else { continue };
        let stream = rows::channel::by_id(&viewer.ctx, known.stream_id)?;
        let is_seen = stream.map(|stream| viewer.can_see(&stream)).transpose()?;
        if is_seen != Some(true) {
            *channel = None;
        }
    }
    Ok(())
}

/// Returns the owner of a bot, and its row without the channels hidden from them. `None` if nothing is hidden, or if
/// there is no active owner. Administrators see all channels.
pub fn hidden_from_owner(tx: &Tx<'_>, bot: &UserRow, row: &BotRow) -> ApiResult<Option<(UserId, BotRow)>> {
    let Some(owner_id) = bot.bot_owner_id else { return Ok(None) };
    let Some(owner) = ok_unless_refused(rows::user::caller(tx, owner_id))? else { return Ok(None) };
    let mut shown = row.clone();
    hide_inaccessible(&Viewer::new(tx.ctx(&owner)), &mut shown)?;
    let is_whole = shown.default_sending_stream == row.default_sending_stream
        && shown.default_events_register_stream == row.default_events_register_stream;
    Ok((!is_whole).then_some((owner_id, shown)))
}
