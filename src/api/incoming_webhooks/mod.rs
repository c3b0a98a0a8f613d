//! `POST /external/{integration}`: incoming webhooks, with which other programs send messages as a bot. The API key is
//! a parameter, so that the program needs only a URL.
//!
//! Without `stream` the message is a direct message to the bot's owner. An integration is a pure function from a payload
//! to messages (`table.rs`); everything else is the same for all of them: reading the body, filters of events, topics,
//! mentions, and the notice to the bot's owner when a delivery fails.

mod body;
mod filter;
mod git;
mod gitea;
mod github;
mod gitlab;
mod grafana;
mod media;
mod monitors;
mod mrkdwn;
mod payload;
mod plain;
mod sentry;
mod slack;
mod table;
mod text;

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::auth::Ctx;
use crate::domain::bots::integrations::IntegrationName;
use crate::domain::messages::create::{OutgoingMessage, send};
use crate::domain::messages::destination;
use crate::domain::messages::destination::{Destination, MessageType};
use crate::domain::messages::rules::mentions;
use crate::domain::rendering::{TimeLimit, render_within};
use crate::domain::rows::channel::TopicsPolicy;
use crate::domain::{messages, notices, rows};
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, Route, VISITOR, Visitor, ok_unless_refused};
use crate::store::{Snapshot, Tx};
use crate::types::{JsonOrText, UserId, is_unprintable};
use bytes::Bytes;
use filter::Filter;
use hyper::Method;
use payload::{Options, Payload, Post, Refusal};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use table::Integration;
use teamchat_markdown::{Words, silenced};

pub const RESOURCE: Resource =
    Resource { name: "incoming_webhooks", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] =
    &[StatePart { name: "realm_incoming_webhook_bots", fetch: incoming_webhook_bots }];

/// The largest payload, in bytes. Pushes of many commits have some hundred kilobytes.
const MAX_PAYLOAD_BYTES: usize = 4 << 20;

fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::POST, "/external/{integration}", VISITOR, deliver)
            .raw_body()
            .key_in_query()
            .for_webhooks()
            .body_limit(MAX_PAYLOAD_BYTES),
    ]
}

/// An integration: a program whose webhooks an incoming webhook bot accepts.
#[derive(Serialize)]
struct IntegrationRecord {
    /// The name in URLs, and the value of `service_name` in `POST /bots`.
    name: &'static str,
    /// The name for people.
    display_name: &'static str,
    /// The types of events that `only_events` and `exclude_events` can name; null for an integration without such
    /// filters.
    all_event_types: Option<&'static [&'static str]>,
    /// Always empty: nothing needs to be configured.
    config_options: [(); 0],
    /// Parameters of the integration's URL other than the channel, the topic and the filters of events.
    url_options: &'static [table::UrlOption],
}

/// State part `realm_incoming_webhook_bots`: the integrations for incoming webhook bots.
fn incoming_webhook_bots(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let record = |integration: &Integration| IntegrationRecord {
        name: integration.name.as_str(),
        display_name: integration.name.display_name(),
        all_event_types: Some(integration.events).filter(|events| !events.is_empty()),
        config_options: [],
        url_options: integration.url_options,
    };
    let integrations: Vec<IntegrationRecord> = table::TABLE.iter().map(record).collect();
    state.set::<Vec<IntegrationRecord>>("realm_incoming_webhook_bots", &integrations)
}

/// Parameters of `POST /external/{integration}`. The body is the data of the other program.
#[derive(Deserialize)]
pub struct DeliverParams {
    /// The name of the integration, such as `github`. An unknown one is answered with 404.
    integration: String,
    /// The API key of an incoming webhook bot, with which the request is authenticated.
    #[serde(rename = "api_key")]
    _api_key: String,
    /// The name or id of the channel for the messages. By default they are direct messages to the bot's owner.
    stream: Option<JsonOrText>,
    /// The topic of the messages. By default the integration derives one from the payload.
    topic: Option<String>,
    /// Patterns of event types: only events that match one of them create messages. `*` matches any characters.
    only_events: Option<Vec<String>>,
    /// Patterns of event types: events that match one of them create no messages.
    exclude_events: Option<Vec<String>>,
    /// For Git forges: the branches whose pushes create messages, separated by commas. By default all.
    branches: Option<String>,
    /// For GitHub: true to ignore events of private repositories. False by default.
    #[serde(default)]
    ignore_private_repositories: bool,
    /// For Alertmanager: the label whose value is the topic. `instance` by default.
    name: Option<String>,
    /// For Alertmanager: the label whose value is the text. `alertname` by default.
    desc: Option<String>,
}

