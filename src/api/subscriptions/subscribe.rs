//! `POST /users/me/subscriptions`: subscribing users to channels; channels that are not there are made.

use crate::auth::Ctx;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::channels::Viewer;
use crate::domain::access::permissions::may_add_others;
use crate::domain::access::user_rows::UserRow;
use crate::domain::limits::{MAX_BULK_NEW_SUBSCRIPTION_MESSAGES, MAX_STREAM_DESCRIPTION_LENGTH};
use crate::domain::membership::create_channel::{CreationParams, NewChannel};
use crate::domain::membership::subscribe::Outcome;
use crate::domain::membership::{create_channel, subscribe as join};
use crate::domain::notices::channels as notices;
use crate::domain::notices::channels::Notice;
use crate::domain::subscriptions::principals::Principals;
use crate::domain::subscriptions::{principals, rules};
use crate::domain::{channels, notices as domain_notices};
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Call, Caller, Params2, Reply, User};
use crate::store::Tx;
use crate::types::{StreamId, UserId, fold};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// One element of `subscriptions`.
#[derive(Clone, Debug, Deserialize)]
pub struct WantedChannel {
    /// The name.
    name: String,
    /// Markdown, for a channel that is made.
    #[serde(default)]
    description: Option<BoundedText<MAX_STREAM_DESCRIPTION_LENGTH>>,
    /// The colour to see it in.
    #[serde(default)]
    color: Option<String>,
}

/// Parameters of `POST /users/me/subscriptions`, beside those of new channels.
#[derive(Deserialize)]
pub struct SubscribeParams {
    /// The channels, by name.
    subscriptions: Vec<WantedChannel>,
    /// The users; the caller when absent.
    #[serde(default)]
    principals: Option<Principals>,
    /// Whether a channel that the caller may not read fails the request, or is listed.
    #[serde(default = "yes")]
    authorization_errors_fatal: bool,
    /// Whether the notification bot announces new channels.
    #[serde(default)]
    announce: bool,
    /// Whether the notification bot tells users who subscribed them (feature level 397).
    #[serde(default = "yes")]
    send_new_subscription_messages: bool,
}

