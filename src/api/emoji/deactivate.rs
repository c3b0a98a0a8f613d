//! `DELETE /realm/emoji/{emoji_name}`.

use crate::api::emoji::{EmojiParams, events, rules};
use crate::domain::emoji::sql;
use crate::http::{ApiError, ApiResult, Reply, User};
use crate::store::Tx;

/// `DELETE /realm/emoji/{emoji_name}`: the emoji can no longer be used. Where it was used it is still shown.
pub fn deactivate_custom_emoji(tx: &mut Tx<'_>, caller: &User, params: EmojiParams) -> ApiResult<Reply> {
    let name = params.emoji_name;
    let emoji = sql::active_by_name(tx, &name)?.ok_or_else(|| {
        // 404 since feature level 190.
        ApiError::no_such_resource(format!("Emoji '{name}' does not exist"))
    })?;
    rules::check_deactivate(caller, &emoji)?;
    sql::deactivate(tx, emoji.id)?;
    events::announce(tx)?;
    Ok(Reply::ok())
}
