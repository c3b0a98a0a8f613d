//! Deactivation and reactivation of accounts.
//!
//! A deactivated user keeps subscriptions, group memberships and settings, but they have no effect: messages sent in
//! the meantime are not received. API keys stay until the reactivation, so that requests with one are refused with the
//! reason. They are then revoked, because a stolen key may be the reason for the deactivation. Sessions of browsers and
//! links that set passwords, for and by the user, end immediately.

use crate::domain::access::channel_viewers::ChannelViewers;
use crate::domain::accounts::{handover, password, role};
use crate::domain::audit::{Action, Entry};
use crate::domain::bots::events::BotChange;
use crate::domain::channels::events::PeersChanged;
use crate::domain::groups::roles::UserFilter;
use crate::domain::logins::sessions;
use crate::domain::messages::phones;
use crate::domain::notices::ownership::Actor;
use crate::domain::rows::channel::StreamRow;
use crate::domain::rows::user::UserRow;
use crate::domain::user_settings::events::emit_export_consent;
use crate::domain::users::events::{UserChange, UserUpdated};
use crate::domain::visibility::Scope;
use crate::domain::{
    access, bots, files, invites, logins, mail, notices, presence, rows, subscriptions, user_settings,
    user_status, users, visibility,
};
use crate::error::ApiResult;
use crate::events;
use crate::events::Audience;
use crate::store::{StoreError, Tx};
use crate::types::{Role, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use tokio::sync::mpsc;

/// A job of the deactivation of a user with their bots.
pub type Job = Box<dyn FnOnce(&mut Tx<'_>) -> ApiResult<Part> + Send>;

/// The result of one job.
pub enum Part {
    /// There was nothing to do.
    Unchanged,
    /// Follow-up jobs do the rest.
    Unfinished,
    /// The user is deactivated.
    Done,
}

/// Deactivates a user, their bots first, revokes their invitations, and ends the pending polls of all. Returns false if there was
/// nothing to do. This takes as many jobs as needed, because each bot may be in hundreds of channels. Each job begins with
/// `choose`, which returns the user, or `None` if there is nothing to do; the last one calls `end` on the user. The caller runs
/// the first job in `run_first`. Follow-up jobs do the rest, even if the caller is gone.
pub async fn deactivate_with_bots<F: Future<Output = ApiResult<Part>>>(
    choose: impl FnMut(&Tx<'_>) -> ApiResult<Option<UserRow>> + Send + 'static,
    end: impl FnOnce(&mut Tx<'_>, &UserRow) -> ApiResult<()> + Send + 'static,
    run_first: impl FnOnce(Job) -> F,
) -> ApiResult<bool> {
    let (sender, mut later) = mpsc::unbounded_channel();
    let jobs = Jobs { choose, end, sender };
    let mut part = run_first(Box::new(move |tx: &mut Tx<'_>| jobs.run(tx))).await?;
    loop {
        match part {
            Part::Unchanged => return Ok(false),
            Part::Unfinished => part = later.recv().await.ok_or(StoreError::Stopped)??,
            Part::Done => return Ok(true),
        }
    }
}

/// The jobs that are left.
struct Jobs<C, E> {
    choose: C,
    end: E,
    sender: mpsc::UnboundedSender<ApiResult<Part>>,
}

impl<C, E> Jobs<C, E>
where
    C: FnMut(&Tx<'_>) -> ApiResult<Option<UserRow>> + Send + 'static,
    E: FnOnce(&mut Tx<'_>, &UserRow) -> ApiResult<()> + Send + 'static,
{
    /// Deactivates some bots of the user, and then the user if there is time.
    fn run(mut self, tx: &mut Tx<'_>) -> ApiResult<Part> {
        let Some(user) = (self.choose)(tx)? else { return Ok(Part::Unchanged) };
        revoke_invitations(tx, &user)?;
        let mut budget = tx.budget("deactivate");
        for bot in users::active_bots_of(tx, user.user_id)? {
            if !budget.next_step() {
                return Ok(self.run_later(tx));
            }
            deactivate(tx, &bot)?;
        }
        if !budget.next_step() {
            return Ok(self.run_later(tx));
        }
        (self.end)(tx, &user)?;
        Ok(Part::Done)
    }

    fn run_later(self, tx: &mut Tx<'_>) -> Part {
        let sender = self.sender.clone();
        tx.then_report(
            move |tx| self.run(tx),
            move |result: ApiResult<Part>| {
                // The caller may be gone.
                let _gone = sender.send(result);
            },
        );
        Part::Unfinished
    }
}

fn revoke_invitations(tx: &mut Tx<'_>, user: &UserRow) -> ApiResult<()> {
    if invites::revoke_all_of(tx, user.user_id, tx.now())? {
        tx.audit(Entry::new(Action::InvitationRevoked, user.user_id).before("all"))?;
        invites::events::changed(tx, None)?;
    }
    Ok(())
}

/// Deactivates a user who has no active bots, or a bot.
pub fn deactivate(tx: &mut Tx<'_>, user: &UserRow) -> ApiResult<()> {
    // Files that nothing links to are removed at once.
    tx.wake_tasks_after_commit();
    tx.audit(Entry::new(Action::AccountDeactivated, user.user_id))?;
    visibility::with_events(tx, Scope::Account(user), |tx| {
        emit_channels_left(tx, user)?;
        users::set_active(tx, user.user_id, false)?;
        end_spans(tx, user.user_id)?;
        sessions::end_others(tx, user.user_id, None)?;
        phones::end_phones(tx, user.user_id)?;
        password::delete_resets(tx, user.user_id)?;
        mail::outbox::withdraw_of_user(tx, user.user_id)?;
        mail::confirmation::delete_of_user(tx, user.user_id)?;
        events::delete_queues_of(tx, user.user_id)?;
        files::expire_unclaimed_of(tx, user.user_id)?;
        let after = UserRow { is_active: false, ..user.clone() };
        let who = access::users::users_with_access_to(tx, &after)?;
        tx.emit(activity(user.user_id, false), Audience::set(who));
        bots::events::emit_updated(tx, user, BotChange::IsActive(false))
    })
}

/// Emits the end of a user's subscriptions to those who can see the channels. Neighbouring channels with the same viewers share
/// an event.
fn emit_channels_left(tx: &mut Tx<'_>, user: &UserRow) -> ApiResult<()> {
    let mut viewers = ChannelViewers::load(tx, UserFilter::Everyone, tx.now())?;
    let users = user.user_id.bit().into_iter().collect();
    let mut left: Vec<(StreamRow, RoaringBitmap)> = Vec::new();
    for own in subscriptions::list_active(tx, user.user_id)? {
        if let Some(stream) = rows::channel::by_id(tx, own.stream_id)? {
            let seen = viewers.users_who_can_see(tx, &stream)? - &users;
            left.push((stream, seen));
        }
    }
    for group in left.chunk_by(|one, other| one.0.is_archived == other.0.is_archived && one.1 == other.1) {
        let Some((stream, seen)) = group.first() else { continue };
        let stream_ids = group.iter().map(|(stream, _)| stream.stream_id).collect();
        let event = PeersChanged::removed(stream_ids, &users, stream.is_archived);
        tx.emit(event, Audience::set(seen.clone()));
    }
    Ok(())
}

/// Ends the spans of a user's subscriptions: a deactivated user receives no messages.
fn end_spans(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    let next = subscriptions::next_message_id(tx)?;
    for own in subscriptions::list_active(tx, user_id)? {
        subscriptions::close_span(tx, user_id, own.stream_id, next)?;
    }
    Ok(())
}

/// Begins new spans of a user's subscriptions. Open spans of accounts that older versions deactivated continue.
fn begin_spans(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    end_spans(tx, user_id)?;
    let next = subscriptions::next_message_id(tx)?;
    for own in subscriptions::list_active(tx, user_id)? {
        subscriptions::open_span(tx, user_id, own.stream_id, next)?;
    }
    Ok(())
}

/// Reactivates an account, and ends all its keys and sessions of before. A person logs in again; a bot has a new key. A bot
/// whose owner is deactivated is given to `by`, and one whose owner has become a guest becomes a guest.
pub fn reactivate(tx: &mut Tx<'_>, user: &UserRow, by: Actor) -> ApiResult<()> {
    tx.audit(Entry::new(Action::AccountReactivated, user.user_id))?;
    let set_active = |tx: &mut Tx<'_>| {
        logins::end_all(tx, user.user_id)?;
        password::delete_resets(tx, user.user_id)?;
        users::set_active(tx, user.user_id, true)?;
        begin_spans(tx, user.user_id)
    };
    let after = UserRow { is_active: true, ..user.clone() };
    visibility::with_events_between(tx, Scope::Account(user), set_active, |tx, (), changes| {
        let who = access::users::users_with_access_to(tx, &after)? - changes.gained_user(user.user_id);
        tx.emit(activity(user.user_id, true), Audience::set(who.clone()));
        // Clients do not keep these of deactivated users.
        user_status::introduce(tx, &after, &who)?;
        presence::introduce(tx, user.user_id, &who)?;
        bots::events::emit_updated(tx, &after, BotChange::IsActive(true))?;
        if user.is_bot() {
            return Ok(());
        }
        let consented = user_settings::ALLOW_PRIVATE_DATA_EXPORT.get(tx, user.user_id)?;
        emit_export_consent(tx, user.user_id, consented)
    })?;
    if user.is_bot() { renew_bot(tx, &after, by) } else { notices::ownership::reactivated(tx, &after, by) }
}

/// Gives a reactivated bot its new key, and an owner if it has no active one.
fn renew_bot(tx: &mut Tx<'_>, bot: &UserRow, by: Actor) -> ApiResult<()> {
    let owner = rows::user::owner(tx, bot.bot_owner_id)?;
    if let Actor::User(user_id) = by
        && !has_active_owner(tx, bot)?
        && let Some(new_owner) = rows::user::by_id(tx, user_id)?
    {
        return handover::give(tx, bot, &new_owner, by).map(|_| ());
    }
    bots::change::regenerate_key(tx, bot)?;
    let Some(owner) = owner else { return Ok(()) };
    if owner.role == Role::Guest && bot.role != Role::Guest {
        role::change(tx, bot, Role::Guest, by)?;
    }
    notices::ownership::bot_reactivated(tx, &owner, bot, by)
}

/// True if a bot has an active owner. Otherwise it gets another owner when it is reactivated.
pub fn has_active_owner(connection: &Connection, bot: &UserRow) -> ApiResult<bool> {
    Ok(rows::user::owner(connection, bot.bot_owner_id)?.is_some_and(|owner| owner.is_active))
}

fn activity(user_id: UserId, is_active: bool) -> UserUpdated {
    UserUpdated::new(user_id, UserChange::Activity { is_active })
}
