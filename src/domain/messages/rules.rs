//! What is valid, and who may: pure functions over loaded facts.

use crate::domain::limits::MAX_MESSAGE_LENGTH;
use crate::domain::messages::quote::shortened;
use crate::domain::messages::record::{EditRecord, MessageRow};
use crate::domain::realm::settings::RealmSetting;
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::{SettingValue, Shape};
use rusqlite::Connection;
use serde::Deserialize;

/// `message_edit_history_visibility_policy` of the organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Everything.
    All,
    /// Only where messages were moved, not what they said before.
    Moves,
    /// Nothing.
    None,
}

impl SettingValue for Visibility {
    const SHAPE: Shape = Shape::Text;
}

impl Visibility {
    const SETTING: RealmSetting<Self> = RealmSetting::of("message_edit_history_visibility_policy");

    /// The organization's.
    pub fn load(connection: &Connection) -> ApiResult<Self> {
        Self::SETTING.get(connection)
    }

    /// What may be seen of a history.
    pub fn show(self, edits: Vec<EditRecord>) -> Vec<EditRecord> {
        match self {
            Self::All => edits,
            Self::Moves => edits.into_iter().filter_map(EditRecord::only_move).collect(),
            Self::None => Vec::new(),
        }
    }
}

/// How much longer than the limit an edit is still taken: a person who saw the time run out was quick enough.
const EDIT_GRACE_SECONDS: i64 = 20;

/// Reads a message's content: trailing white space goes, what is too long is cut.
pub fn content(text: &str) -> ApiResult<String> {
    let text = text.trim_end();
    if text.trim_start().is_empty() {
        return Err(ApiError::bad_request("Message must not be empty"));
    }
    if text.contains('\0') {
        return Err(ApiError::bad_request("Message must not contain null bytes"));
    }
    Ok(shortened(text, MAX_MESSAGE_LENGTH))
}

/// Whether messages from a program count as read by their sender when it does not say. People read what they write; a
/// bot's owner may not have.
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

/// What decides whether somebody may change a message's content.
#[derive(Clone, Copy, Debug)]
pub struct EditFacts {
    /// `allow_message_editing` of the organization.
    pub editing_allowed: bool,
    /// `message_content_edit_limit_seconds`; `None`: no limit.
    pub limit_seconds: Option<i64>,
    /// UNIX seconds.
    pub now: i64,
}

/// Whether a message's content may be changed by a caller: only by who sent it, and only for a while.
pub fn may_edit_content(caller: &Caller, message: &MessageRow, facts: EditFacts) -> ApiResult<()> {
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

/// What decides whether somebody may delete a message.
#[derive(Clone, Copy, Debug)]
pub struct DeleteFacts {
    /// In the organization's or the channel's `can_delete_any_message_group`.
    pub may_delete_any: bool,
    /// In the organization's or the channel's `can_delete_own_message_group`.
    pub may_delete_own: bool,
    /// Whether the caller sent it, or owns the bot that did.
    pub is_own: bool,
    /// `message_content_delete_limit_seconds`; `None`: no limit.
    pub limit_seconds: Option<i64>,
    /// How old the message is, in seconds.
    pub age: i64,
}

/// Whether a message may be deleted.
pub fn may_delete(facts: DeleteFacts) -> ApiResult<()> {
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
    fn content_is_cut_and_refused_in_the_published_words() {
        assert_eq!(content("  hello \n\n").unwrap(), "  hello");
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
    fn who_may_delete() {
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
            assert_eq!(may_delete(facts).err().as_ref().map(ApiError::msg), refusal, "{facts:?}");
        }
    }

    // conformance: send-26
    #[test]
    fn peoples_clients_read_what_they_send() {
        assert!(is_read_by_sender("ZulipTerminal"));
        assert!(!is_read_by_sender("ZulipPython"));
    }
}
