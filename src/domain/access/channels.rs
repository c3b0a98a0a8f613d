//! Who may see a channel, read it and post to it (feature levels 333, 349, 354, 357).
//!
//! A channel that the caller may not see is not found: it is loaded through [`find_for_content`] or
//! [`find_for_metadata`], which refuse it in the words of a channel that does not exist.

use crate::domain::access::channel_rows;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::groups::membership::Membership;
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::StreamId;
use rusqlite::Connection;
use std::cell::OnceCell;

/// A channel whose messages the caller may read.
pub fn find_for_content(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    stream_id: StreamId,
) -> ApiResult<StreamRow> {
    let stream = channel_rows::by_id(connection, stream_id)?.ok_or_else(no_such_channel)?;
    if has_content_access(connection, caller, now, &stream)? { Ok(stream) } else { Err(no_such_channel()) }
}

/// A channel that the caller may know of.
pub fn find_for_metadata(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    stream_id: StreamId,
) -> ApiResult<StreamRow> {
    let stream = channel_rows::by_id(connection, stream_id)?.ok_or_else(no_such_channel)?;
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
pub fn standing(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    stream: &StreamRow,
) -> ApiResult<Standing> {
    Viewer::new(connection, caller, now).standing(stream)
}

/// Somebody who looks at many channels: what is known of them is asked once.
pub struct Viewer<'a> {
    connection: &'a Connection,
    caller: &'a Caller,
    now: i64,
    membership: OnceCell<Membership>,
}

impl<'a> Viewer<'a> {
    /// The caller, at a time in UNIX seconds.
    pub fn new(connection: &'a Connection, caller: &'a Caller, now: i64) -> Self {
        Self { connection, caller, now, membership: OnceCell::new() }
    }

    /// Their groups.
    pub fn membership(&self) -> ApiResult<&Membership> {
        if let Some(known) = self.membership.get() {
            return Ok(known);
        }
        let membership = Membership::of(self.connection, self.caller.user_id, self.now)?;
        Ok(self.membership.get_or_init(|| membership))
    }

    /// Whether they have a permission in a channel. None of the groups that may not be everybody's helps a guest.
    pub fn is_in(&self, stream: &StreamRow, setting: StreamSetting) -> ApiResult<bool> {
        is_in(self.connection, self.membership()?, stream.stream_id, setting)
    }

    /// Where they stand towards a channel.
    pub fn standing(&self, stream: &StreamRow) -> ApiResult<Standing> {
        let mut standing = Standing {
            invite_only: stream.invite_only,
            is_web_public: stream.is_web_public,
            is_guest: self.caller.is_guest(),
            is_administrator: self.caller.role.is_administrator(),
            ..Standing::default()
        };
        if standing.may_read() {
            return Ok(standing);
        }
        standing.is_subscribed =
            channel_rows::is_subscribed(self.connection, self.caller.user_id, stream.stream_id)?;
        if standing.may_read() || standing.is_guest {
            return Ok(standing);
        }
        standing.may_subscribe = self.is_in(stream, StreamSetting::CanAddSubscribers)?
            || self.is_in(stream, StreamSetting::CanSubscribe)?;
        standing.may_administer = self.is_in(stream, StreamSetting::CanAdministerChannel)?;
        Ok(standing)
    }

    /// Whether they may change a channel's settings: its administrators, and those of the organization.
    pub fn may_administer(&self, stream: &StreamRow) -> ApiResult<bool> {
        Ok(self.caller.role.is_administrator()
            || (!self.caller.is_guest() && self.is_in(stream, StreamSetting::CanAdministerChannel)?))
    }
}

/// A channel that the caller may change. Who may read it hears that they may not; to others it is not there.
pub fn find_to_administer(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    stream_id: StreamId,
) -> ApiResult<StreamRow> {
    let stream = channel_rows::by_id(connection, stream_id)?.ok_or_else(no_such_channel)?;
    let viewer = Viewer::new(connection, caller, now);
    if viewer.may_administer(&stream)? {
        return Ok(stream);
    }
    if viewer.standing(&stream)?.may_read() {
        let msg = "You do not have permission to administer this channel.";
        return Err(ApiError::new(400, "CANNOT_ADMINISTER_CHANNEL", msg));
    }
    Err(no_such_channel())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One letter for each fact that holds.
    fn standing(facts: &str) -> Standing {
        let holds = |letter| facts.contains(letter);
        Standing {
            invite_only: holds('p'),
            is_web_public: holds('w'),
            is_subscribed: holds('s'),
            is_guest: holds('g'),
            is_administrator: holds('a'),
            may_subscribe: holds('m'),
            may_administer: holds('c'),
        }
    }

    #[test]
    fn who_may_read_and_who_may_know() {
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
        for (facts, reads, knows) in cases {
            let standing = standing(facts);
            assert_eq!((standing.may_read(), standing.may_know()), (reads, knows), "{facts:?}");
        }
    }
}
