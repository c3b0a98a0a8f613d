//! Messages of the server's bots about a new user.

use crate::domain::invites::record::InviteRow;
use crate::domain::messages::destination::Destination;
use crate::domain::notices::{direct_address, mention, send_as_notification_bot};
use crate::domain::rows::user::UserRow;
use crate::domain::{realm, rows, user_settings};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{StreamId, Topic};
use teamchat_markdown::Words;

/// Notifies the inviter, if the invitation asks for it.
pub(super) fn notify_inviter(tx: &mut Tx<'_>, invite: &InviteRow, new_user: &UserRow) -> ApiResult<()> {
    if let Some(inviter) = invite.invited_by_user_id
        && invite.notify_referrer_on_join
        && rows::user::by_id(tx, inviter)?.is_some_and(|inviter| inviter.is_active)
    {
        let address = direct_address(tx, inviter)?;
        let text = user_settings::language_of(tx, inviter)?.t("{name} accepted your invitation!");
        let content = Words::filled(text, &[("name", mention(new_user))]);
        send_as_notification_bot(tx, address, content.into())?;
    }
    Ok(())
}

/// Announces a new user in the channel for sign-ups, if there is one.
pub(super) fn announce(tx: &mut Tx<'_>, new_user: &UserRow) -> ApiResult<()> {
    let signups: i64 = realm::settings::SIGNUP_ANNOUNCEMENTS_STREAM_ID.get(tx)?;
    let stream = rows::channel::by_id(tx, StreamId(signups))?.filter(|stream| !stream.is_archived);
    if let Some(stream) = stream {
        let language = realm::common_language(tx)?;
        let topic = Topic::stored(language.t("signups").to_owned());
        let address = Destination::Channel(Box::new(stream), topic);
        let content =
            Words::filled(language.t("{name} joined this organization."), &[("name", mention(new_user))]);
        send_as_notification_bot(tx, address, content.into())?;
    }
    Ok(())
}