impl DeliverParams {
    /// Decodes channel and topic once more: as published, for programs that encode the parameters of a URL twice.
    fn decoded(mut self) -> Self {
        let decode = |text: &mut String| {
            if let Ok(Cow::Owned(decoded)) = percent_decode_str(text).decode_utf8() {
                *text = decoded;
            }
        };
        if let Some(topic) = &mut self.topic {
            decode(topic);
        }
        if let Some(JsonOrText::Text(name)) = &mut self.stream {
            decode(name);
        }
        self
    }
}

/// `POST /external/{integration}`: converts the payload of another program into messages. The body is the payload, at
/// most 4 MiB.
async fn deliver(call: Call<Visitor>, params: DeliverParams) -> ApiResult<Reply<DeliveryReply>> {
    let integration = table::find(&params.integration).ok_or_else(ApiError::not_found)?;
    let params = Arc::new(params.decoded());
    let caller = call.caller.user().cloned().ok_or_else(|| ApiError::missing("api_key"))?;
    match deliver_as(&call, &params, integration, &caller).await {
        Ok(reply) => Ok(reply),
        Err(failure) => {
            let (error, notice) = failure.into_parts(integration, &call);
            if let Some(notice) = notice.filter(|_| error.status() < 500) {
                tell_owner(&call, caller, &params, notice).await?;
            }
            // As published: the sender cannot do anything about a missing channel, and the owner knows.
            if error.code() == "STREAM_DOES_NOT_EXIST" {
                return success(integration);
            }
            if integration.name != IntegrationName::SlackIncoming {
                return Err(error);
            }
            // Programs that know Slack show this text.
            let text = error.msg().to_owned();
            Err(error.with("ok", false).with("error", text))
        }
    }
}

/// Why a delivery failed.
enum Failure {
    /// The payload is refused.
    Refused(Refusal),
    /// The message cannot be sent.
    NotSent(ApiError),
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::NotSent(error)
    }
}

/// A notice to the owner of the bot.
enum Notice {
    /// The channel does not exist.
    MissingChannel,
    /// A text about the bot, in which `{bot}` and `{email}` are replaced by its name and email.
    Text(String),
}

impl Failure {
    /// The error for the sender, and the notice for the owner.
    fn into_parts(self, integration: &Integration, call: &Call<Visitor>) -> (ApiError, Option<Notice>) {
        let title = integration.title;
        match self {
            Self::Refused(refusal) => {
                let text = match &refusal {
                    // A sender may send more events than its owner has use for.
                    Refusal::Unsupported(_) => None,
                    Refusal::InvalidJson => Some(format!(
                        "Hi there! It looks like you tried to set up the {title} integration, but didn't \
                         correctly configure the webhook to send data in the JSON format that this integration expects!"
                    )),
                    Refusal::MissingHeader(header) => Some(format!(
                        "Hi there!  Your bot {{bot}} just sent an HTTP request to /api/v1/external/{} that is missing \
                         the HTTP {header} header.  Because this header is how {title} indicates the event type, this \
                         usually indicates a configuration issue, where you either entered the URL for a different \
                         integration, or are running an older version of the third-party service that doesn't \
                         provide that header.",
                        integration.name.as_str()
                    )),
                    Refusal::Anomalous | Refusal::Misconfigured => Some(format!(
                        "Hi there! Your bot {{bot}} just received a {title} payload that is missing some data that \
                         this integration requires. This usually indicates a configuration issue in your {title} webhook \
                         settings. Please make sure that you set the required parameters when configuring the {title} \
                         webhook."
                    )),
                    Refusal::Charset(_) | Refusal::Invalid(_) => Some(format!(
                        "Your bot {{email}} received a {title} payload that was refused: {}",
                        refusal.error(title).msg()
                    )),
                };
                (refusal.error(title), text.map(Notice::Text))
            }
            Self::NotSent(error) if error.code() == "STREAM_DOES_NOT_EXIST" => {
                (error, Some(Notice::MissingChannel))
            }
            Self::NotSent(error) if error.status() == 401 => (error, None),
            Self::NotSent(error) => {
                tracing::debug!(peer = %call.info.peer, %error, "a webhook failed");
                let text = format!(
                    "Your bot {{email}} could not send the message of a {title} webhook: {}",
                    text::line(error.msg())
                );
                (error, Some(Notice::Text(text)))
            }
        }
    }
}

