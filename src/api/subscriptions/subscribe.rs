//! `POST /users/me/subscriptions`: subscribes users to channels, and creates those that do not exist.

use crate::auth::Ctx;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::channels::Viewer;
use crate::domain::access::permissions::may_add_others;
use crate::domain::access::user_rows::UserRow;
use crate::domain::limits::{
    MAX_BULK_NEW_SUBSCRIPTION_MESSAGES, MAX_CHANNELS_PER_REQUEST, MAX_STREAM_DESCRIPTION_LENGTH,
    MAX_SUBSCRIPTIONS_PER_REQUEST, organization,
};
use crate::domain::membership::create_channel;
use crate::domain::membership::create_channel::{CreationParams, NewChannel};
use crate::domain::membership::subscribe::{SubscribeResult, subscribe_users};
use crate::domain::notices::channels as channel_notices;
use crate::domain::notices::channels::Notice;
use crate::domain::subscriptions::principals::Principals;
use crate::domain::subscriptions::{principals, rules};
use crate::domain::{channels, limits, notices};
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Call, Caller, Params2, Reply, User};
use crate::store::Tx;
use crate::types::{UserId, fold};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// An element of `subscriptions`.
#[derive(Clone, Debug, Deserialize)]
pub struct RequestedChannel {
    /// The name of a channel. One that does not exist is made.
    name: String,
    /// Markdown; used if the channel is created.
    description: Option<BoundedText<MAX_STREAM_DESCRIPTION_LENGTH>>,
    /// The colour for the subscribed users.
    color: Option<String>,
}

/// Parameters of `POST /users/me/subscriptions`, beside those of new channels.
#[derive(Deserialize)]
pub struct SubscribeParams {
    /// The channels: objects with `name`, and optionally `description` and `color`.
    subscriptions: Vec<RequestedChannel>,
    /// The users, by id or API email; by default the caller.
    principals: Option<Principals>,
    /// Whether the request fails if the caller may not subscribe the users to one of the channels. Otherwise such
    /// channels are returned in `unauthorized`. True by default.
    #[serde(default = "default_true")]
    authorization_errors_fatal: bool,
    /// Whether the notification bot announces new channels.
    #[serde(default)]
    announce: bool,
    /// Whether the notification bot informs users that others subscribed (feature level 397). True by default.
    #[serde(default = "default_true")]
    send_new_subscription_messages: bool,
}

impl Default for SubscribeParams {
    fn default() -> Self {
        Self {
            subscriptions: Vec::new(),
            principals: None,
            authorization_errors_fatal: true,
            announce: false,
            send_new_subscription_messages: true,
        }
    }
}

fn default_true() -> bool {
    true
}

/// The reply to `POST /users/me/subscriptions`.
#[derive(Serialize)]
pub struct SubscribeReply {
    #[serde(flatten)]
    result: SubscribeResult,
    /// Names of channels to which the caller may not subscribe the users.
    #[serde(skip_serializing_if = "Option::is_none")]
    unauthorized: Option<Vec<String>>,
    /// Whether the subscribed users got messages; absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_subscription_messages_sent: Option<bool>,
}

/// A requested channel, with its name and colour checked and its description rendered before the job on the writer.
pub struct PreparedChannel {
    channel: NewChannel,
    color: Option<String>,
}

/// `POST /users/me/subscriptions` (spec, "subscribe users to channels").
pub async fn subscribe(
    call: Call<User>,
    Params2(params, creation): Params2<SubscribeParams, CreationParams>,
) -> ApiResult<Reply<SubscribeReply>> {
    let users = params.principals.as_ref().map_or(1, Principals::len);
    let subscriptions = params.subscriptions.len().saturating_mul(users);
    limits::check("subscriptions in one request", subscriptions, MAX_SUBSCRIPTIONS_PER_REQUEST)?;
    let channels = prepare(&call, &params.subscriptions).await?;
    let job =
        move |tx: &mut Tx<'_>, caller: &User| subscribe_to_channels(tx, caller, &params, &creation, channels);
    Reply::data(&call.write(job).await?)
}

/// Checks the names and colours of the requested channels, and renders their descriptions.
pub async fn prepare(call: &Call<User>, requested: &[RequestedChannel]) -> ApiResult<Vec<PreparedChannel>> {
    limits::check("channels in one request", requested.len(), MAX_CHANNELS_PER_REQUEST)?;
    let named = requested.iter().map(name_and_description).collect::<ApiResult<Vec<_>>>()?;
    let colors = requested.iter().map(color).collect::<ApiResult<Vec<_>>>()?;
    let channels = create_channel::prepare_channels(call, named).await?;
    Ok(channels.into_iter().zip(colors).map(|(channel, color)| PreparedChannel { channel, color }).collect())
}

fn name_and_description(requested: &RequestedChannel) -> ApiResult<(String, String)> {
    let description = requested.description.as_deref().unwrap_or_default();
    Ok((channels::rules::name(&requested.name)?, channels::rules::description(description)))
}

fn color(requested: &RequestedChannel) -> ApiResult<Option<String>> {
    requested.color.as_deref().map(|text| rules::color("add.color", text)).transpose()
}

