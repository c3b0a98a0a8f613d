//! `/users/me/onboarding_steps`: hints that clients show to new users once (feature level 233).

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::events::{Audience, uniform_event};
use crate::http::{ApiError, ApiResult, Reply, Route, USER, User};
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use hyper::Method;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

pub const RESOURCE: Resource = Resource { name: "onboarding_steps", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "onboarding_steps", fetch: state }];

fn routes() -> Vec<Route> {
    vec![Route::write(Method::POST, "/users/me/onboarding_steps", USER, mark_as_read)]
}

/// The steps of release 11.0 and their types.
const STEPS: &[(&str, &str)] = &[
    ("visibility_policy_banner", NOTICE),
    ("intro_inbox_view_modal", NOTICE),
    ("intro_recent_view_modal", NOTICE),
    ("first_stream_created_banner", NOTICE),
    ("jump_to_conversation_banner", NOTICE),
    ("non_interleaved_view_messages_fading", NOTICE),
    ("interleaved_view_messages_fading", NOTICE),
    ("intro_resolve_topic", NOTICE),
    (VIDEO, NOTICE),
    ("narrow_to_dm_with_welcome_bot_new_user", "one_time_action"),
];

const NOTICE: &str = "one_time_notice";

/// The step of the tour video, which this server does not have. It counts as seen.
const VIDEO: &str = "navigation_tour_video";

/// A step of the introduction for new users.
#[derive(Serialize, Deserialize)]
pub struct OnboardingStep {
    /// `one_time_notice` for a hint that clients show once, `one_time_action` for an action that they do once.
    r#type: Cow<'static, str>,
    /// The name of the step.
    name: Cow<'static, str>,
}

/// `onboarding_steps`: the user has seen a step. The event has the remaining steps.
#[derive(Serialize, Deserialize)]
pub struct StepsChanged {
    onboarding_steps: Vec<OnboardingStep>,
}

uniform_event!(StepsChanged: "onboarding_steps", version 1);

/// Parameters of `POST /users/me/onboarding_steps`.
#[derive(Deserialize)]
pub struct MarkParams {
    /// The name of the step that the user has seen.
    onboarding_step: String,
}

/// `POST /users/me/onboarding_steps`: records that the caller has seen a step.
fn mark_as_read(tx: &mut Tx<'_>, caller: &User, params: MarkParams) -> ApiResult<Reply> {
    caller.check_is_person()?;
    let step = &params.onboarding_step;
    if !STEPS.iter().any(|(name, _)| name == step) {
        return Err(ApiError::bad_request(format!("Unknown onboarding_step: {step}")));
    }
    tx.execute_cached(
        "INSERT OR IGNORE INTO onboarding_step (user_id, onboarding_step, timestamp) VALUES (?1, ?2, ?3)",
        (caller.user_id, step, tx.now()),
    )?;
    let unseen = list_unseen(tx, caller.user_id)?;
    let event = StepsChanged { onboarding_steps: unseen };
    tx.emit(event, Audience::user(caller.user_id));
    Ok(Reply::ok())
}

/// State part `onboarding_steps`: the steps that the caller has not seen yet, and `navigation_tour_video_url`, which is
/// always null.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let is_visitor = request.caller.is_visitor();
    let unseen =
        if is_visitor { Vec::new() } else { list_unseen(request.connection, request.caller.user_id)? };
    state.set::<Vec<OnboardingStep>>("onboarding_steps", &unseen)?;
    state.set::<Option<String>>("navigation_tour_video_url", &None)
}

/// Lists the steps that a user has not seen.
fn list_unseen(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<OnboardingStep>> {
    let seen: Vec<String> = connection
        .prepare_cached("SELECT onboarding_step FROM onboarding_step WHERE user_id = ?1")?
        .query_map([user_id], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let is_unseen = |name: &str| name != VIDEO && !seen.iter().any(|step| step == name);
    let unseen = STEPS.iter().filter(|(name, _)| is_unseen(name));
    Ok(unseen
        .map(|(name, r#type)| OnboardingStep { r#type: (*r#type).into(), name: (*name).into() })
        .collect())
}
