//! Rules for the properties of channels: names, descriptions, retention, privacy, and figures about activity.

use crate::auth::Caller;
use crate::domain::groups::system::SystemGroup;
use crate::domain::limits::{Accounts, MAX_DESCRIPTIONS_OF_CREATOR, MAX_STREAM_NAME_LENGTH, organization};
use crate::domain::look_alikes::Named;
use crate::domain::{look_alikes, rows};
use crate::error::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::property::LIMITS;
use crate::types::{GroupId, JsonOrText, SECONDS_PER_DAY, StreamId, UserId, find_forbidden_in_name};
use rusqlite::Connection;
use serde_json::Value;

/// The time without messages after which a channel is not recently active any more, in seconds.
const RECENTLY_ACTIVE: i64 = 180 * SECONDS_PER_DAY;

/// The time over which traffic is averaged, in days.
pub const TRAFFIC_DAYS: i64 = 28;

/// Checks a channel name, and returns it trimmed.
pub fn name(text: &str) -> ApiResult<String> {
    let name = text.trim();
    if name.is_empty() {
        return Err(ApiError::bad_request("Channel name can't be empty."));
    }
    if name.chars().count() > MAX_STREAM_NAME_LENGTH {
        return Err(ApiError::bad_request(format!(
            "Channel name too long (limit: {MAX_STREAM_NAME_LENGTH} characters)."
        )));
    }
    match find_forbidden_in_name(name) {
        None => Ok(name.to_owned()),
        Some(index) => Err(ApiError::bad_request(format!(
            "Invalid character in channel name, at position {}.",
            index + 1
        ))),
    }
}

