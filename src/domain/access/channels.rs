//! Access to channels: who can see one, read it and post to it (feature levels 333, 349, 354, 357).
//!
//! [`AccessFacts`] has the rule. [`Viewer`] evaluates it for one user, [`super::channel_viewers`] for all users at once.
//!
//! A channel that the caller cannot see is not found: [`find_for_content`] and [`find_for_metadata`] refuse it in the
//! words for a channel that does not exist.

use crate::auth::Ctx;
use crate::domain::access::user_set::UserSet;
use crate::domain::access::visitors;
use crate::domain::groups::membership::Membership;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::rows;
use crate::domain::rows::channel::StreamRow;
use crate::error::{ApiError, ApiResult};
use crate::types::StreamId;
use std::cell::OnceCell;

/// A channel whose messages the caller may read.
pub fn find_for_content(ctx: Ctx<'_>, stream_id: StreamId) -> ApiResult<StreamRow> {
    Viewer::new(ctx).find_for_content(stream_id)
}

/// A channel that the caller can see.
pub fn find_for_metadata(ctx: Ctx<'_>, stream_id: StreamId) -> ApiResult<StreamRow> {
    Viewer::new(ctx).find_for_metadata(stream_id)
}

/// True if the caller may read messages of the channel: those received during their subscription, and with
/// [`Viewer::has_full_history`] all of them.
pub fn has_content_access(ctx: Ctx<'_>, stream: &StreamRow) -> ApiResult<bool> {
    Viewer::new(ctx).can_read(stream)
}

/// True if the caller may see the channel and its settings.
pub fn has_metadata_access(ctx: Ctx<'_>, stream: &StreamRow) -> ApiResult<bool> {
    Viewer::new(ctx).can_see(stream)
}

/// 400 `STREAM_DOES_NOT_EXIST` for a channel named by id.
pub fn no_channel_with_id(stream_id: i64) -> ApiError {
    let msg = format!("Channel with ID '{stream_id}' does not exist");
    ApiError::new(400, "STREAM_DOES_NOT_EXIST", msg).with("stream_id", stream_id)
}

/// 400 `STREAM_DOES_NOT_EXIST` for a channel named by its name.
pub fn no_channel_named(name: &str) -> ApiError {
    ApiError::new(400, "STREAM_DOES_NOT_EXIST", format!("Channel '{name}' does not exist"))
        .with("stream", name)
}

/// The error for a channel that does not exist or that the caller cannot access.
pub fn no_such_channel() -> ApiError {
    ApiError::bad_request("Invalid channel ID")
}

/// The inputs of the access rule of channels, for one user (`bool`) or for a set of users (a bitmap).
///
/// | a user who | reads | sees |
/// |---|---|---|
/// | has an account, and the channel is web-public | yes | yes |
/// | is subscribed | yes | yes |
/// | is no guest, and the channel is public | yes | yes |
/// | is no guest, and may subscribe themselves or others | yes | yes |
/// | is no guest, and may administer the channel | no | yes |
/// | is an administrator of the organization | no | yes |
///
/// Visitors, who have no account, have a rule of their own: [`visitors::may_read`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessFacts<S> {
    /// The channel is private.
    pub invite_only: bool,
    /// The channel can be read without an account.
    pub is_web_public: bool,
    /// Users with an active account, bots included.
    pub active: S,
    /// Users with the role guest, in this channel or not.
    pub guests: S,
    /// The administrators of the organization.
    pub administrators: S,
    /// Users with an active subscription to the channel.
    pub subscribers: S,
    /// Users who may add subscribers, or subscribe themselves without an invitation.
    pub may_subscribe: S,
    /// Users who may administer the channel.
    pub may_administer: S,
}

impl<S: UserSet> AccessFacts<S> {
    /// Users who can read messages.
    pub fn can_read(&self) -> S {
        if self.is_web_public {
            return self.active.clone();
        }
        let unsubscribed_readers = if self.invite_only { &self.may_subscribe } else { &self.active };
        self.subscribers.or(&unsubscribed_readers.without(&self.guests))
    }

    /// Users who can see the channel and its settings.
    pub fn can_see(&self) -> S {
        self.can_read().or(&self.administrators).or(&self.may_administer.without(&self.guests))
    }
}

/// A user who asks about channels. Their groups are loaded once.
pub struct Viewer<'a> {
    /// The user, the database and the time.
    pub ctx: Ctx<'a>,
    membership: OnceCell<Membership>,
}

impl<'a> Viewer<'a> {
    /// The caller of a context.
    pub fn new(ctx: Ctx<'a>) -> Self {
        Self { ctx, membership: OnceCell::new() }
    }

    /// The groups that the caller is in, directly and by subgroups.
    pub fn membership(&self) -> ApiResult<&Membership> {
        if let Some(known) = self.membership.get() {
            return Ok(known);
        }
        let membership = Membership::of(&self.ctx, self.ctx.caller.user_id, self.ctx.now)?;
        Ok(self.membership.get_or_init(|| membership))
    }

