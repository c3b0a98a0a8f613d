//! Validation and permissions of edits and moves: pure functions over loaded facts.

use crate::domain::messages::events::PropagateMode;
use crate::http::{ApiError, ApiResult};
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, Topic};

/// Seconds after a time limit within which a move is still accepted.
const GRACE_SECONDS: i64 = 20;

/// A change of topic that only adds or removes the mark of resolved topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolving {
    /// The mark was added.
    Resolved,
    /// The mark was removed.
    Unresolved,
}

impl Resolving {
    /// Compares two topics. The mark shortens a topic of nearly the maximum length.
    pub fn of(from: &Topic, to: &Topic) -> Option<Self> {
        let is_mark_of = |marked: &Topic, topic: &Topic| {
            let text = format!("{}{}", Topic::RESOLVED_PREFIX, topic.as_str());
            !topic.is_resolved() && Topic::from_client(&text).is_ok_and(|expected| expected == *marked)
        };
        if is_mark_of(to, from) {
            Some(Self::Resolved)
        } else if is_mark_of(from, to) {
            Some(Self::Unresolved)
        } else {
            None
        }
    }
}

/// True if the topic sent by a client is the mark of resolved topics before the empty topic.
pub fn resolves_empty_topic(text: &str) -> bool {
    let mark = Topic::RESOLVED_PREFIX.trim_end();
    text.trim().strip_prefix(mark).is_some_and(|rest| {
        let rest = rest.trim();
        rest.is_empty() || rest == EMPTY_TOPIC_DISPLAY_NAME || rest == "(no topic)"
    })
}

/// The changes that a request asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestedChanges {
    /// True if it has a content.
    pub content: bool,
    /// True if it has a topic.
    pub topic: bool,
    /// True if it has a channel.
    pub stream: bool,
    /// The messages that move.
    pub propagate_mode: PropagateMode,
    pub is_channel_message: bool,
    /// True if the message has a poll or to-do list.
    pub is_widget: bool,
}

/// Checks that the changes can be made together, and to this kind of message.
pub fn check_request(requested: RequestedChanges) -> ApiResult<()> {
    let refusal = if !requested.content && !requested.topic && !requested.stream {
        "Nothing to change"
    } else if requested.stream && !requested.is_channel_message {
        "Direct messages cannot be moved to channels."
    } else if requested.topic && !requested.is_channel_message {
        "Direct messages cannot have topics."
    } else if requested.propagate_mode != PropagateMode::ChangeOne && !requested.topic && !requested.stream {
        "Invalid propagate_mode without topic edit"
    } else if requested.stream && requested.content {
        "Cannot change message content while changing channel"
    } else if requested.content && requested.is_widget {
        "Widgets cannot be edited."
    } else {
        return Ok(());
    };
    Err(ApiError::bad_request(refusal))
}

/// The facts that decide whether a message may be moved.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoveFacts {
    /// Set if the change of topic resolves or unresolves it.
    pub resolving: Option<Resolving>,
    pub topic_changes: bool,
    /// True if the channel changes.
    pub stream_changes: bool,
    /// True if the caller may resolve topics.
    pub may_resolve: bool,
    /// True if the caller may move messages to other topics.
    pub may_move_within: bool,
    /// True if the caller may move messages out of the channel.
    pub may_move_out: bool,
    /// The caller's time limits.
    pub limits: TimeLimits,
    /// Age of the message in seconds.
    pub age: i64,
}

/// The age, in seconds, up to which messages can be moved; `None`: forever.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeLimits {
    /// `move_messages_within_stream_limit_seconds`.
    pub within_stream: Option<i64>,
    /// `move_messages_between_streams_limit_seconds`.
    pub between_streams: Option<i64>,
}

impl TimeLimits {
    /// The stricter limit of the changed properties, with the grace period.
    pub fn strictest(self, topic_changes: bool, stream_changes: bool) -> Option<i64> {
        let within = self.within_stream.filter(|_| topic_changes);
        let between = self.between_streams.filter(|_| stream_changes);
        let strictest = match (within, between) {
            (Some(within), Some(between)) => Some(within.min(between)),
            (within, between) => within.or(between),
        };
        strictest.map(|limit| limit + GRACE_SECONDS)
    }
}

/// Checks that a message may be moved. Resolving a topic has no time limit.
pub fn check_may_move(facts: MoveFacts) -> ApiResult<()> {
    let is_late = |limit: Option<i64>| limit.is_some_and(|limit| facts.age > limit + GRACE_SECONDS);
    let refusal = if facts.topic_changes && facts.resolving.is_some() && !facts.may_resolve {
        "You don't have permission to resolve topics."
    } else if facts.topic_changes && facts.resolving.is_none() && !facts.may_move_within {
        "You don't have permission to edit this message"
    } else if facts.topic_changes && facts.resolving.is_none() && is_late(facts.limits.within_stream) {
        "The time limit for editing this message's topic has passed."
    } else if facts.stream_changes && !facts.may_move_out {
        "You don't have permission to move this message."
    } else if facts.stream_changes && is_late(facts.limits.between_streams) {
        "The time limit for editing this message's channel has passed"
    } else {
        return Ok(());
    };
    Err(ApiError::bad_request(refusal))
}

