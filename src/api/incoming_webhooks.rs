//! `POST /external/{integration}`: incoming webhooks, with which other programs send messages as a bot. The API key is
//! a parameter, so that the program needs only a URL.
//!
//! Without `stream` the message is a direct message to the bot's owner.

use crate::auth::credentials;
use crate::domain::bots::rules::INTEGRATIONS;
use crate::domain::messages::create::{OutgoingMessage, send};
use crate::domain::messages::destination::{Destination, MessageType};
use crate::domain::messages::markup::unused_fence;
use crate::domain::messages::{destination, rules};
use crate::domain::rendering::render_for;
use crate::http::Resource;
use crate::http::params::JsonOrText;
use crate::http::{ANYONE, Anyone, ApiError, ApiResult, Call, Caller, Reply, Route};
use crate::store::Snapshot;
use hyper::Method;
use serde::Deserialize;
use serde_json::Value;

/// Incoming webhooks.
pub const RESOURCE: Resource = Resource { name: "incoming_webhooks", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![Route::call(Method::POST, "/external/{integration}", ANYONE, deliver)]
}

/// The default topic.
const JSON_TOPIC: &str = "JSON";

/// The published client name of the messages.
const CLIENT: &str = "ZulipJSONWebhook";

/// Parameters of `POST /external/{integration}`. The body is the data of the other program.
#[derive(Deserialize)]
pub struct DeliverParams {
    /// The format of the body: `json`.
    integration: String,
    /// The bot's API key.
    api_key: String,
    /// The name or id of a channel; by default the message is a direct message to the bot's owner.
    stream: Option<JsonOrText>,
    /// The topic; by default `JSON`.
    topic: Option<String>,
}

/// `POST /external/json`: sends a message with the JSON of the body in a code block.
async fn deliver(call: Call<Anyone>, params: DeliverParams) -> ApiResult<Reply> {
    if !INTEGRATIONS.iter().any(|(name, _)| *name == params.integration) {
        return Err(ApiError::not_found());
    }
    let app = &call.app;
    let prepared = app.readers.read(|snapshot| prepare(&call, snapshot, &params)).await;
    let (mut caller, draft) = match prepared {
        Err(error) if error.code() == "INVALID_API_KEY" => {
            app.rate_limiter.record_key_failure(call.info.peer, app.clock.milliseconds())?;
            return Err(error);
        }
        prepared => prepared?,
    };
    let job = move |tx: &mut crate::store::Tx<'_>| -> ApiResult<Reply> {
        caller.reload(tx)?;
        send(tx, &caller, draft)?;
        Ok(Reply::ok())
    };
    app.writer.run(job).await
}

/// Authenticates the bot, and renders the message.
fn prepare(
    call: &Call<Anyone>,
    snapshot: &Snapshot<'_>,
    params: &DeliverParams,
) -> ApiResult<(Caller, OutgoingMessage)> {
    let caller = credentials::authenticate_key(snapshot, &params.api_key)?;
    let told: Value = serde_json::from_slice(&call.body)
        .map_err(|_| ApiError::new(400, "INVALID_JSON", "Malformed JSON"))?;
    let now = call.app.clock.seconds();
    let topic = params.topic.as_deref().unwrap_or(JSON_TOPIC);
    let address = match &params.stream {
        Some(stream) => {
            destination::resolve(snapshot, &caller, now, MessageType::Channel, stream, Some(topic))?
        }
        None => {
            let mut user_ids = vec![caller.user_id];
            user_ids.extend(caller.bot_owner_id);
            user_ids.sort_unstable();
            Destination::Direct(user_ids)
        }
    };
    let text = serde_json::to_string_pretty(&told)?;
    let fence = unused_fence(&text);
    let content = rules::content(&format!("{fence}json\n{text}\n{fence}"))?;
    let rendered = render_for(snapshot, &caller, now, &call.info.origin, &content)?;
    let draft = OutgoingMessage::new(address, content, rendered, CLIENT.to_owned());
    Ok((caller, draft))
}