    /// True if the viewer has a permission in a channel. A guest never has one that may not be given to everyone, even
    /// through a group.
    pub fn has_permission(&self, stream: &StreamRow, setting: StreamSetting) -> ApiResult<bool> {
        if self.ctx.caller.is_guest() && !setting.permission().allow_everyone_group {
            return Ok(false);
        }
        Ok(self.membership()?.contains(setting.group_of(&self.ctx, stream.stream_id)?))
    }

    /// True if the viewer can read messages of a channel.
    pub fn can_read(&self, stream: &StreamRow) -> ApiResult<bool> {
        if self.ctx.caller.is_visitor() {
            return visitors::may_read(&self.ctx, stream);
        }
        Ok(self.facts(stream)?.can_read())
    }

    /// True if the viewer may read every message of a channel, including those from before they subscribed.
    pub fn has_full_history(&self, stream: &StreamRow) -> ApiResult<bool> {
        Ok(stream.has_public_history() && self.can_read(stream)?)
    }

    /// A channel whose messages the viewer may read.
    pub fn find_for_content(&self, stream_id: StreamId) -> ApiResult<StreamRow> {
        let stream = rows::channel::by_id(&self.ctx, stream_id)?.ok_or_else(no_such_channel)?;
        if self.can_read(&stream)? { Ok(stream) } else { Err(no_such_channel()) }
    }

    /// A channel that the viewer can see.
    pub fn find_for_metadata(&self, stream_id: StreamId) -> ApiResult<StreamRow> {
        let stream = rows::channel::by_id(&self.ctx, stream_id)?.ok_or_else(no_such_channel)?;
        if self.can_see(&stream)? { Ok(stream) } else { Err(no_such_channel()) }
    }

    /// True if the viewer can see a channel.
    pub fn can_see(&self, stream: &StreamRow) -> ApiResult<bool> {
        if self.ctx.caller.is_visitor() {
            return visitors::may_read(&self.ctx, stream);
        }
        Ok(self.facts(stream)?.can_see())
    }

    /// Loads the facts. Subscriptions and groups are loaded only if the other facts do not already grant access.
    fn facts(&self, stream: &StreamRow) -> ApiResult<AccessFacts<bool>> {
        let mut facts = AccessFacts {
            invite_only: stream.invite_only,
            is_web_public: stream.is_web_public,
            active: true,
            guests: self.ctx.caller.is_guest(),
            administrators: self.ctx.caller.role.is_administrator(),
            ..AccessFacts::default()
        };
        if facts.can_read() {
            return Ok(facts);
        }
        facts.subscribers =
            rows::channel::is_subscribed(&self.ctx, self.ctx.caller.user_id, stream.stream_id)?;
        if facts.subscribers || facts.guests {
            return Ok(facts);
        }
        facts.may_subscribe = self.has_permission(stream, StreamSetting::CanAddSubscribers)?
            || self.has_permission(stream, StreamSetting::CanSubscribe)?;
        facts.may_administer = self.has_permission(stream, StreamSetting::CanAdministerChannel)?;
        Ok(facts)
    }

    /// True if the viewer may change a channel's settings: its administrators, and those of the organization.
    pub fn may_administer(&self, stream: &StreamRow) -> ApiResult<bool> {
        Ok(self.ctx.caller.role.is_administrator()
            || self.has_permission(stream, StreamSetting::CanAdministerChannel)?)
    }
}

/// Loads a channel that the caller may change. A reader without the permission gets `CANNOT_ADMINISTER_CHANNEL`, everyone
/// else the error of a channel that does not exist.
pub fn find_to_administer(ctx: Ctx<'_>, stream_id: StreamId) -> ApiResult<StreamRow> {
    let stream = rows::channel::by_id(&ctx, stream_id)?.ok_or_else(no_such_channel)?;
    let viewer = Viewer::new(ctx);
    if viewer.may_administer(&stream)? {
        return Ok(stream);
    }
    if viewer.can_read(&stream)? {
        let msg = "You do not have permission to administer this channel.";
        return Err(ApiError::new(400, "CANNOT_ADMINISTER_CHANNEL", msg));
    }
    Err(no_such_channel())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One letter for each fact that holds.
    fn facts(letters: &str) -> AccessFacts<bool> {
        let holds = |letter| letters.contains(letter);
        AccessFacts {
            invite_only: holds('p'),
            is_web_public: holds('w'),
            active: true,
            subscribers: holds('s'),
            guests: holds('g'),
            administrators: holds('a'),
            may_subscribe: holds('m'),
            may_administer: holds('c'),
        }
    }

    #[test]
    fn reading_and_seeing_follow_the_rules() {
        // Private, web-public, subscribed, guest, administrator, may subscribe, may administer the channel.
        let cases = [
            ("", true, true),
            ("w", true, true),
            ("wg", true, true),
            ("g", false, false),
            ("gs", true, true),
            ("p", false, false),
            ("ps", true, true),
            ("pgs", true, true),
            ("pa", false, true),
            ("pas", true, true),
            ("pm", true, true),
            ("pc", false, true),
            ("pgm", false, false),
            ("pgc", false, false),
        ];
        for (letters, reads, sees) in cases {
            let facts = facts(letters);
            assert_eq!((facts.can_read(), facts.can_see()), (reads, sees), "{letters:?}");
        }
    }
}