/// The refusal to move a whole topic of which only the newest messages are within the time limit.
pub fn too_old(first_allowed: Option<i64>, total: usize, allowed: usize) -> ApiError {
    let msg =
        format!("You only have permission to move the {allowed}/{total} most recent messages in this topic.");
    ApiError::new(400, "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED", msg)
        .with("first_message_id_allowed_to_move", first_allowed)
        .with("total_messages_in_topic", total)
        .with("total_messages_allowed_to_move", allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    // conformance: move-28
    #[test]
    fn only_the_prefix_change_resolves() {
        let long = "x".repeat(60);
        let shortened = format!("✔ {}...", "x".repeat(55));
        let cases = [
            ("a", "✔ a", Some(Resolving::Resolved)),
            ("✔ a", "a", Some(Resolving::Unresolved)),
            (long.as_str(), shortened.as_str(), Some(Resolving::Resolved)),
            ("a", "✔ b", None),
            ("a", "✔a", None),
            ("✔ a", "✔ ✔ a", None),
            ("✔ ✔ a", "✔ a", None),
            ("✔ a", "b", None),
            ("a", "b", None),
            ("a", "A", None),
        ];
        for (from, to, expected) in cases {
            let (from, to) = (Topic::stored(from.to_owned()), Topic::stored(to.to_owned()));
            assert_eq!(Resolving::of(&from, &to), expected, "{from:?} {to:?}");
        }
        for (text, expected) in [
            ("✔", true),
            ("✔ ", true),
            ("✔ general chat", true),
            ("✔ (no topic)", true),
            ("✔ a", false),
            ("", false),
        ] {
            assert_eq!(resolves_empty_topic(text), expected, "{text:?}");
        }
    }

    #[test]
    fn contradictory_parameters_are_refused_as_published() {
        let letters = |asked: &str, propagate_mode| RequestedChanges {
            content: asked.contains('c'),
            topic: asked.contains('t'),
            stream: asked.contains('s'),
            is_channel_message: !asked.contains('d'),
            is_widget: asked.contains('w'),
            propagate_mode,
        };
        let cases = [
            ("", PropagateMode::ChangeAll, Some("Nothing to change")),
            ("dst", PropagateMode::ChangeOne, Some("Direct messages cannot be moved to channels.")),
            ("dt", PropagateMode::ChangeOne, Some("Direct messages cannot have topics.")),
            ("c", PropagateMode::ChangeLater, Some("Invalid propagate_mode without topic edit")),
            ("cs", PropagateMode::ChangeOne, Some("Cannot change message content while changing channel")),
            ("cw", PropagateMode::ChangeOne, Some("Widgets cannot be edited.")),
            ("tw", PropagateMode::ChangeAll, None),
            ("ct", PropagateMode::ChangeAll, None),
            ("dc", PropagateMode::ChangeOne, None),
        ];
        for (asked, mode, refusal) in cases {
            let found = check_request(letters(asked, mode)).err();
            assert_eq!(found.as_ref().map(ApiError::msg), refusal, "{asked} {mode:?}");
        }
    }

    // conformance: move-25
    #[test]
    fn moves_are_refused_by_permissions_and_time_limits() {
        let facts = |letters: &str, age| MoveFacts {
            resolving: letters.contains('r').then_some(Resolving::Resolved),
            topic_changes: letters.contains('t'),
            stream_changes: letters.contains('s'),
            may_resolve: letters.contains('R'),
            may_move_within: letters.contains('W'),
            may_move_out: letters.contains('O'),
            limits: TimeLimits { within_stream: Some(100), between_streams: Some(50) },
            age,
        };
        let cases = [
            ("tW", 120, None),
            ("tW", 121, Some("The time limit for editing this message's topic has passed.")),
            ("tO", 0, Some("You don't have permission to edit this message")),
            ("trW", 0, Some("You don't have permission to resolve topics.")),
            ("trR", 0, None),
            ("trR", 121, None),
            ("trsRO", 71, Some("The time limit for editing this message's channel has passed")),
            ("sO", 70, None),
            ("sO", 71, Some("The time limit for editing this message's channel has passed")),
            ("sW", 0, Some("You don't have permission to move this message.")),
            ("stO", 0, Some("You don't have permission to edit this message")),
            ("stWO", 0, None),
        ];
        for (letters, age, refusal) in cases {
            let found = check_may_move(facts(letters, age)).err();
            assert_eq!(found.as_ref().map(ApiError::msg), refusal, "{letters} {age}");
        }
        let limits = TimeLimits { within_stream: Some(100), between_streams: Some(50) };
        assert_eq!(limits.strictest(true, true), Some(70));
        assert_eq!(limits.strictest(true, false), Some(120));
        assert_eq!(TimeLimits::default().strictest(true, true), None);
    }
}
