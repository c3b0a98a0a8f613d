//! `POST /users/me/subscriptions`: subscribes users to channels, and creates those that do not exist.

use crate::api::channel_params::CreationParams;
use crate::domain::access::channels::Viewer;
use crate::domain::access::permissions::may_add_others;
use crate::domain::audit::{Action, Entry};
use crate::domain::channel_commands::create_channel;
use crate::domain::channel_commands::create_channel::{NewChannel, NewChannelProperties};
use crate::domain::channel_commands::parts::{Later, Parts};
use crate::domain::channel_commands::subscribe::{Colors, SubscribeResult, subscribe_users};
use crate::domain::limits::{
    MAX_BULK_NEW_SUBSCRIPTION_MESSAGES, MAX_CHANNELS_PER_REQUEST, MAX_STREAM_DESCRIPTION_LENGTH, organization,
};
use crate::domain::notices::channels::Notice;
use crate::domain::rows::channel::StreamRow;
use crate::domain::subscriptions::principals::Principals;
use crate::domain::subscriptions::{members, principals};
use crate::domain::{channels, limits, notices, realm, rows, subscriptions, user_settings};
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Call, Caller, Params2, Reply, User};
use crate::store::Tx;
use crate::types::{UserId, fold};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// A channel to subscribe to.
#[derive(Clone, Debug, Deserialize)]
pub struct RequestedChannel {
    /// The name of the channel, 1 to 60 characters. A missing channel is created.
    name: String,
    /// The description in Markdown, at most 1024 characters, if the channel is created.
    description: Option<BoundedText<MAX_STREAM_DESCRIPTION_LENGTH>>,
    /// The color of the channel for the subscribed users, such as `#76ce90`; by default the server chooses one.
    color: Option<String>,
}

/// Parameters of `POST /users/me/subscriptions`, beside those of new channels.
#[derive(Deserialize)]
pub struct SubscribeParams {
    /// The channels to subscribe to, at most 500: objects with `name`, and optionally `description` and `color`.
    /// Missing channels are created.
    subscriptions: Vec<RequestedChannel>,
    /// The users to subscribe, as a list of user ids or of emails; by default the caller.
    principals: Option<Principals>,
    /// True, the default, if the request fails when the caller may not subscribe the users to one of the channels. If
    /// false, such channels are returned in `unauthorized`.
    #[serde(default = "crate::types::default_true")]
    authorization_errors_fatal: bool,
    /// True if the notification bot announces new channels. False by default.
    #[serde(default)]
    announce: bool,
    /// True, the default, if the notification bot informs users who were subscribed by others (feature level 397).
    #[serde(default = "crate::types::default_true")]
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

/// The reply to `POST /users/me/subscriptions`.
#[derive(Serialize)]
pub struct SubscribeReply {
    #[serde(flatten)]
    result: SubscribeResult,
    /// The names of channels to which the caller may not subscribe the users. Only if `authorization_errors_fatal` is
    /// false.
    #[serde(skip_serializing_if = "Option::is_none")]
    unauthorized: Option<Vec<String>>,
    /// True if users who were subscribed by others get messages, false if there are too many users. Absent if
    /// `send_new_subscription_messages` is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_subscription_messages_sent: Option<bool>,
}

/// A requested channel, with its name and colour checked and its description rendered before the job on the writer.
pub struct PreparedChannel {
    channel: NewChannel,
    color: Option<String>,
}

/// `POST /users/me/subscriptions`: subscribes users to channels, and creates those that do not exist (spec, "subscribe
/// users to channels").
pub async fn subscribe(
    call: Call<User>,
    Params2(params, creation): Params2<SubscribeParams, CreationParams>,
) -> ApiResult<Reply<SubscribeReply>> {
    let users = params.principals.as_ref().map_or(1, Principals::count);
    organization::check_subscriptions_of_request(&call.caller, params.subscriptions.len(), users)?;
    let channels = prepare(&call, &params.subscriptions).await?;
    let properties = creation.into_properties();
    let job = move |tx: &mut Tx<'_>, caller: &User| {
        subscribe_to_channels(tx, caller, &params, &properties, channels)
    };
    let (mut reply, later) = call.write(job).await?;
    later
        .wait(|SubscribeResult { mut subscribed, mut already_subscribed }| {
            reply.result.subscribed.append(&mut subscribed);
            reply.result.already_subscribed.append(&mut already_subscribed);
        })
        .await?;
    Reply::data(&reply)
}