/// True if another channel than `own` has the same or a similar name, including archived ones.
pub fn looks_like_another(connection: &Connection, name: &str, own: Option<StreamId>) -> ApiResult<bool> {
    for id in look_alikes::list(connection, Named::Stream, name)? {
        let other = rows::channel::by_id(connection, StreamId(id))?;
        let other = other.filter(|other| Some(other.stream_id) != own);
        if other.is_some_and(|other| look_alikes::is_confusable(name, &other.name)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Converts a description to one line: line breaks become spaces.
pub fn description(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\n', '\r'], " ")
}

/// Checks the limit on the descriptions of channels of one creator together, including those written by this job.
/// Clients receive all of them in one answer.
pub fn check_descriptions(tx: &Tx<'_>, caller: &Caller, creator_id: UserId) -> ApiResult<()> {
    let statement = "SELECT sum(octet_length(description) + octet_length(rendered_description)) FROM stream
                     WHERE creator_id IN (SELECT value FROM json_each(?1))";
    let what = "descriptions of one creator's channels";
    let accounts = Accounts::of(tx, creator_id, tx.now())?;
    accounts.check_length(what, statement, MAX_DESCRIPTIONS_OF_CREATOR)?;
    organization::check_descriptions(tx, caller)
}

/// Parses `message_retention_days`. Returns `None` for `realm_default`, -1 for `unlimited`.
pub fn retention(value: &JsonOrText) -> ApiResult<Option<i64>> {
    let word = match value {
        JsonOrText::Text(text) | JsonOrText::Json(Value::String(text)) => text.as_str(),
        JsonOrText::Json(number) => {
            return match number.as_i64() {
                Some(days) if LIMITS.contains(&days) => Ok(Some(days)),
                _ => Err(bad_retention(&number.to_string())),
            };
        }
    };
    match word {
        "realm_default" => Ok(None),
        "unlimited" => Ok(Some(-1)),
        other => Err(bad_retention(other)),
    }
}

fn bad_retention(value: &str) -> ApiError {
    ApiError::bad_value("message_retention_days", value)
}

/// The properties that determine who can read a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Privacy {
    /// True if the channel is private.
    pub invite_only: bool,
    /// True if it can be read without an account.
    pub is_web_public: bool,
    /// True if subscribers can read messages that were sent before they subscribed.
    pub history_public_to_subscribers: bool,
}

impl Privacy {
    /// The privacy of a new channel. The history of a private channel is protected by default, that of others never is.
    pub fn new(invite_only: bool, is_web_public: bool, history: Option<bool>) -> ApiResult<Self> {
        if invite_only && is_web_public {
            return Err(invalid_parameters());
        }
        let history_public_to_subscribers = !invite_only || history.unwrap_or(false);
        Ok(Self { invite_only, is_web_public, history_public_to_subscribers })
    }

    /// The privacy after a change. Fails if the properties contradict each other.
    pub fn changed(
        self,
        invite_only: Option<bool>,
        is_web_public: Option<bool>,
        history: Option<bool>,
    ) -> ApiResult<Self> {
        let default_history = invite_only.map_or(self.history_public_to_subscribers, |private| !private);
        let changed = Self {
            invite_only: invite_only.unwrap_or(self.invite_only),
            is_web_public: is_web_public.unwrap_or(self.is_web_public),
            history_public_to_subscribers: history.unwrap_or(default_history),
        };
        let contradicts_itself = (changed.is_web_public && changed.invite_only)
            || (!changed.invite_only && !changed.history_public_to_subscribers);
        if contradicts_itself { Err(invalid_parameters()) } else { Ok(changed) }
    }
}

fn invalid_parameters() -> ApiError {
    ApiError::bad_request("Invalid parameters")
}

/// The deprecated number for the posting permission.
pub fn stream_post_policy(group: Option<GroupId>) -> i64 {
    match group.and_then(SystemGroup::with_id) {
        Some(SystemGroup::Administrators) => 2,
        Some(SystemGroup::FullMembers) => 3,
        Some(SystemGroup::Moderators) => 4,
        _ => 1,
    }
}

/// `is_recently_active`: whether the channel or its newest message is less than 180 days old. All times in UNIX
/// seconds.
pub fn is_recently_active(now: i64, date_created: i64, newest: Option<i64>) -> bool {
    now < active_until(date_created, newest)
}

/// The time from which on a channel is not recently active, unless it gets another message, in UNIX seconds.
pub fn active_until(date_created: i64, newest: Option<i64>) -> i64 {
    newest.unwrap_or(date_created).saturating_add(RECENTLY_ACTIVE)
}

/// True for channels younger than a week, which have no `stream_weekly_traffic`.
pub fn is_too_young_for_traffic(age_seconds: i64) -> bool {
    age_seconds < 7 * SECONDS_PER_DAY
}

/// `stream_weekly_traffic`: the average number of messages per week in the last 28 days, at least 1 if there were any.
pub fn weekly_traffic(messages: i64, age_seconds: i64) -> i64 {
    let age_days = age_seconds.div_euclid(SECONDS_PER_DAY);
    let average = messages * 7 / age_days.clamp(7, TRAFFIC_DAYS);
    if average == 0 && messages > 0 { 1 } else { two_digits(average) }
}

/// Rounds to two significant digits, since the number is an estimate.
fn two_digits(number: i64) -> i64 {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    (number + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_checked_as_published() {
        let long = "é".repeat(61);
        let cases = [
            (" Verona ", Ok("Verona")),
            ("", Err("Channel name can't be empty.")),
            (" \t", Err("Channel name can't be empty.")),
            (&long, Err("Channel name too long (limit: 60 characters).")),
            (&long[2..], Ok(&long[2..])),
            ("a\nb", Err("Invalid character in channel name, at position 2.")),
            ("ab\u{fffe}", Err("Invalid character in channel name, at position 3.")),
            ("a\u{202e}b", Err("Invalid character in channel name, at position 2.")),
            ("ab\u{2066}", Err("Invalid character in channel name, at position 3.")),
        ];
        for (text, expected) in cases {
            let checked = name(text);
            let checked = checked.as_ref().map(String::as_str).map_err(ApiError::msg);
            assert_eq!(checked, expected, "{text:?}");
        }
    }

    #[test]
    fn descriptions_are_one_line() {
        assert_eq!(description("a\nb\r\nc\rd"), "a b c d");
    }

    #[test]
    fn retention_is_days_or_a_word() {
        let cases = [
            (JsonOrText::Json(json!(30)), Ok(Some(30))),
            (JsonOrText::Text("realm_default".into()), Ok(None)),
            (JsonOrText::Json(json!("realm_default")), Ok(None)),
            (JsonOrText::Text("unlimited".into()), Ok(Some(-1))),
            (JsonOrText::Json(json!("unlimited")), Ok(Some(-1))),
            (JsonOrText::Text("forever".into()), Err("Bad value for 'message_retention_days': forever")),
            (JsonOrText::Json(json!("20")), Err("Bad value for 'message_retention_days': 20")),
            (JsonOrText::Json(json!(0)), Err("Bad value for 'message_retention_days': 0")),
            (JsonOrText::Json(json!(-1)), Err("Bad value for 'message_retention_days': -1")),
            (JsonOrText::Json(json!(1.5)), Err("Bad value for 'message_retention_days': 1.5")),
            (JsonOrText::Json(json!(2_147_483_647)), Ok(Some(2_147_483_647))),
            (
                JsonOrText::Json(json!(2_147_483_648_i64)),
                Err("Bad value for 'message_retention_days': 2147483648"),
            ),
            (JsonOrText::Json(json!([])), Err("Bad value for 'message_retention_days': []")),
        ];
        for (value, expected) in cases {
            let read = retention(&value);
            assert_eq!(
                read.as_ref().map_err(ApiError::msg),
                expected.as_ref().map_err(|msg| *msg),
                "{value:?}"
            );
        }
    }

    fn privacy(invite_only: bool, is_web_public: bool, history_public_to_subscribers: bool) -> Privacy {
        Privacy { invite_only, is_web_public, history_public_to_subscribers }
    }

    #[test]
    fn new_channels_protect_history_only_in_private() {
        let cases = [
            ((false, false, None), Some(privacy(false, false, true))),
            ((false, false, Some(false)), Some(privacy(false, false, true))),
            ((false, true, None), Some(privacy(false, true, true))),
            ((true, false, None), Some(privacy(true, false, false))),
            ((true, false, Some(true)), Some(privacy(true, false, true))),
            ((true, true, None), None),
        ];
        for ((invite_only, web, history), expected) in cases {
            assert_eq!(
                Privacy::new(invite_only, web, history).ok(),
                expected,
                "{invite_only} {web} {history:?}"
            );
        }
    }

    #[test]
    fn changes_of_privacy_may_not_contradict_themselves() {
        let public = privacy(false, false, true);
        let web = privacy(false, true, true);
        let shared = privacy(true, false, true);
        let protected = privacy(true, false, false);
        let cases = [
            (public, (Some(true), None, None), Some(protected)),
            (public, (Some(true), None, Some(true)), Some(shared)),
            (public, (None, Some(true), None), Some(web)),
            (public, (None, None, Some(false)), None),
            (protected, (Some(false), None, None), Some(public)),
            (protected, (None, None, Some(true)), Some(shared)),
            (protected, (None, Some(true), None), None),
            (protected, (Some(false), Some(true), None), Some(web)),
            (protected, (Some(false), None, Some(false)), None),
            (web, (Some(true), None, None), None),
            (web, (Some(true), Some(false), None), Some(protected)),
        ];
        for (before, (invite_only, is_web_public, history), expected) in cases {
            let after = before.changed(invite_only, is_web_public, history);
            assert_eq!(after.ok(), expected, "{before:?} {invite_only:?} {is_web_public:?} {history:?}");
        }
    }

    #[test]
    fn posting_policies_keep_their_old_numbers() {
        let cases = [
            (SystemGroup::Everyone, 1),
            (SystemGroup::Administrators, 2),
            (SystemGroup::FullMembers, 3),
            (SystemGroup::Moderators, 4),
            (SystemGroup::Owners, 1),
        ];
        for (group, expected) in cases {
            assert_eq!(stream_post_policy(Some(group.id())), expected, "{group:?}");
        }
        assert_eq!(stream_post_policy(None), 1);
    }

    #[test]
    fn traffic_is_an_average_of_weeks() {
        let day = SECONDS_PER_DAY;
        let cases = [
            (0, 7 * day, 0),
            (7, 7 * day, 7),
            (20, 14 * day, 10),
            (1, 28 * day, 1),
            (400, 1000 * day, 100),
            (4940, 28 * day, 1200),
            (5060, 28 * day, 1300),
        ];
        assert!(is_too_young_for_traffic(7 * day - 1) && !is_too_young_for_traffic(7 * day));
        for (messages, age, expected) in cases {
            assert_eq!(weekly_traffic(messages, age), expected, "{messages} in {age}");
        }
    }
}
