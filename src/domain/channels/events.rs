//! Events about channels, what of them each receiver gets, and the channels in the answer of `POST /register`.
//!
//! A client without the `archived_channels` capability has no archived channels: to it, archiving is a deletion and
//! its undoing a creation. Members whose names begin with `_` are for that decision and are never sent.

use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::channel_viewers::People;
use crate::domain::access::channels::Viewer;
use crate::domain::channels::record::{ChannelRecord, Records};
use crate::domain::channels::sql;
use crate::events::{Audience, Event, EventType, Receiver, Verdict};
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use crate::types::{Role, StreamId, UserId};
use roaring::RoaringBitmap;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// `stream`, `op: create`: a channel was made, or can now be seen.
#[derive(Serialize)]
pub struct StreamCreated<'a> {
    r#type: &'static str,
    op: &'static str,
    streams: [&'a ChannelRecord; 1],
}

impl<'a> StreamCreated<'a> {
    /// For one channel.
    pub fn new(stream: &'a ChannelRecord) -> Self {
        Self { r#type: Self::TYPE, op: "create", streams: [stream] }
    }
}

impl Event for StreamCreated<'_> {
    const TYPE: &'static str = "stream";
}

/// `stream`, `op: update`: a property changed.
#[derive(Serialize)]
pub struct StreamUpdated<'a> {
    r#type: &'static str,
    op: &'static str,
    stream_id: StreamId,
    /// The name, before the change if that is what changed.
    name: &'a str,
    property: &'static str,
    value: Value,
    /// `rendered_description`, or `history_public_to_subscribers` and `is_web_public`.
    #[serde(flatten)]
    more: Map<String, Value>,
    #[serde(rename = "_is_archived", skip_serializing_if = "std::ops::Not::not")]
    is_archived: bool,
    /// The whole channel, for clients to which the change is its creation.
    #[serde(rename = "_stream", skip_serializing_if = "Option::is_none")]
    stream: Option<&'a ChannelRecord>,
}

impl<'a> StreamUpdated<'a> {
    /// A property of a channel, which is as it was before.
    pub fn new(stream: &'a StreamRow, property: &'static str, value: impl Into<Value>) -> Self {
        Self {
            r#type: Self::TYPE,
            op: "update",
            stream_id: stream.stream_id,
            name: &stream.name,
            property,
            value: value.into(),
            more: Map::new(),
            is_archived: stream.is_archived,
            stream: None,
        }
    }

    /// Adds a member that comes with the property.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }

    /// The channel is archived, or is no longer.
    pub fn archived(stream: &'a StreamRow, record: &'a ChannelRecord) -> Self {
        let mut event = Self::new(stream, ARCHIVED, record.is_archived);
        event.stream = Some(record);
        event
    }
}

impl Event for StreamUpdated<'_> {
    const TYPE: &'static str = "stream";
}

/// `stream`, `op: delete`: a channel can no longer be seen.
#[derive(Serialize)]
pub struct StreamDeleted {
    r#type: &'static str,
    op: &'static str,
    /// Deprecated: objects with only the id.
    streams: [Value; 1],
    stream_ids: [StreamId; 1],
    #[serde(rename = "_is_archived", skip_serializing_if = "std::ops::Not::not")]
    is_archived: bool,
}

impl StreamDeleted {
    /// For one channel.
    pub fn new(stream_id: StreamId, is_archived: bool) -> Self {
        Self {
            r#type: Self::TYPE,
            op: "delete",
            streams: [json!({ "stream_id": stream_id })],
            stream_ids: [stream_id],
            is_archived,
        }
    }
}

impl Event for StreamDeleted {
    const TYPE: &'static str = "stream";
}

/// `default_streams`: which channels new users are subscribed to.
#[derive(Serialize)]
struct DefaultStreams {
    r#type: &'static str,
    default_streams: Vec<StreamId>,
}

impl Event for DefaultStreams {
    const TYPE: &'static str = "default_streams";
}

