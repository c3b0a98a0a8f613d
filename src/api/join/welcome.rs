//! Messages of the server's bots about a new user.

use crate::domain::access::user_rows::UserRow;
use crate::domain::access::{channel_rows as channels, user_rows as users};
use crate::domain::invites::record::InviteRow;
use crate::domain::messages::destination::Destination;
use crate::domain::notices::{direct_address, send_as_notification_bot};
use crate::domain::{notices, realm};
use crate::http::ApiResult;
use crate::markdown::Words;
use crate::store::Tx;
use crate::types::{StreamId, Topic};

/// The topic of notices in the channel of `signup_announcements_stream_id`.
const SIGNUPS_TOPIC: &str = "signups";

/// Notifies the inviter and the channel for sign-ups, and greets the new user.
pub fn send(tx: &mut Tx<'_>, invite: &InviteRow, new_user: &UserRow) -> ApiResult<()> {
    let name = Words::default().user(new_user.user_id.0, &new_user.full_name);
    if let Some(inviter) = invite.invited_by_user_id
        && invite.notify_referrer_on_join
        && users::by_id(tx, inviter)?.is_some_and(|inviter| inviter.is_active)
    {
        let address = direct_address(tx, inviter)?;
        let content = name.clone().words(" accepted your invitation!");
        send_as_notification_bot(tx, address, content.into())?;
    }
    let signups: i64 = realm::settings::SIGNUP_ANNOUNCEMENTS_STREAM_ID.get(tx)?;
    let stream = channels::by_id(tx, StreamId(signups))?.filter(|stream| !stream.is_archived);
    if let Some(stream) = stream
        && invite.invited_by_user_id.is_some()
    {
        let address = Destination::Channel(Box::new(stream), Topic::stored(SIGNUPS_TOPIC.to_owned()));
        send_as_notification_bot(tx, address, name.words(" joined this organization.").into())?;
    }
    notices::welcome::send_hello(tx, new_user)
}
