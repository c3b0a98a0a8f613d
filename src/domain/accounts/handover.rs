//! Giving a bot to another owner.
//!
//! A bot has rights that follow from its owner: it posts where the owner may, and can see the owner's channels. A
//! change of the owner therefore revokes all means of acting through the bot: its key, its addresses of channels, its
//! queues, the URL of its webhook, and its scheduled messages. It also leaves the private channels that the new owner is
//! not in, who could otherwise read them, and the groups, by which it could join them again. Its reminders, which quote
//! messages of such channels, are deleted.

use crate::domain::access::channel_viewers::ChannelViewers;
use crate::domain::accounts::role;
use crate::domain::channel_commands::unsubscribe;
use crate::domain::groups::events::MembersChanged;
use crate::domain::groups::membership::Membership;
use crate::domain::groups::roles::UserFilter;
use crate::domain::messages::{reminders, webhook_queue};
use crate::domain::notices::ownership::{Actor, Handover};
use crate::domain::realm::user_ids;
use crate::domain::rows::user::UserRow;
use crate::domain::visibility::Scope;
use crate::domain::{bots, groups, notices, rows, subscriptions, visibility};
use crate::error::ApiResult;
use crate::events;
use crate::events::Audience;
use crate::store::Tx;
use crate::types::{GroupId, Role, UserId};

/// Gives a bot to another owner, and notifies both. The bot of a guest becomes a guest. Returns the changed bot.
pub fn give(tx: &mut Tx<'_>, bot: &UserRow, owner: &UserRow, by: Actor) -> ApiResult<UserRow> {
    let handover = Handover {
        left_groups: leave_groups(tx, bot, owner)?,
        left_channels: leave_private_channels(tx, bot, owner)?,
        lost_url: bots::clear_service(tx, bot.user_id, &bots::rules::new_token())?,
        has_stopped_messages: bots::stop_scheduled_messages(tx, bot.user_id)?,
    };
    webhook_queue::remove_all(tx, bot.user_id)?;
    reminders::delete_all(tx, bot.user_id)?;
    events::delete_queues_of(tx, bot.user_id)?;
    let mut after = bots::change::set_owner(tx, bot, owner.user_id)?;
    // A guest's bot sees only users and channels that the guest sees.
    if owner.role == Role::Guest && after.role != Role::Guest {
        role::change(tx, &after, Role::Guest, by)?;
        after.role = Role::Guest;
    }
    notices::ownership::bot_given(tx, owner, &after, handover, by)?;
    if let Some(former) = rows::user::owner(tx, bot.bot_owner_id)? {
        notices::ownership::bot_taken(tx, &former, &after, owner, by)?;
    }
    Ok(after)
}

/// Removes a bot from the groups, and from the permissions that name it, that its new owner is not in. Returns whether there
/// were any.
fn leave_groups(tx: &mut Tx<'_>, bot: &UserRow, owner: &UserRow) -> ApiResult<bool> {
    let of_owner = Membership::of(tx, owner.user_id, tx.now())?;
    // Deactivated groups are in effect again later.
    leave_groups_unless(tx, bot.user_id, |tx, group| {
        Ok(of_owner.contains(group) || groups::is_member(tx, group, owner.user_id)?)
    })
}

/// Removes a user from all groups and permissions that name them, except for groups that satisfy `stays`. Returns whether
/// there were any.
pub fn leave_groups_unless(
    tx: &mut Tx<'_>,
    user_id: UserId,
    stays: impl Fn(&Tx<'_>, GroupId) -> ApiResult<bool>,
) -> ApiResult<bool> {
    let mut left = Vec::new();
    for group_id in groups::groups_that_name(tx, user_id)? {
        if !stays(tx, group_id)? {
            left.extend(groups::group(tx, group_id)?);
        }
    }
    let mut settings = Vec::new();
    for setting in groups::settings_that_name(tx, user_id)? {
        if !stays(tx, setting.2)? {
            settings.push(setting);
        }
    }
    if left.is_empty() && settings.is_empty() {
        return Ok(false);
    }
    visibility::with_events(tx, Scope::Members(&[user_id]), |tx| {
        let active = user_ids::active_ids(tx)?;
        for group in left {
            groups::set_member(tx, group.id, user_id, false)?;
            let event = MembersChanged::new(false, group.id, &[user_id]).deactivated(group.deactivated);
            tx.emit(event, Audience::set(active.clone()));
        }
        for (_, _, group) in &settings {
            groups::set_member(tx, *group, user_id, false)?;
        }
        let mut viewers = ChannelViewers::load(tx, UserFilter::Everyone, tx.now())?;
        for (of, setting, group) in settings {
            visibility::emit_setting(tx, of, &setting, group, &active, &mut viewers)?;
        }
        Ok(())
    })?;
    Ok(true)
}

/// Unsubscribes a bot from the private channels that its new owner is not subscribed to. Returns whether there were any.
fn leave_private_channels(tx: &mut Tx<'_>, bot: &UserRow, owner: &UserRow) -> ApiResult<bool> {
    let mut left = Vec::new();
    for own in subscriptions::list_active(tx, bot.user_id)? {
        if let Some(stream) = rows::channel::by_id(tx, own.stream_id)?
            && !stream.is_public()
            && !rows::channel::is_subscribed(tx, owner.user_id, stream.stream_id)?
        {
            left.push(stream);
        }
    }
    if left.is_empty() {
        return Ok(false);
    }
    unsubscribe::unsubscribe_users(tx, &left, &[bot.user_id])?;
    Ok(true)
}
