//! `first_message_id` of channels: derived from the messages, and told when sending, deleting or moving changes it (feature
//! level 256).

use crate::api::channels::events::StreamUpdated;
use crate::api::channels::row::StreamRow;
use crate::api::channels::sql;
use crate::api::channels::visible::{self, People};
use crate::events::Audience;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::MessageId;

/// The oldest message of a channel.
pub fn of(tx: &Tx<'_>, stream: &StreamRow) -> ApiResult<Option<MessageId>> {
    Ok(sql::first_message_id(tx, stream.recipient_id)?)
}

/// Tells all who can see a channel, if its oldest message is another one than before.
pub fn tell_if_changed(tx: &mut Tx<'_>, stream: &StreamRow, before: Option<MessageId>) -> ApiResult<()> {
    let now = of(tx, stream)?;
    if now != before {
        let audience = visible::to(tx, &People::load(tx)?, tx.now(), stream)?;
        let value = now.map(|id| id.0);
        tx.emit(&StreamUpdated::new(stream, "first_message_id", value), Audience::set(audience));
    }
    Ok(())
}

/// Tells the same of a message that was just sent, if it is the channel's first.
pub fn tell_if_first(tx: &mut Tx<'_>, stream: &StreamRow, id: MessageId) -> ApiResult<()> {
    if of(tx, stream)? == Some(id) { tell_if_changed(tx, stream, None) } else { Ok(()) }
}
