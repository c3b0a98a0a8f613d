//! What the server's bots say when somebody joined.

use crate::domain::access::user_rows::UserRow;
use crate::domain::access::{channel_rows as channels, user_rows as users};
use crate::domain::invites::record::InviteRow;
use crate::domain::messages::destination::Address;
use crate::domain::messages::quote::silent_mention;
use crate::domain::notices::{direct_address, send_as_notification_bot};
use crate::domain::{notices, realm as domain_realm};
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{StreamId, Topic};

/// The topic of signups in the organization's channel for them.
const SIGNUPS_TOPIC: &str = "signups";

/// Tells the inviter and the channel for signups, and welcomes the newcomer.
pub fn say(tx: &mut Tx<'_>, invite: &InviteRow, newcomer: &UserRow) -> ApiResult<()> {
    let name = silent_mention(&newcomer.full_name, newcomer.user_id);
    if let Some(inviter) = invite.invited_by_user_id
        && invite.notify_referrer_on_join
        && users::by_id(tx, inviter)?.is_some_and(|inviter| inviter.is_active)
    {
        let address = direct_address(tx, inviter)?;
        let content = format!("{name} accepted your invitation to join Zulip!");
        send_as_notification_bot(tx, address, content)?;
    }
    let signups: i64 = domain_realm::settings::SIGNUP_ANNOUNCEMENTS_STREAM_ID.get(tx)?;
    let stream = channels::by_id(tx, StreamId(signups))?.filter(|stream| !stream.is_archived);
    if let Some(stream) = stream
        && invite.invited_by_user_id.is_some()
    {
        let address = Address::Channel(Box::new(stream), Topic::stored(SIGNUPS_TOPIC.to_owned()));
        send_as_notification_bot(tx, address, format!("{name} joined this organization."))?;
    }
    welcome(tx, invite, newcomer)
}

fn welcome(tx: &mut Tx<'_>, invite: &InviteRow, newcomer: &UserRow) -> ApiResult<()> {
    let organization: String = domain_realm::settings::NAME.get(tx)?;
    let mut content = format!(
        "Hello, and welcome to **{organization}**! 👋 This is a direct message from me, Welcome Bot.\n\n\
         Conversations happen in channels, and each channel has topics. Look around, reply where you have something \
         to say, or begin a topic of your own."
    );
    if newcomer.role.is_administrator() {
        content.push_str("\n\nYou administer this organization: you can make channels and invite people.");
    }
    notices::welcome::send(tx, newcomer.user_id, content)?;
    let custom = match &invite.welcome_message_custom_text {
        Some(text) => text.clone(),
        None => domain_realm::settings::WELCOME_MESSAGE_CUSTOM_TEXT.get(tx)?,
    };
    if !custom.trim().is_empty() {
        notices::welcome::send(tx, newcomer.user_id, custom)?;
    }
    Ok(())
}