/// Checks the names and colours of the requested channels, and renders their descriptions.
pub async fn prepare(call: &Call<User>, requested: &[RequestedChannel]) -> ApiResult<Vec<PreparedChannel>> {
    limits::check("channels in one request", requested.len(), MAX_CHANNELS_PER_REQUEST)?;
    let named = requested.iter().map(name_and_description).collect::<ApiResult<Vec<_>>>()?;
    let colors = requested.iter().map(color).collect::<ApiResult<Vec<_>>>()?;
    let channels =
        create_channel::prepare_channels(&call.app, &call.caller, &call.info.origin, named).await?;
    Ok(channels.into_iter().zip(colors).map(|(channel, color)| PreparedChannel { channel, color }).collect())
}

fn name_and_description(requested: &RequestedChannel) -> ApiResult<(String, String)> {
    let description = requested.description.as_deref().unwrap_or_default();
    Ok((channels::rules::name(&requested.name)?, channels::rules::description(description)))
}

fn color(requested: &RequestedChannel) -> ApiResult<Option<String>> {
    requested.color.as_deref().map(|text| subscriptions::rules::color("add.color", text)).transpose()
}

/// Subscribes users to existing channels, creates the missing ones, and sends the notices about both. With many users,
/// follow-up jobs subscribe the others.
pub fn subscribe_to_channels(
    tx: &mut Tx<'_>,
    caller: &Caller,
    params: &SubscribeParams,
    properties: &NewChannelProperties,
    channels: Vec<PreparedChannel>,
) -> ApiResult<(SubscribeReply, Later<SubscribeResult>)> {
    caller.check_is_not_guest()?;
    let users = principals::resolve(tx, caller, params.principals.as_ref())?;
    let added = users.len().saturating_mul(channels.len());
    organization::check_subscriptions(caller, members::count(tx)?, added)?;
    let for_others = users.iter().any(|user| user.user_id != caller.user_id);
    let (mut colors, mut existing, mut missing) = (HashMap::new(), Vec::new(), Vec::new());
    let mut names = HashSet::new();
    for PreparedChannel { channel, color } in channels {
        if !names.insert(fold(&channel.name)) {
            continue;
        }
        match channels::by_name(tx, &channel.name)? {
            Some(stream) => {
                colors.extend(color.map(|color| (stream.stream_id, color)));
                existing.push(stream);
            }
            None => missing.push((color, channel)),
        }
    }
    let (existing, unauthorized) = authorize(tx, caller, existing, for_others)?;
    if params.authorization_errors_fatal {
        unauthorized.check_empty()?;
    }
    let (new_colors, new_channels): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
    let created = create_channel::create_channels(tx, caller, &new_channels, properties)?;
    for (stream, color) in created.iter().zip(new_colors) {
        colors.extend(color.map(|color| (stream.stream_id, color)));
    }
    let sends = params.send_new_subscription_messages;
    let mut request = Subscribing {
        existing,
        created,
        colors,
        for_others,
        sends_messages: sends && users.len() <= MAX_BULK_NEW_SUBSCRIPTION_MESSAGES,
    };
    let user_ids: Vec<UserId> = users.iter().map(|user| user.user_id).collect();
    let mut parts = Parts::split(&user_ids, request.existing.len() + request.created.len());
    let (result, to_users) = request.subscribe(tx, caller, &parts.take_first())?;
    let by = notices::name_of(tx, caller)?;
    let language = realm::common_language(tx)?;
    let mut notices: Vec<Notice> =
        request.created.iter().map(|stream| notices::channels::created(language, stream, &by)).collect();
    if params.announce {
        notices.extend(notices::channels::announced(tx, &request.created, &by)?);
    }
    notices.extend(to_users);
    notices::channels::send(tx, notices, caller.user_id)?;
    let reply = SubscribeReply {
        result,
        unauthorized: (!params.authorization_errors_fatal).then(|| unauthorized.into_names()),
        new_subscription_messages_sent: sends.then_some(request.sends_messages),
    };
    let later = parts.run_later(tx, caller, move |tx, caller, users| {
        request.reload(tx, caller)?;
        let (result, to_users) = request.subscribe(tx, caller, users)?;
        notices::channels::send(tx, to_users, caller.user_id)?;
        Ok(result)
    });
    Ok((reply, later))
}