async fn tell_owner(
    call: &Call<Visitor>,
    mut caller: Caller,
    params: &DeliverParams,
    notice: Notice,
) -> ApiResult<()> {
    let stream = params.stream.clone();
    let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        caller.reload(tx)?;
        match (notice, stream) {
            (Notice::MissingChannel, Some(stream)) => notices::bots::missing_channel(tx, &caller, &stream),
            (Notice::MissingChannel, None) => Ok(()),
            (Notice::Text(text), _) => notices::bots::notify_owner(tx, &caller, caller.user_id, |bot, _| {
                let text = text.replace("{bot}", &bot.full_name);
                match text.split_once("{email}") {
                    Some((before, after)) => {
                        Words::default().text(before).code(&bot.delivery_email).text(after).into()
                    }
                    None => Words::default().text(&text).into(),
                }
            }),
        }
    };
    call.app.writer.run(job).await
}

/// The reply to `POST /external/{integration}`.
#[derive(Default, Serialize)]
struct DeliveryReply {
    /// Always true. Only for `slack_incoming`, as Slack's clients expect.
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
    /// The account of the key, for Zapier.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    account: Option<Account>,
}

/// Owner of the key that a program uses.
#[derive(Serialize)]
struct Account {
    /// The bot's display name.
    full_name: String,
    /// The bot's API email.
    email: String,
    /// The bot's user id.
    id: UserId,
}

/// The reply to a delivery. Programs that know Slack look for `ok`.
fn success(integration: &Integration) -> ApiResult<Reply<DeliveryReply>> {
    let ok = (integration.name == IntegrationName::SlackIncoming).then_some(true);
    Reply::data(&DeliveryReply { ok, account: None })
}

async fn deliver_as(
    call: &Call<Visitor>,
    params: &Arc<DeliverParams>,
    integration: &'static Integration,
    caller: &Caller,
) -> Result<Reply<DeliveryReply>, Failure> {
    let delivery = Delivery {
        integration,
        params: Arc::clone(params),
        content_type: call.info.header("Content-Type").map(str::to_owned),
        event: integration.headers.iter().find_map(|header| call.info.header(header)).map(str::to_owned),
        body: call.body.clone(),
        sender: caller.clone(),
        now: call.app.clock.seconds(),
        origin: call.info.origin.clone(),
        time_for_formulas: call.app.options.overrides.time_for_formulas,
    };
    // A large body takes as long to read as its messages take to render.
    let rendering = &call.app.pools.rendering;
    let prepared =
        call.app.read_in(rendering, Some(caller.quota_owner()), move |snapshot| delivery.prepare(snapshot));
    let drafts = match prepared.await?.map_err(Failure::Refused)? {
        Prepared::Account => return Ok(describe_account(call, caller).await?),
        Prepared::Messages(drafts) if drafts.is_empty() => return Ok(success(integration)?),
        Prepared::Messages(drafts) => drafts,
    };
    let mut caller = caller.clone();
    let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        caller.reload(tx)?;
        for draft in drafts {
            let destination = draft.destination.clone();
            send(tx, &caller, draft)?;
            if let Destination::Channel(stream, _) = destination {
                notices::bots::channel_without_subscribers(tx, &caller, &stream)?;
            }
        }
        Ok(())
    };
    call.app.writer.run(job).await?;
    Ok(success(integration)?)
}

/// A delivery before its body is read.
struct Delivery {
    integration: &'static Integration,
    params: Arc<DeliverParams>,
    content_type: Option<String>,
    /// The event that a header names.
    event: Option<String>,
    body: Bytes,
    sender: Caller,
    now: i64,
    /// The address of the server, for links.
    origin: String,
    /// The time for the formulas in all messages, if it is not the usual one.
    time_for_formulas: Option<Duration>,
}

/// A prepared delivery.
enum Prepared {
    /// Rendered messages; empty if the event is not shown.
    Messages(Vec<OutgoingMessage>),
    /// A request for the owner of the key.
    Account,
}

