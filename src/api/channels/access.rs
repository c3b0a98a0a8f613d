//! Who may see a channel, read it and post to it (feature levels 333, 349, 354, 357).
//!
//! A channel that the caller may not see is not found: it is loaded through [`find_for_content`] or
//! [`find_for_metadata`], which refuse it in the words of a channel that does not exist.

use super::row::StreamRow;
pub use super::settings::StreamSetting;
use super::sql;
use crate::api::groups::membership::Membership;
use crate::api::subscriptions;
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::StreamId;
use rusqlite::Connection;

/// A channel whose messages the caller may read.
pub fn find_for_content(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    stream_id: StreamId,
) -> ApiResult<StreamRow> {
    let stream = sql::by_id(connection, stream_id)?.ok_or_else(no_such_channel)?;
    if has_content_access(connection, caller, now, &stream)? { Ok(stream) } else { Err(no_such_channel()) }
}

/// A channel that the caller may know of.
pub fn find_for_metadata(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    stream_id: StreamId,
) -> ApiResult<StreamRow> {
    let stream = sql::by_id(connection, stream_id)?.ok_or_else(no_such_channel)?;
    if has_metadata_access(connection, caller, now, &stream)? { Ok(stream) } else { Err(no_such_channel()) }
}

/// Whether the caller may read messages of the channel: those of the time of their subscription, and with
/// [`has_full_history`] all of them.
pub fn has_content_access(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    stream: &StreamRow,
) -> ApiResult<bool> {
    Ok(standing(connection, caller, now, stream)?.may_read())
}

/// Whether the caller may know that the channel is there, and its settings.
pub fn has_metadata_access(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    stream: &StreamRow,
) -> ApiResult<bool> {
    Ok(standing(connection, caller, now, stream)?.may_know())
}

/// Whether the caller may read every message of the channel, also those from before they subscribed.
pub fn has_full_history(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    stream: &StreamRow,
) -> ApiResult<bool> {
    Ok(stream.has_public_history() && has_content_access(connection, caller, now, stream)?)
}

/// Whether somebody with these groups may post. That they may read the channel is asked apart.
pub fn may_post(connection: &Connection, membership: &Membership, stream: &StreamRow) -> ApiResult<bool> {
    is_in(connection, membership, stream.stream_id, StreamSetting::CanSendMessage)
}

/// Whether somebody with these groups has a permission in a channel.
pub fn is_in(
    connection: &Connection,
    membership: &Membership,
    stream_id: StreamId,
    setting: StreamSetting,
) -> ApiResult<bool> {
    Ok(membership.contains(setting.group_of(connection, stream_id)?))
}

/// The refusal of a channel that is not there, or not for the caller.
pub fn no_such_channel() -> ApiError {
    ApiError::bad_request("Invalid channel ID")
}

/// What decides whether somebody sees a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The channel is private.
    pub invite_only: bool,
    /// The channel can be read without an account.
    pub is_web_public: bool,
    /// The person is subscribed.
    pub is_subscribed: bool,
    /// The person is a guest.
    pub is_guest: bool,
    /// The person is an administrator of the organization.
    pub is_administrator: bool,
    /// The person may add subscribers, or subscribe without being asked to.
    pub may_subscribe: bool,
    /// The person may administer the channel.
    pub may_administer: bool,
}

impl Standing {
    /// Whether they may read messages. Groups do not let a guest in who is not subscribed.
    pub fn may_read(self) -> bool {
        self.is_web_public
            || self.is_subscribed
            || (!self.is_guest && (!self.invite_only || self.may_subscribe))
    }

    /// Whether they may know of the channel: whoever may read or change it, and administrators of the organization.
    pub fn may_know(self) -> bool {
        self.may_read() || self.is_administrator || (!self.is_guest && self.may_administer)
    }
}

/// Where the caller stands towards a channel. Groups are looked at only where they decide.
fn standing(connection: &Connection, caller: &Caller, now: i64, stream: &StreamRow) -> ApiResult<Standing> {
    let mut standing = Standing {
        invite_only: stream.invite_only,
        is_web_public: stream.is_web_public,
        is_guest: caller.is_guest(),
        is_administrator: caller.role.is_administrator(),
        ..Standing::default()
    };
    if standing.may_read() {
        return Ok(standing);
    }
    standing.is_subscribed = subscriptions::sql::is_subscribed(connection, caller.user_id, stream.stream_id)?;
    if standing.may_read() || standing.is_guest {
        return Ok(standing);
    }
    let membership = Membership::of(connection, caller.user_id, now)?;
    let holds = |setting| is_in(connection, &membership, stream.stream_id, setting);
    standing.may_subscribe = holds(StreamSetting::CanAddSubscribers)? || holds(StreamSetting::CanSubscribe)?;
    standing.may_administer = holds(StreamSetting::CanAdministerChannel)?;
    Ok(standing)
}