/// Tells members that the default channels changed. Guests are never subscribed by default.
pub fn emit_default_streams(tx: &mut Tx<'_>, people: &People) -> ApiResult<()> {
    let event = DefaultStreams { r#type: DefaultStreams::TYPE, default_streams: sql::default_streams(tx)? };
    tx.emit(&event, Audience::set(people.members()));
    Ok(())
}

/// Tells a user the default channels after a change of their role: guests have none.
pub fn tell_default_streams(tx: &mut Tx<'_>, user_id: UserId, role: Role) -> ApiResult<()> {
    let default_streams = if role == Role::Guest { Vec::new() } else { sql::default_streams(tx)? };
    let event = DefaultStreams { r#type: DefaultStreams::TYPE, default_streams };
    tx.emit(&event, Audience::user(user_id));
    Ok(())
}

const ARCHIVED: &str = "is_archived";

/// The event as it is.
const PLAIN: u8 = 0;

/// Archiving, to a client that has no archived channels.
const AS_DELETION: u8 = 1;

/// The end of archiving, to such a client.
const AS_CREATION: u8 = 2;

/// How `stream` events differ between receivers.
pub fn event_types() -> Vec<EventType> {
    vec![EventType { name: "stream", verdict, form, personal: EventType::nothing_personal }]
}

fn verdict(event: &Value, receiver: &Receiver<'_>) -> Verdict {
    if receiver.registration.client_capabilities.archived_channels {
        return Verdict::Form(PLAIN);
    }
    if event["op"] == "update" && event["property"] == ARCHIVED {
        return Verdict::Form(if event["value"] == true { AS_DELETION } else { AS_CREATION });
    }
    let is_archived = event["_is_archived"] == true
        || (event["op"] == "create" && event["streams"][0]["is_archived"] == true);
    if is_archived { Verdict::Skip } else { Verdict::Form(PLAIN) }
}

fn form(event: &Value, number: u8) -> String {
    match number {
        AS_DELETION => {
            let stream_id = &event["stream_id"];
            json!({
                "type": "stream",
                "op": "delete",
                "streams": [{ "stream_id": stream_id }],
                "stream_ids": [stream_id],
            })
            .to_string()
        }
        AS_CREATION => json!({ "type": "stream", "op": "create", "streams": [event["_stream"]] }).to_string(),
        _ => without_hidden(event).to_string(),
    }
}

/// An event without the members that are only for deciding.
pub fn without_hidden(event: &Value) -> Value {
    let members = event.as_object().into_iter().flatten();
    let shown = members.filter(|(name, _)| !name.starts_with('_'));
    Value::Object(shown.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// `streams` in the answer of `POST /register`: every channel that the caller may know of, in the order of names.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let viewer = Viewer::new(request.connection, request.caller, request.now);
    let records = Records::new(request.connection, request.now)?;
    let with_archived = request.registration.client_capabilities.archived_channels;
    let mut streams = Vec::new();
    for stream in sql::all(request.connection)? {
        if (with_archived || !stream.is_archived) && viewer.standing(&stream)?.may_know() {
            streams.push(records.of(&stream)?);
        }
    }
    state.insert_large("streams", &streams)?;
    Ok(())
}

/// `realm_default_streams` in the answer of `POST /register`; guests have none.
pub fn default_streams_state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let ids = if request.caller.is_guest() { Vec::new() } else { sql::default_streams(request.connection)? };
    state.insert("realm_default_streams".into(), json!(ids));
    Ok(())
}

/// `subscription`, `op: peer_add` and `peer_remove`: others came to channels or left them.
#[derive(Serialize)]
pub struct PeersChanged {
    r#type: &'static str,
    op: &'static str,
    stream_ids: Vec<StreamId>,
    user_ids: Vec<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    _is_archived: bool,
}

impl PeersChanged {
    /// These users came to channels that are all archived, or all not.
    pub fn added(stream_ids: Vec<StreamId>, users: &RoaringBitmap, is_archived: bool) -> Self {
        Self {
            r#type: Self::TYPE,
            op: "peer_add",
            stream_ids,
            user_ids: users.iter().collect(),
            _is_archived: is_archived,
        }
    }

    /// These users left channels that are all archived, or all not.
    pub fn removed(stream_ids: Vec<StreamId>, users: &RoaringBitmap, is_archived: bool) -> Self {
        Self { op: "peer_remove", ..Self::added(stream_ids, users, is_archived) }
    }
}

impl Event for PeersChanged {
    const TYPE: &'static str = "subscription";
}
