//! What a user's own clients hear of their policies, and their share of the `register` state.

use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::user_topics::sql;
use crate::domain::user_topics::sql::UserTopic;
use crate::events::{Audience, Event, EventType, Receiver, Verdict};
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use crate::types::shown_topic;
use crate::types::{StreamId, Topic, UserId};
use serde::Serialize;
use serde_json::{Value, json};

/// `user_topic`: the policy for a topic is another one now.
#[derive(Serialize)]
pub struct UserTopicChanged<'a> {
    r#type: &'static str,
    /// The channel.
    pub stream_id: StreamId,
    /// The topic.
    pub topic_name: &'a str,
    /// UNIX seconds.
    pub last_updated: i64,
    /// 0 when the topic is again as its channel.
    pub visibility_policy: VisibilityPolicy,
}

impl Event for UserTopicChanged<'_> {
    const TYPE: &'static str = "user_topic";
}

/// `muted_topics`: all muted topics, for clients that do not know of policies. Deprecated since feature level 134.
#[derive(Serialize)]
pub struct MutedTopicsChanged {
    r#type: &'static str,
    muted_topics: Vec<MutedTopic>,
}

impl Event for MutedTopicsChanged {
    const TYPE: &'static str = "muted_topics";
}

/// Channel name, topic, and when it was muted, UNIX seconds.
#[derive(Serialize)]
struct MutedTopic(String, String, i64);

fn muted(topics: Vec<UserTopic>) -> Vec<MutedTopic> {
    topics
        .into_iter()
        .filter(|topic| topic.visibility_policy == VisibilityPolicy::Muted)
        .map(|topic| MutedTopic(topic.stream_name, topic.topic_name, topic.last_updated))
        .collect()
}

/// Tells a user's clients of a policy that was just written.
pub fn emit(
    tx: &mut Tx<'_>,
    user_id: UserId,
    stream_id: StreamId,
    topic: &Topic,
    visibility_policy: VisibilityPolicy,
) -> ApiResult<()> {
    let muted_topics = muted(sql::of_user(tx, user_id)?);
    let muted_topics = MutedTopicsChanged { r#type: MutedTopicsChanged::TYPE, muted_topics };
    tx.emit(&muted_topics, Audience::user(user_id));
    let changed = UserTopicChanged {
        r#type: UserTopicChanged::TYPE,
        stream_id,
        topic_name: topic.as_str(),
        last_updated: tx.now(),
        visibility_policy,
    };
    tx.emit(&changed, Audience::user(user_id));
    Ok(())
}

/// What differs between receivers.
pub fn event_types() -> Vec<EventType> {
    vec![
        EventType {
            name: UserTopicChanged::TYPE,
            verdict: |_, receiver| by_capability(receiver),
            form: |event, form| {
                let mut event = event.clone();
                show(&mut event["topic_name"], form == KNOWS_EMPTY);
                event.to_string()
            },
            personal: EventType::nothing_personal,
        },
        EventType {
            name: MutedTopicsChanged::TYPE,
            verdict: muted_verdict,
            form: |event, form| {
                let mut event = event.clone();
                for topic in event["muted_topics"].as_array_mut().into_iter().flatten() {
                    show(&mut topic[1], form == KNOWS_EMPTY);
                }
                event.to_string()
            },
            personal: EventType::nothing_personal,
        },
    ]
}

/// The form for clients to which the empty topic is shown as it is.
const KNOWS_EMPTY: u8 = 1;

fn by_capability(receiver: &Receiver<'_>) -> Verdict {
    Verdict::Form(u8::from(receiver.registration.client_capabilities.empty_topic_name))
}

/// Clients that asked for `user_topic` by name do not need the older event.
fn muted_verdict(_event: &Value, receiver: &Receiver<'_>) -> Verdict {
    let asked_for_newer = receiver
        .registration
        .event_types
        .as_ref()
        .is_some_and(|types| types.iter().any(|kind| kind == UserTopicChanged::TYPE));
    if asked_for_newer { Verdict::Skip } else { by_capability(receiver) }
}

fn show(topic: &mut Value, knows_empty: bool) {
    if let Some(name) = topic.as_str() {
        *topic = shown_topic(name, knows_empty).to_owned().into();
    }
}

/// `user_topics`: all policies in channels that are not archived.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let knows_empty = request.registration.client_capabilities.empty_topic_name;
    let topics = sql::of_user(request.connection, request.caller.user_id)?;
    let list = topics.iter().map(|topic| {
        json!({
            "stream_id": topic.stream_id,
            "topic_name": shown_topic(&topic.topic_name, knows_empty),
            "last_updated": topic.last_updated,
            "visibility_policy": topic.visibility_policy,
        })
    });
    state.insert("user_topics".into(), list.collect());
    Ok(())
}

/// `muted_topics`, unless the newer `user_topic` is asked for by name.
pub fn muted_state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    if request.names(UserTopicChanged::TYPE) {
        return Ok(());
    }
    let knows_empty = request.registration.client_capabilities.empty_topic_name;
    let mut list = muted(sql::of_user(request.connection, request.caller.user_id)?);
    for topic in &mut list {
        topic.1 = shown_topic(&topic.1, knows_empty).to_owned();
    }
    state.insert("muted_topics".into(), serde_json::to_value(list)?);
    Ok(())
}
