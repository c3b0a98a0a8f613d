//! Validation of messages, and permissions to edit and delete: pure functions over loaded facts.
//!
//! [`direct_messages`] and [`mentions`] load the facts of their rules themselves.

pub mod direct_messages;
pub mod mentions;

use crate::auth::Caller;
use crate::domain::limits::MAX_MESSAGE_LENGTH;
use crate::domain::messages::markup::shortened;
use crate::domain::messages::record::{EditRecord, MessageRow};
use crate::domain::realm::settings::RealmSetting;
use crate::error::{ApiError, ApiResult};
use crate::types::{SettingValue, Shape};
use rusqlite::Connection;
use serde::Deserialize;

/// `message_edit_history_visibility_policy` of the organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditHistoryVisibility {
    /// Everything.
    All,
    /// Only moves, without earlier versions of the content.
    Moves,
    /// Nothing.
    None,
}

impl SettingValue for EditHistoryVisibility {
    const SHAPE: Shape = Shape::Text;
}

impl EditHistoryVisibility {
    const SETTING: RealmSetting<Self> = RealmSetting::of("message_edit_history_visibility_policy");

    /// Loads the policy of the organization.
    pub fn load(connection: &Connection) -> ApiResult<Self> {
        Self::SETTING.get(connection)
    }

    /// The visible part of a history.
    pub fn filter(self, edits: Vec<EditRecord>) -> Vec<EditRecord> {
        match self {
            Self::All => edits,
            Self::Moves => edits.into_iter().filter_map(EditRecord::only_move).collect(),
            Self::None => Vec::new(),
        }
    }
}

/// Seconds after the time limit within which an edit is still accepted.
const EDIT_GRACE_SECONDS: i64 = 20;

/// Normalizes a message's content, however it comes in: [`trimmed`], not empty, and truncated to the maximum length.
pub fn content(text: &str) -> ApiResult<String> {
    let text = trimmed(text)?;
    if text.is_empty() {
        return Err(ApiError::bad_request("Message must not be empty"));
    }
    Ok(shortened(text, MAX_MESSAGE_LENGTH))
}

/// Removes white space at the end and line feeds at the start. Spaces at the start are Markdown.
pub fn trimmed(text: &str) -> ApiResult<&str> {
    if text.contains('\0') {
        return Err(ApiError::bad_request("Message must not contain null bytes"));
    }
    Ok(text.trim_end().trim_start_matches('\n'))
}

/// True if messages from a client program count as read by their sender by default: true for programs of people, not of
/// bots.
pub fn is_read_by_sender(client: &str) -> bool {
    const PEOPLES_CLIENTS: [&str; 10] = [
        "zulipandroid",
        "zulipios",
        "zulipdesktop",
        "zulipmobile",
        "zulipelectron",
        "zulipterminal",
        "snipe",
        "website",
        "ios",
        "android",
    ];
    PEOPLES_CLIENTS.contains(&client.to_lowercase().as_str())
}

/// The facts that decide whether a message's content may be edited.
#[derive(Clone, Copy, Debug)]
pub struct EditFacts {
    /// `allow_message_editing` of the organization.
    pub editing_allowed: bool,
    /// `message_content_edit_limit_seconds`; `None`: no limit.
    pub limit_seconds: Option<i64>,
    /// The current time in UNIX seconds.
    pub now: i64,
}

/// Checks that a caller may edit a message's content: only its sender may, within the time limit.
pub fn check_may_edit_content(caller: &Caller, message: &MessageRow, facts: EditFacts) -> ApiResult<()> {
    if !facts.editing_allowed {
        return Err(ApiError::bad_request("Your organization has turned off message editing"));
    }
    if message.sender_id != caller.user_id {
        return Err(ApiError::bad_request("You don't have permission to edit this message"));
    }
    if let Some(limit) = facts.limit_seconds
        && facts.now - message.timestamp > limit + EDIT_GRACE_SECONDS
    {
        return Err(ApiError::bad_request("The time limit for editing this message has passed"));
    }
    Ok(())
}

/// The facts that decide whether a message may be deleted.
#[derive(Clone, Copy, Debug)]
pub struct DeleteFacts {
    /// True if the caller is in the organization's or the channel's `can_delete_any_message_group`.
    pub may_delete_any: bool,
    /// True if the caller is in the organization's or the channel's `can_delete_own_message_group`.
    pub may_delete_own: bool,
    /// True if the caller sent it, or owns the bot that did.
    pub is_own: bool,
    /// `message_content_delete_limit_seconds`; `None`: no limit.
    pub limit_seconds: Option<i64>,
    /// Age of the message in seconds.
    pub age: i64,
}

/// Checks that a message may be deleted.
pub fn check_may_delete(facts: DeleteFacts) -> ApiResult<()> {
    if facts.may_delete_any {
        return Ok(());
    }
    if !facts.is_own || !facts.may_delete_own {
        return Err(ApiError::bad_request("You don't have permission to delete this message"));
    }
    if facts.limit_seconds.is_some_and(|limit| facts.age > limit) {
        return Err(ApiError::bad_request("The time limit for deleting this message has passed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // conformance: send-23
    #[test]
    fn content_is_cut_and_refused_as_published() {
        assert_eq!(content("  hello \n\n").unwrap(), "  hello");
        assert_eq!(content("\n\n/me waves").unwrap(), "/me waves");
        assert_eq!(content("\n  \n code\n").unwrap(), "  \n code");
        for empty in ["", "  ", "\n\t "] {
            assert_eq!(content(empty).unwrap_err().msg(), "Message must not be empty");
        }
        assert_eq!(content("a\0b").unwrap_err().msg(), "Message must not contain null bytes");
        let exact = "é".repeat(MAX_MESSAGE_LENGTH);
        assert_eq!(content(&exact).unwrap(), exact);
        let cut = content(&"é".repeat(MAX_MESSAGE_LENGTH + 1)).unwrap();
        assert_eq!(cut.chars().count(), MAX_MESSAGE_LENGTH);
        assert!(cut.ends_with("é\n[message truncated]"));
    }

    // conformance: delete-7
    #[test]
    fn deletion_is_refused_by_permissions_and_time_limits() {
        let facts = |may_delete_any, may_delete_own, is_own, limit_seconds, age| DeleteFacts {
            may_delete_any,
            may_delete_own,
            is_own,
            limit_seconds,
            age,
        };
        let no = "You don't have permission to delete this message";
        let late = "The time limit for deleting this message has passed";
        let cases = [
            (facts(true, false, false, Some(1), 99), None),
            (facts(false, true, true, None, 99), None),
            (facts(false, true, true, Some(99), 99), None),
            (facts(false, true, true, Some(98), 99), Some(late)),
            (facts(false, true, false, None, 0), Some(no)),
            (facts(false, false, true, None, 0), Some(no)),
        ];
        for (facts, refusal) in cases {
            assert_eq!(check_may_delete(facts).err().as_ref().map(ApiError::msg), refusal, "{facts:?}");
        }
    }

    // conformance: send-26
    #[test]
    fn messages_are_read_by_default_for_clients_of_people() {
        assert!(is_read_by_sender("ZulipTerminal"));
        assert!(!is_read_by_sender("ZulipPython"));
    }
}
