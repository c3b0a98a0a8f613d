//! `POST /messages/{message_id}/report`: reports a message to the moderators (feature level 382).

use crate::api::resource::Resource;
use crate::auth::Ctx;
use crate::domain::limits::MAX_MESSAGE_LENGTH;
use crate::domain::messages::destination::Destination;
use crate::domain::messages::markup::{Location, enumerated, framed, mentions_of_others, silent_mention};
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::notices::{BotMessage, budget};
use crate::domain::rows::channel::{StreamRow, TopicsPolicy};
use crate::domain::{realm, rows};
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, Route, USER, User};
use crate::types::{Language, MessageId, StreamId, Topic, fill};
use hyper::Method;
use rusqlite::Connection;
use serde::Deserialize;
use teamchat_markdown::{global_time, silenced};

pub const RESOURCE: Resource = Resource { name: "reports", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![Route::call(Method::POST, "/messages/{message_id}/report", USER, report_message)]
}

/// The longest description, in characters.
const MAX_DESCRIPTION_LENGTH: usize = 1000;

/// The longest quote of reason and description, in characters. Only descriptions full of fences do not fit.
const MAX_REASON_LENGTH: usize = 2 * MAX_DESCRIPTION_LENGTH;

/// The reason of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportType {
    /// Advertising and the like.
    Spam,
    /// Harassment of a person or a group.
    Harassment,
    /// Inappropriate content.
    Inappropriate,
    /// A violation of the organization's rules.
    Norms,
    /// Another reason, given in the description.
    Other,
}

impl ReportType {
    fn name(self, language: Language) -> &'static str {
        match self {
            Self::Spam => language.t("Spam"),
            Self::Harassment => language.t("Harassment"),
            Self::Inappropriate => language.t("Inappropriate content"),
            Self::Norms => language.t("Violates community norms"),
            Self::Other => language.t("Other reason"),
        }
    }
}

/// Parameters of `POST /messages/{message_id}/report`.
#[derive(Deserialize)]
pub struct ReportParams {
    /// The id of a message that the caller can see.
    message_id: MessageId,
    /// The reason: `spam`, `harassment`, `inappropriate`, `norms` (the organization's rules) or `other`.
    report_type: ReportType,
    /// A description of the problem, at most 1000 characters. Required for `other`.
    #[serde(default)]
    description: BoundedText<MAX_DESCRIPTION_LENGTH>,
}

/// `POST /messages/{message_id}/report`: reports a message to the moderators. The notification bot posts the report in
/// the channel for moderation requests.
async fn report_message(call: Call<User>, params: ReportParams) -> ApiResult<Reply> {
    let now = call.app.clock.seconds();
    if params.report_type == ReportType::Other && params.description.is_empty() {
        return Err(ApiError::bad_request("An explanation is required."));
    }
    let (app, caller, origin) = (&call.app, Caller::clone(&call.caller), call.info.origin.clone());
    let message_id = params.message_id;
    // The message that is quoted may be long.
    let report = app.read_in(&app.pools.rendering, Some(caller.quota_owner()), move |snapshot| {
        let stream = moderation_channel(snapshot)?;
        let message = MessageViewer::new(Ctx::new(snapshot, &caller, now)).find(params.message_id)?;
        let content = text(snapshot, &caller, &message, params.report_type, &params.description)?;
        let to = destination(snapshot, stream, &message)?;
        BotMessage::new(Ctx::new(snapshot, &caller, now), &origin, to, content)
    });
    let report = report.await?;
    call.write(move |tx, caller| {
        let stream = moderation_channel(tx)?;
        let message = MessageViewer::new(tx.ctx(caller)).find(message_id)?;
        // Reports may go to another channel now, and the former one may be public.
        let report = report.to(destination(tx, stream, &message)?);
        let sent = budget::send_within(tx, caller.user_id, report.destination(), |tx| report.send(tx))?;
        sent.map_err(|used_up| {
            ApiError::bad_request(format!("You have reported too many messages. {}", used_up.wait()))
        })
    })
    .await?;
    Ok(Reply::ok())
}

/// The channel that reports go to.
fn moderation_channel(connection: &Connection) -> ApiResult<StreamRow> {
    let stream_id: i64 = realm::settings::MODERATION_REQUEST_CHANNEL_ID.get(connection)?;
    rows::channel::by_id(connection, StreamId(stream_id))?.filter(|stream| !stream.is_archived).ok_or_else(
        || ApiError::bad_request("Moderation request channel must be specified to enable message reporting."),
    )
}

/// The destination of the report of a message.
fn destination(connection: &Connection, stream: StreamRow, message: &MessageRow) -> ApiResult<Destination> {
    let topic = if stream.topics_policy == TopicsPolicy::EmptyTopicOnly {
        String::new()
    } else {
        let text = realm::common_language(connection)?.t("{name} moderation");
        fill(text, &[("name", &message.sender_full_name)])
    };
    // A topic that would be too long is cut, as everywhere.
    let topic = Topic::from_client(&topic).unwrap_or_else(|_| Topic::stored(String::new()));
    Ok(Destination::Channel(Box::new(stream), topic))
}

/// The text of the report, in the language of the organization: the reporter, the reason, and the message in a spoiler.
fn text(
    connection: &Connection,
    caller: &Caller,
    message: &MessageRow,
    report_type: ReportType,
    description: &str,
) -> ApiResult<String> {
    let language = realm::common_language(connection)?;
    let reporter = rows::user::existing(connection, caller.user_id)?;
    let reporter = silent_mention(&reporter.full_name, reporter.user_id);
    let sender = silent_mention(&message.sender_full_name, message.sender_id);
    let place = Location::of(connection, message)?;
    let (people, original) = match &place {
        Location::Channel { link, .. } => {
            (String::new(), fill(language.t("Original message at {link}"), &[("link", link)]))
        }
        Location::Direct { people, url } => {
            let others = mentions_of_others(connection, people, message.sender_id)?;
            // Omitted for a direct message to the reporter alone.
            let is_obvious = people.len() <= 2 && message.sender_id != caller.user_id;
            let people = if is_obvious { String::new() } else { enumerated(language, &others) };
            (people, fill(language.t("[Original message]({url})"), &[("url", url)]))
        }
    };
    let sentence = if people.is_empty() {
        language.t("{reporter} reported a message sent by {sender} at {time}.")
    } else {
        language.t("{reporter} reported a message sent by {sender} to {people} at {time}.")
    };
    let time = global_time(message.timestamp);
    let sentence =
        fill(sentence, &[("reporter", &reporter), ("sender", &sender), ("people", &people), ("time", &time)]);
    let reason = format!("**{}**. {description}", report_type.name(language));
    let reason = framed("quote", &reason, MAX_REASON_LENGTH);
    let begin = format!("{sentence}\n{reason}\n\n");
    let room = MAX_MESSAGE_LENGTH.saturating_sub(begin.chars().count());
    // A spoiler is no quote: mentions in it would count.
    let content = silenced(&message.content);
    Ok(begin + &framed(&format!(" spoiler {original}"), &content, room))
}
