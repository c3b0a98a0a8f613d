//! Messages of the server's bots about a new user.

use crate::domain::access::user_rows::UserRow;
use crate::domain::access::{channel_rows as channels, user_rows as users};
use crate::domain::invites::record::InviteRow;
use crate::domain::messages::destination::Destination;
use crate::domain::messages::markup::silent_mention;
use crate::domain::notices::{direct_address, send_as_notification_bot};
use crate::domain::{notices, realm};
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{StreamId, Topic};

/// The topic of notices in the channel of `signup_announcements_stream_id`.
const SIGNUPS_TOPIC: &str = "signups";

/// Notifies the inviter and the channel for sign-ups, and sends the welcome messages to the new user.
pub fn send(tx: &mut Tx<'_>, invite: &InviteRow, new_user: &UserRow) -> ApiResult<()> {
    let name = silent_mention(&new_user.full_name, new_user.user_id);
    if let Some(inviter) = invite.invited_by_user_id
        && invite.notify_referrer_on_join
        && users::by_id(tx, inviter)?.is_some_and(|inviter| inviter.is_active)
    {
        let address = direct_address(tx, inviter)?;
        let content = format!("{name} accepted your invitation to join Zulip!");
        send_as_notification_bot(tx, address, content)?;
    }
    let signups: i64 = realm::settings::SIGNUP_ANNOUNCEMENTS_STREAM_ID.get(tx)?;
    let stream = channels::by_id(tx, StreamId(signups))?.filter(|stream| !stream.is_archived);
    if let Some(stream) = stream
        && invite.invited_by_user_id.is_some()
    {
        let address = Destination::Channel(Box::new(stream), Topic::stored(SIGNUPS_TOPIC.to_owned()));
        send_as_notification_bot(tx, address, format!("{name} joined this organization."))?;
    }
    send_welcome(tx, invite, new_user)
}

fn send_welcome(tx: &mut Tx<'_>, invite: &InviteRow, new_user: &UserRow) -> ApiResult<()> {
    let organization: String = realm::settings::NAME.get(tx)?;
    let mut content = format!(
        "Hello, and welcome to **{organization}**! 👋 This is a direct message from me, Welcome Bot.\n\n\
         Conversations happen in channels, and each channel has topics. Look around, reply where you have something \
         to say, or begin a topic of your own."
    );
    if new_user.role.is_administrator() {
        content.push_str("\n\nYou administer this organization: you can make channels and invite people.");
    }
    notices::welcome::send(tx, new_user.user_id, content)?;
    let custom = match &invite.welcome_message_custom_text {
        Some(text) => text.clone(),
        None => realm::settings::WELCOME_MESSAGE_CUSTOM_TEXT.get(tx)?,
    };
    if !custom.trim().is_empty() {
        notices::welcome::send(tx, new_user.user_id, custom)?;
    }
    Ok(())
}
