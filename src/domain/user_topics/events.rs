//! Events about a user's policies, for their own clients.

use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::user_topics::sql;
use crate::domain::user_topics::sql::UserTopic;
use crate::error::ApiResult;
use crate::events::{Audience, Event, Form, Receiver};
use crate::store::Tx;
use crate::types::{EmptyTopic, StreamId, Topic, UserId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// `user_topic`: the user's visibility policy for a topic changed.
#[derive(Clone, Serialize, Deserialize)]
pub struct UserTopicChanged {
    /// The id of the channel.
    stream_id: StreamId,
    /// The topic.
    topic_name: String,
    /// When the policy was changed, in UNIX seconds.
    last_updated: i64,
    /// The new policy: 0 none, 1 muted, 2 unmuted, 3 followed. With 0, the topic is muted if the channel is.
    visibility_policy: VisibilityPolicy,
}

impl UserTopicChanged {
    /// The policy for a topic, for clients that accept this form of the empty topic.
    pub fn new(topic: &UserTopic, empty: EmptyTopic) -> Self {
        Self {
            stream_id: topic.stream_id,
            topic_name: empty.show(&topic.topic_name).to_owned(),
            last_updated: topic.last_updated,
            visibility_policy: topic.visibility_policy,
        }
    }
}

impl Event for UserTopicChanged {
    const TYPE: &'static str = "user_topic";
    const VERSION: u32 = 1;
    type Routing = ();
    type Variant = EmptyTopic;

    fn deliver(&self, _routing: &(), receiver: &Receiver<'_>) -> Option<EmptyTopic> {
        Some(receiver.registration.empty_topic())
    }

    fn form(&self, _routing: &(), empty: EmptyTopic) -> serde_json::Result<Form> {
        Form::of(&Self { topic_name: empty.show(&self.topic_name).to_owned(), ..self.clone() })
    }
}

/// `muted_topics`: the topics that the user has muted changed. Deprecated since feature level 134: use `user_topic`.
#[derive(Serialize, Deserialize)]
pub struct MutedTopicsChanged {
    /// All topics that the user has muted, as lists of the channel's name, the topic, and when it was muted in UNIX
    /// seconds.
    muted_topics: Vec<MutedTopic>,
}

/// Channel name, topic, and when it was muted, UNIX seconds.
#[derive(Clone, Serialize, Deserialize)]
pub struct MutedTopic(String, String, i64);

impl MutedTopic {
    /// The topic as clients with or without the empty topic get it.
    #[must_use]
    pub fn shown(&self, empty: EmptyTopic) -> Self {
        Self(self.0.clone(), empty.show(&self.1).to_owned(), self.2)
    }
}

impl Event for MutedTopicsChanged {
    const TYPE: &'static str = "muted_topics";
    const VERSION: u32 = 1;
    type Routing = ();
    type Variant = EmptyTopic;

    /// Clients that asked for `user_topic` by name do not need the older event.
    fn deliver(&self, _routing: &(), receiver: &Receiver<'_>) -> Option<EmptyTopic> {
        let registration = receiver.registration;
        let asked_for_newer =
            registration.event_types.is_some() && registration.wants(UserTopicChanged::TYPE);
        (!asked_for_newer).then(|| registration.empty_topic())
    }

    fn form(&self, _routing: &(), empty: EmptyTopic) -> serde_json::Result<Form> {
        Form::of(&Self { muted_topics: self.muted_topics.iter().map(|topic| topic.shown(empty)).collect() })
    }
}

/// Lists the muted topics of a user, those in channels that are not archived.
pub fn muted_of(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<MutedTopic>> {
    sql::map_muted(connection, user_id, |stream_name, topic_name, last_updated| {
        MutedTopic(stream_name, topic_name, last_updated)
    })
}

/// Emits the events of a policy that was just written to its user. The list of muted topics is sent if the topic was in it
/// or is now.
pub fn emit(
    tx: &mut Tx<'_>,
    user_id: UserId,
    stream_id: StreamId,
    topic: &Topic,
    before: VisibilityPolicy,
    visibility_policy: VisibilityPolicy,
) -> ApiResult<()> {
    if [before, visibility_policy].contains(&VisibilityPolicy::Muted) {
        let muted_topics = muted_of(tx, user_id)?;
        tx.emit(MutedTopicsChanged { muted_topics }, Audience::user(user_id));
    }
    emit_changed(tx, [user_id], stream_id, topic, visibility_policy);
    Ok(())
}

/// Emits the same policy to each of some users, for whom it was just written. Neither it nor the one before mutes the topic.
pub fn emit_changed(
    tx: &mut Tx<'_>,
    user_ids: impl IntoIterator<Item = UserId>,
    stream_id: StreamId,
    topic: &Topic,
    visibility_policy: VisibilityPolicy,
) {
    let changed = UserTopicChanged {
        stream_id,
        topic_name: topic.as_str().to_owned(),
        last_updated: tx.now(),
        visibility_policy,
    };
    tx.emit(changed, Audience::users(user_ids));
}