/// A request whose users are subscribed by one or more jobs.
struct Subscribing {
    existing: Vec<StreamRow>,
    created: Vec<StreamRow>,
    colors: Colors,
    /// True if the caller is not the only user.
    for_others: bool,
    /// True if users get a message about channels to which others subscribed them.
    sends_messages: bool,
}

impl Subscribing {
    /// Subscribes some of the users. Returns the notices to them, which are not yet sent.
    fn subscribe(
        &self,
        tx: &mut Tx<'_>,
        caller: &Caller,
        users: &[UserId],
    ) -> ApiResult<(SubscribeResult, Vec<Notice>)> {
        let streams = [self.existing.as_slice(), &self.created].concat();
        let result = subscribe_users(tx, &streams, users, &self.colors)?;
        let others: Vec<UserId> =
            users.iter().copied().filter(|user_id| *user_id != caller.user_id).collect();
        if !others.is_empty() {
            for stream in &streams {
                let changed = Entry::new(Action::SubscribersChanged, stream.stream_id);
                tx.audit(changed.after(json!({ "user_ids": others })))?;
            }
        }
        let notices =
            if self.sends_messages { self.notices(tx, caller, users, &result)? } else { Vec::new() };
        Ok((result, notices))
    }

    /// Loads the channels again for a later job, and checks that the caller may still subscribe the users to those that
    /// this request has not created.
    fn reload(&mut self, tx: &Tx<'_>, caller: &Caller) -> ApiResult<()> {
        let existing = reload(tx, &self.existing)?;
        let (existing, unauthorized) = authorize(tx, caller, existing, self.for_others)?;
        unauthorized.check_empty()?;
        self.existing = existing;
        self.created = reload(tx, &self.created)?;
        Ok(())
    }

    /// The notices to users whom others subscribed to existing channels.
    fn notices(
        &self,
        tx: &Tx<'_>,
        caller: &Caller,
        users: &[UserId],
        result: &SubscribeResult,
    ) -> ApiResult<Vec<Notice>> {
        let by = notices::name_of(tx, caller)?;
        let mut notices = Vec::new();
        for &user_id in users.iter().filter(|user_id| **user_id != caller.user_id) {
            let Some(names) = result.subscribed.get(&user_id) else { continue };
            if rows::user::by_id(tx, user_id)?.is_none_or(|user| user.is_bot()) {
                continue;
            }
            let names: HashSet<&String> = names.iter().collect();
            let streams: Vec<_> =
                self.existing.iter().filter(|stream| names.contains(&stream.name)).cloned().collect();
            if !streams.is_empty() {
                let language = user_settings::language_of(tx, user_id)?;
                notices.push(notices::channels::subscribed(language, user_id, &streams, &by));
            }
        }
        Ok(notices)
    }
}

fn reload(tx: &Tx<'_>, streams: &[StreamRow]) -> ApiResult<Vec<StreamRow>> {
    let streams = streams.iter().filter_map(|stream| rows::channel::by_id(tx, stream.stream_id).transpose());
    Ok(streams.collect::<Result<_, _>>()?)
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
    let viewer = Viewer::new(tx.ctx(caller));
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