/// Subscribes users to existing channels, creates the missing ones, and sends the notices about both.
pub fn subscribe_to_channels(
    tx: &mut Tx<'_>,
    caller: &Caller,
    params: &SubscribeParams,
    creation: &CreationParams,
    channels: Vec<PreparedChannel>,
) -> ApiResult<SubscribeReply> {
    if caller.is_guest() {
        return Err(ApiError::bad_request("Not allowed for guest users"));
    }
    let users = principals::resolve(tx, caller, params.principals.as_ref())?;
    organization::check_subscriptions(tx, caller, users.len().saturating_mul(channels.len()))?;
    let for_others = users.iter().any(|user| user.user_id != caller.user_id);
    let (mut colors, mut existing, mut missing) = (HashMap::new(), Vec::new(), Vec::new());
    let mut names = HashSet::new();
    for PreparedChannel { channel, color } in channels {
        if !names.insert(fold(&channel.name)) {
            continue;
        }
        match channels::sql::by_name(tx, &channel.name)? {
            Some(stream) => {
                colors.extend(color.map(|color| (stream.stream_id, color)));
                existing.push(stream);
            }
            None => missing.push((color, channel)),
        }
    }
    let (mut streams, unauthorized) = authorize(tx, caller, existing, for_others)?;
    if params.authorization_errors_fatal {
        unauthorized.check_empty()?;
    }
    let (new_colors, new_channels): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
    let created = create_channel::create_channels(tx, caller, &new_channels, creation)?;
    for (stream, color) in created.iter().zip(new_colors) {
        colors.extend(color.map(|color| (stream.stream_id, color)));
    }
    let existing = streams.clone();
    streams.extend(created.iter().cloned());

    let user_ids: Vec<UserId> = users.iter().map(|user| user.user_id).collect();
    let result = subscribe_users(tx, &streams, &user_ids, &colors)?;
    let sends = params.send_new_subscription_messages;
    let sent = sends && users.len() <= MAX_BULK_NEW_SUBSCRIPTION_MESSAGES;
    let notices = notices(
        tx,
        caller,
        &created,
        params.announce,
        sent.then_some((users.as_slice(), existing.as_slice(), &result)),
    )?;
    channel_notices::send(tx, notices, caller.user_id)?;
    Ok(SubscribeReply {
        result,
        unauthorized: (!params.authorization_errors_fatal).then(|| unauthorized.into_names()),
        new_subscription_messages_sent: sends.then_some(sent),
    })
}

/// The names of channels to which the caller may not subscribe the users.
#[derive(Default)]
struct UnauthorizedChannels {
    /// The caller may not read them.
    unreadable: Vec<String>,
    /// The caller may read them, but not subscribe others.
    not_for_others: Vec<String>,
}

impl UnauthorizedChannels {
    fn check_empty(&self) -> ApiResult<()> {
        if let Some(first) = self.unreadable.first() {
            return Err(ApiError::bad_request(format!("Unable to access channel ({first}).")));
        }
        if self.not_for_others.is_empty() { Ok(()) } else { Err(ApiError::insufficient_permission()) }
    }

    fn into_names(self) -> Vec<String> {
        [self.unreadable, self.not_for_others].concat()
    }
}

/// Splits channels into those to which the caller may subscribe the users, and the others.
fn authorize(
    tx: &Tx<'_>,
    caller: &Caller,
    streams: Vec<StreamRow>,
    for_others: bool,
) -> ApiResult<(Vec<StreamRow>, UnauthorizedChannels)> {
    let viewer = Viewer::new(Ctx::in_job(tx, caller));
    let mut allowed = Vec::new();
    let mut unauthorized = UnauthorizedChannels::default();
    for stream in streams {
        if !viewer.can_read(&stream)? {
            unauthorized.unreadable.push(stream.name);
        } else if for_others && !may_add_others(&viewer, &stream)? {
            unauthorized.not_for_others.push(stream.name);
        } else {
            allowed.push(stream);
        }
    }
    Ok((allowed, unauthorized))
}

/// The notices to the new channels, to the announcement channel, and to users whom others subscribed to existing
/// channels.
fn notices(
    tx: &Tx<'_>,
    caller: &Caller,
    created: &[StreamRow],
    announce: bool,
    to_users: Option<(&[UserRow], &[StreamRow], &SubscribeResult)>,
) -> ApiResult<Vec<Notice>> {
    let by = notices::name_of(tx, caller)?;
    let mut notices: Vec<Notice> =
        created.iter().map(|stream| channel_notices::created(stream, &by)).collect();
    if announce {
        notices.extend(channel_notices::announced(tx, created, &by)?);
    }
    let Some((users, existing, result)) = to_users else { return Ok(notices) };
    for user in users.iter().filter(|user| user.user_id != caller.user_id && !user.is_bot()) {
        let Some(names) = result.subscribed.get(&user.user_id) else { continue };
        let names: HashSet<&String> = names.iter().collect();
        let streams: Vec<_> =
            existing.iter().filter(|stream| names.contains(&stream.name)).cloned().collect();
        if !streams.is_empty() {
            notices.push(channel_notices::subscribed(user.user_id, &streams, &by));
        }
    }
    Ok(notices)
}