impl Delivery {
    /// Reads the body, and renders the messages of the integration.
    fn prepare(&self, snapshot: &Snapshot<'_>) -> ApiResult<Result<Prepared, Refusal>> {
        let topic = self.topic(snapshot);
        match self.read(topic) {
            Ok(Some(posts)) => {
                let limit = TimeLimit::start_with(self.time_for_formulas);
                let drafts = posts.into_iter().map(|post| self.draft(snapshot, &limit, topic, post));
                Ok(Ok(Prepared::Messages(drafts.collect::<ApiResult<_>>()?)))
            }
            Ok(None) => Ok(Ok(Prepared::Account)),
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    /// The topic of all messages: that of the address, or the empty one in direct messages and in a channel without topics. `None`
    /// if each message has its own.
    fn topic(&self, snapshot: &Snapshot<'_>) -> Option<&str> {
        let params = &self.params;
        if params.topic.is_some() {
            return params.topic.as_deref();
        }
        let Some(stream) = &params.stream else { return Some("") };
        let ctx = Ctx::new(snapshot, &self.sender, self.now);
        match destination::find(ctx, MessageType::Channel, stream, Some("")) {
            Ok(Destination::Channel(stream, _)) if stream.topics_policy == TopicsPolicy::EmptyTopicOnly => {
                Some("")
            }
            _ => None,
        }
    }

    /// The messages that the body asks for; `None` if it asks for the account.
    fn read(&self, topic: Option<&str>) -> Result<Option<Vec<Post>>, Refusal> {
        let payload = body::read(self.integration.body, self.content_type.as_deref(), &self.body)?;
        let payload = Payload(&payload);
        if self.integration.name == IntegrationName::Zapier && payload.find_text("/type") == Some("auth") {
            return Ok(None);
        }
        let params = &self.params;
        let options = Options {
            topic,
            branches: params.branches.as_deref(),
            ignore_private_repositories: params.ignore_private_repositories,
            name_field: params.name.as_deref(),
            desc_field: params.desc.as_deref(),
            event: self.event.as_deref(),
        };
        let mut posts = (self.integration.posts)(payload, &options)?;
        let filter =
            Filter { only: params.only_events.as_deref(), exclude: params.exclude_events.as_deref() };
        posts.retain(|post| filter.passes(&post.event));
        Ok(Some(posts))
    }

    /// Creates a message of a post, and renders it.
    fn draft(
        &self,
        snapshot: &Snapshot<'_>,
        limit: &TimeLimit,
        topic: Option<&str>,
        post: Post,
    ) -> ApiResult<OutgoingMessage> {
        let Self { integration, params, sender, now, origin, .. } = self;
        let destination = match &params.stream {
            Some(stream) => {
                // A title with characters that topics cannot have is worth a message too.
                let own_topic = text::line(&post.topic).replace(is_unprintable, "");
                let topic = topic.unwrap_or(&own_topic);
                destination::resolve(
                    Ctx::new(snapshot, sender, *now),
                    MessageType::Channel,
                    stream,
                    Some(topic),
                )?
            }
            None => {
                let mut user_ids = vec![sender.user_id];
                user_ids.extend(sender.bot_owner_id);
                user_ids.sort_unstable();
                Destination::Direct(user_ids)
            }
        };
        let content =
            if integration.of_strangers { text::start(&silenced(&post.content)) } else { post.content };
        let mut content = messages::rules::content(&content)?;
        let mut rendered = render_within(limit, Ctx::new(snapshot, sender, *now), origin, &content)?;
        // Mentions that the bot has no permission for become silent: that the message arrives is worth more.
        let checked = mentions::check(Ctx::new(snapshot, sender, *now), destination.topic(), &rendered);
        if ok_unless_refused(checked)?.is_none() {
            content = messages::rules::content(&silenced(&content))?;
            rendered = render_within(limit, Ctx::new(snapshot, sender, *now), origin, &content)?;
        }
        Ok(OutgoingMessage::new(destination, content, rendered, integration.client()))
    }
}

/// Answers the request that Zapier sends on connecting: the owner of the key.
async fn describe_account(call: &Call<Visitor>, caller: &Caller) -> ApiResult<Reply<DeliveryReply>> {
    let user = call.app.readers.read(|snapshot| rows::user::existing(snapshot, caller.user_id)).await?;
    let account = Account { full_name: user.full_name, email: user.email, id: user.user_id };
    Reply::data(&DeliveryReply { ok: None, account: Some(account) })
}