impl Default for SubscribeParams {
    /// The caller, and nothing said.
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

fn yes() -> bool {
    true
}

/// The answer of `POST /users/me/subscriptions`.
#[derive(Serialize)]
pub struct SubscribeReply {
    #[serde(flatten)]
    outcome: Outcome,
    /// Channels that the caller may not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unauthorized: Option<Vec<String>>,
    /// Whether users were told; only when that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_subscription_messages_sent: Option<bool>,
}

/// A channel that was named, checked before the writer is asked.
pub struct Named {
    channel: NewChannel,
    color: Option<String>,
}

/// `POST /users/me/subscriptions` (spec, "subscribe users to channels").
pub async fn subscribe(
    call: Call<User>,
    Params2(params, creation): Params2<SubscribeParams, CreationParams>,
) -> ApiResult<Reply> {
    let named = prepare(&call, &params.subscriptions).await?;
    let job = move |tx: &mut Tx<'_>, caller: &User| subscribe_all(tx, caller, &params, &creation, named);
    Reply::data(&call.write(job).await?)
}

/// Checks the channels that are named, and renders their descriptions.
pub async fn prepare(call: &Call<User>, wanted: &[WantedChannel]) -> ApiResult<Vec<Named>> {
    let named = wanted.iter().map(name_and_description).collect::<ApiResult<Vec<_>>>()?;
    let colors = wanted.iter().map(color).collect::<ApiResult<Vec<_>>>()?;
    let prepared = create_channel::new_channels(call, named).await?;
    Ok(prepared.into_iter().zip(colors).map(|(channel, color)| Named { channel, color }).collect())
}

fn name_and_description(wanted: &WantedChannel) -> ApiResult<(String, String)> {
    let description = wanted.description.as_deref().unwrap_or_default();
    Ok((channels::rules::name(&wanted.name)?, channels::rules::description(description)))
}

fn color(wanted: &WantedChannel) -> ApiResult<Option<String>> {
    wanted.color.as_deref().map(|text| rules::color("add.color", text)).transpose()
}

/// Subscribes users to channels that are there and to new ones.
pub fn subscribe_all(
    tx: &mut Tx<'_>,
    caller: &Caller,
    params: &SubscribeParams,
    creation: &CreationParams,
    named: Vec<Named>,
) -> ApiResult<SubscribeReply> {
    if caller.is_guest() {
        return Err(ApiError::bad_request("Not allowed for guest users"));
    }
    let users = principals::users(tx, caller, params.principals.as_ref())?;
    let for_others = users.iter().any(|user| user.user_id != caller.user_id);
    let Sorted { existing, missing, mut colors } = sort(tx, named)?;
    let (mut streams, refused) = authorize(tx, caller, existing, for_others)?;
    if params.authorization_errors_fatal {
        refused.require_none()?;
    }
    let (wanted_colors, new_channels): (Vec<_>, Vec<_>) =
        missing.into_iter().map(|named| (named.color, named.channel)).unzip();
    let made = create_channel::channels(tx, caller, &new_channels, creation)?;
    for (stream, color) in made.iter().zip(wanted_colors) {
        colors.extend(color.map(|color| (stream.stream_id, color)));
    }
    streams.extend(made.iter().cloned());

    let user_ids: Vec<UserId> = users.iter().map(|user| user.user_id).collect();
    let outcome = join::subscribe(tx, &streams, &user_ids, &colors)?;
    let sends = params.send_new_subscription_messages;
    let sent = sends && users.len() <= MAX_BULK_NEW_SUBSCRIPTION_MESSAGES;
    let notices = notices(tx, caller, &made, params.announce, sent.then_some((&users, &outcome)))?;
    notices::send(tx, notices, caller.user_id)?;
    Ok(SubscribeReply {
        outcome,
        unauthorized: (!params.authorization_errors_fatal).then(|| refused.names()),
        new_subscription_messages_sent: sends.then_some(sent),
    })
}

/// The channels that were named, those that are there and those that are not.
struct Sorted {
    existing: Vec<StreamRow>,
    missing: Vec<Named>,
    /// Of those that are there.
    colors: HashMap<StreamId, String>,
}

/// Looks the names up, each once.
fn sort(tx: &Tx<'_>, named: Vec<Named>) -> ApiResult<Sorted> {
    let mut sorted = Sorted { existing: Vec::new(), missing: Vec::new(), colors: HashMap::new() };
    let mut seen = HashSet::new();
    for named in named {
        if !seen.insert(fold(&named.channel.name)) {
            continue;
        }
        match channels::sql::by_name(tx, &named.channel.name)? {
            Some(stream) => {
                sorted.colors.extend(named.color.map(|color| (stream.stream_id, color)));
                sorted.existing.push(stream);
            }
            None => sorted.missing.push(named),
        }
    }
    Ok(sorted)
}

/// The names of channels to which the caller may not subscribe these users.
#[derive(Default)]
struct Refused {
    /// They may not read them.
    unread: Vec<String>,
    /// They may, but not subscribe others.
    not_for_others: Vec<String>,
}

impl Refused {
    fn require_none(&self) -> ApiResult<()> {
        if let Some(first) = self.unread.first() {
            return Err(ApiError::bad_request(format!("Unable to access channel ({first}).")));
        }
        if self.not_for_others.is_empty() { Ok(()) } else { Err(ApiError::insufficient_permission()) }
    }

    fn names(self) -> Vec<String> {
        [self.unread, self.not_for_others].concat()
    }
}

/// The channels to which the caller may subscribe these users, and the others.
fn authorize(
    tx: &Tx<'_>,
    caller: &Caller,
    streams: Vec<StreamRow>,
    for_others: bool,
) -> ApiResult<(Vec<StreamRow>, Refused)> {
    let viewer = Viewer::new(Ctx::in_job(tx, caller));
    let mut allowed = Vec::new();
    let mut refused = Refused::default();
    for stream in streams {
        if !viewer.can_read(&stream)? {
            refused.unread.push(stream.name);
        } else if for_others && !may_add_others(&viewer, &stream)? {
            refused.not_for_others.push(stream.name);
        } else {
            allowed.push(stream);
        }
    }
    Ok((allowed, refused))
}

/// What there is to say: in the new channels, in the announcement channel, and to the people that others subscribed to
/// channels that were there before.
fn notices(
    tx: &Tx<'_>,
    caller: &Caller,
    made: &[StreamRow],
    announce: bool,
    to_users: Option<(&Vec<UserRow>, &Outcome)>,
) -> ApiResult<Vec<Notice>> {
    let by = domain_notices::name_of(tx, caller)?;
    let mut all: Vec<Notice> = made.iter().map(|stream| notices::created(stream, &by)).collect();
    if announce {
        all.extend(notices::announced(tx, made, &by)?);
    }
    let Some((users, outcome)) = to_users else { return Ok(all) };
    let is_new = |name: &String| made.iter().any(|stream| stream.name == *name);
    for user in users.iter().filter(|user| user.user_id != caller.user_id && !user.is_bot()) {
        let names = outcome.subscribed.get(&user.user_id).into_iter().flatten();
        let names: Vec<String> = names.filter(|name| !is_new(name)).cloned().collect();
        if !names.is_empty() {
            all.push(notices::subscribed(user.user_id, &names, &by));
        }
    }
    Ok(all)
}
