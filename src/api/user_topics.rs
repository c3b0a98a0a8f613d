//! `/user_topics`: the visibility policies of single topics: muted, unmuted in a muted channel, followed.

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::domain::messages::destination::read_topic;
use crate::domain::rows::channel::StreamRow;
use crate::domain::user_topics::auto_follow::MentionedUsers;
use crate::domain::user_topics::events::{MutedTopic, UserTopicChanged, muted_of};
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::{access, channels, user_topics};
use crate::events::Event as _;
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Caller, Reply, Route, USER, User, ok_unless_refused};
use crate::store::{FollowUpKind, Tx};
use crate::types::{StreamId, Topic};
use hyper::Method;
use serde::Deserialize;

pub const RESOURCE: Resource =
    Resource { name: "user_topics", routes, state: STATE, follow_ups: FOLLOW_UPS, ..Resource::EMPTY };

const FOLLOW_UPS: &[FollowUpKind] = &[FollowUpKind::of::<MentionedUsers>()];

const STATE: &[StatePart] =
    &[StatePart { name: "user_topic", fetch: policies }, StatePart { name: "muted_topics", fetch: muted }];

fn routes() -> Vec<Route> {
    vec![
        Route::write(Method::POST, "/user_topics", USER, update_user_topic),
        Route::write(Method::PATCH, "/users/me/subscriptions/muted_topics", USER, update_muted_topic),
    ]
}

/// Parameters of `POST /user_topics`.
#[derive(Deserialize)]
pub struct UserTopicParams {
    /// The id of the channel.
    stream_id: StreamId,
    /// The topic, at most 60 characters. It need not have messages.
    topic: BoundedText<{ Topic::MAX_LENGTH }>,
    /// The new policy: 0 none, 1 muted, 2 unmuted, 3 followed. With 0, the topic is muted if the channel is.
    visibility_policy: i64,
}

/// `POST /user_topics`: sets the caller's visibility policy for a topic.
fn update_user_topic(tx: &mut Tx<'_>, caller: &User, params: UserTopicParams) -> ApiResult<Reply> {
    let policy = VisibilityPolicy::from_number(params.visibility_policy)
        .ok_or_else(|| ApiError::bad_request("Invalid visibility_policy"))?;
    let topic = read_topic(&params.topic)?;
    let stream = match policy {
        VisibilityPolicy::Inherit => user_topics::rules::find_to_remove(
            tx,
            caller,
            params.stream_id,
            access::channels::no_such_channel,
        )?,
        _ => user_topics::rules::find_to_set(tx, caller, params.stream_id)?,
    };
    user_topics::rules::set(tx, caller.user_id, stream.stream_id, &topic, policy)?;
    Ok(Reply::ok())
}

/// Parameters of `PATCH /users/me/subscriptions/muted_topics`.
#[derive(Deserialize)]
pub struct MutedTopicParams {
    /// The id of the channel. Exactly one of this and `stream` is required.
    stream_id: Option<StreamId>,
    /// The name of the channel. Exactly one of this and `stream_id` is required.
    stream: Option<String>,
    /// The topic, at most 60 characters. It need not have messages.
    topic: BoundedText<{ Topic::MAX_LENGTH }>,
    /// `add` to mute the topic, `remove` to unmute it.
    op: String,
}

/// `PATCH /users/me/subscriptions/muted_topics`: mutes or unmutes a topic. Deprecated: use `POST /user_topics`. Does
/// nothing if the topic is already muted or unmuted (feature level 169).
fn update_muted_topic(tx: &mut Tx<'_>, caller: &User, params: MutedTopicParams) -> ApiResult<Reply> {
    let policy = match params.op.as_str() {
        "add" => VisibilityPolicy::Muted,
        "remove" => VisibilityPolicy::Inherit,
        _ => return Err(ApiError::bad_request("Invalid op")),
    };
    let topic = read_topic(&params.topic)?;
    let stream = match (params.stream_id, &params.stream) {
        // The published text, with the code `BAD_REQUEST` rather than that of a missing parameter.
        (None, None) => return Err(ApiError::bad_request("Missing 'stream_id' argument")),
        (Some(_), Some(_)) => return Err(ApiError::incompatible(&["stream_id", "stream"])),
        (Some(stream_id), None) if policy == VisibilityPolicy::Muted => {
            user_topics::rules::find_to_set(tx, caller, stream_id)?
        }
        (Some(stream_id), None) => user_topics::rules::find_to_remove(tx, caller, stream_id, not_muted)?,
        (None, Some(name)) => find_by_name(tx, caller, name, policy)?,
    };
    user_topics::rules::set(tx, caller.user_id, stream.stream_id, &topic, policy)?;
    Ok(Reply::ok())
}

/// Loads the channel by name, with the refusals of either operation.
fn find_by_name(tx: &Tx<'_>, caller: &Caller, name: &str, policy: VisibilityPolicy) -> ApiResult<StreamRow> {
    let stream = channels::by_name(tx, name)?;
    if policy == VisibilityPolicy::Inherit {
        return user_topics::rules::find_to_remove(
            tx,
            caller,
            stream.ok_or_else(not_muted)?.stream_id,
            not_muted,
        );
    }
    let refusal = || ApiError::bad_request(format!("Invalid channel name '{name}'"));
    let stream_id = stream.ok_or_else(refusal)?.stream_id;
    ok_unless_refused(user_topics::rules::find_to_set(tx, caller, stream_id))?.ok_or_else(refusal)
}

fn not_muted() -> ApiError {
    ApiError::bad_request("Topic is not muted")
}

/// `user_topics` of `POST /register`: the caller's visibility policies for topics, in channels that are not archived.
fn policies(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let empty = request.registration.empty_topic();
    let topics = user_topics::of_user(request.connection, request.caller.user_id)?;
    let list: Vec<_> = topics.iter().map(|topic| UserTopicChanged::new(topic, empty)).collect();
    state.set::<Vec<UserTopicChanged>>("user_topics", &list)
}

/// `muted_topics` of `POST /register`: the topics that the caller has muted. Absent if `user_topic` is requested by
/// name.
fn muted(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    if request.names(UserTopicChanged::TYPE) {
        return Ok(());
    }
    let empty = request.registration.empty_topic();
    let list = muted_of(request.connection, request.caller.user_id)?;
    let list: Vec<MutedTopic> = list.iter().map(|topic| topic.shown(empty)).collect();
    state.set::<Vec<MutedTopic>>("muted_topics", &list)
}
