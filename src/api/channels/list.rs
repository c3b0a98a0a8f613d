//! `GET /streams`, `GET /streams/{stream_id}` and `GET /get_stream_id`.

use crate::domain::access::channels::Viewer;
use crate::domain::channels::record::{ChannelRecord, Records, record};
use crate::domain::rows::channel::StreamRow;
use crate::domain::{access, channels, subscriptions};
use crate::http::{ApiError, ApiResult, Read, Reply, User};
use crate::types::{StreamId, UserId};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Parameters of `GET /streams` (spec, "get all channels").
#[derive(Deserialize)]
#[serde(default)]
pub struct StreamsParams {
    /// True to include public channels, except for guests. True by default.
    include_public: bool,
    /// True to include channels that can be read without an account. False by default.
    include_web_public: bool,
    /// True to include channels that the caller is subscribed to. True by default.
    include_subscribed: bool,
    /// True to leave out archived channels. True by default.
    exclude_archived: bool,
    /// True to include all channels whose metadata the caller may see. False by default.
    include_all: bool,
    /// Deprecated name of `include_all`; only for administrators.
    include_all_active: bool,
    /// True to include the default channels, and to add `is_default` to each channel. False by default.
    include_default: bool,
    /// For bots: true to include channels that the bot's owner is subscribed to. False by default.
    include_owner_subscribed: bool,
    /// True to include channels whose messages the caller may read. False by default.
    include_can_access_content: bool,
}

impl Default for StreamsParams {
    fn default() -> Self {
        Self {
            include_public: true,
            include_web_public: false,
            include_subscribed: true,
            exclude_archived: true,
            include_all: false,
            include_all_active: false,
            include_default: false,
            include_owner_subscribed: false,
            include_can_access_content: false,
        }
    }
}

/// The reply to `GET /streams`.
#[derive(Serialize)]
pub struct Channels {
    /// The channels, by name.
    pub streams: Vec<ChannelRecord>,
}

/// `GET /streams`: lists the channels that match any of the filters, by name.
pub fn streams(read: &Read<'_, User>, params: StreamsParams) -> ApiResult<Reply<Channels>> {
    if params.include_all_active && !read.caller.role.is_administrator() {
        return Err(ApiError::bad_request("User not authorized for this query"));
    }
    let now = read.app.clock.seconds();
    let filter = ChannelFilter::new(read, &params)?;
    let records = Records::new(read, now, &read.app.channel_traffic)?;
    let mut streams = Vec::new();
    for stream in channels::all(read)? {
        if filter.includes(&stream)? {
            let mut record = records.of(&stream)?;
            record.is_default = params.include_default.then(|| filter.defaults.contains(&stream.stream_id));
            streams.push(record);
        }
    }
    Reply::data(&Channels { streams })
}

/// The filters of `GET /streams`, with the sets of channels that they need loaded.
struct ChannelFilter<'a> {
    params: &'a StreamsParams,
    viewer: Viewer<'a>,
    is_guest: bool,
    subscribed: HashSet<StreamId>,
    owner_subscribed: HashSet<StreamId>,
    defaults: HashSet<StreamId>,
}

impl<'a> ChannelFilter<'a> {
    fn new(read: &'a Read<'_, User>, params: &'a StreamsParams) -> ApiResult<Self> {
        let subscribed_to = |user_id: UserId| -> ApiResult<HashSet<StreamId>> {
            let own = subscriptions::list_active(read, user_id)?;
            Ok(own.into_iter().map(|subscription| subscription.stream_id).collect())
        };
        let owner =
            read.caller.bot_owner_id.filter(|_| params.include_owner_subscribed && read.caller.is_bot());
        Ok(Self {
            params,
            viewer: Viewer::new(read.ctx()),
            is_guest: read.caller.is_guest(),
            subscribed: if params.include_subscribed {
                subscribed_to(read.caller.user_id)?
            } else {
                HashSet::new()
            },
            owner_subscribed: match owner {
                Some(owner) => subscribed_to(owner)?,
                None => HashSet::new(),
            },
            defaults: if params.include_default {
                channels::default_streams(read)?.into_iter().collect()
            } else {
                HashSet::new()
            },
        })
    }

    fn includes(&self, stream: &StreamRow) -> ApiResult<bool> {
        if stream.is_archived && self.params.exclude_archived {
            return Ok(false);
        }
        if (self.params.include_public && stream.is_public() && !self.is_guest)
            || (self.params.include_web_public && stream.is_web_public)
            || self.subscribed.contains(&stream.stream_id)
            || self.owner_subscribed.contains(&stream.stream_id)
        {
            return Ok(true);
        }
        let includes_all = self.params.include_all || self.params.include_all_active;
        if !includes_all
            && !self.params.include_can_access_content
            && !self.defaults.contains(&stream.stream_id)
        {
            return Ok(false);
        }
        if self.params.include_can_access_content && !includes_all {
            self.viewer.can_read(stream)
        } else {
            self.viewer.can_see(stream)
        }
    }
}

/// Parameters of `GET /streams/{stream_id}`.
#[derive(Deserialize)]
pub struct StreamParams {
    /// The id of a channel whose metadata the caller may see.
    stream_id: StreamId,
}

/// The reply to `GET /streams/{stream_id}`.
#[derive(Serialize)]
pub struct OneChannel {
    /// The channel, as in `GET /streams`.
    pub stream: ChannelRecord,
}

/// `GET /streams/{stream_id}`: returns one channel.
pub fn stream(read: &Read<'_, User>, params: StreamParams) -> ApiResult<Reply<OneChannel>> {
    let now = read.app.clock.seconds();
    let stream = access::channels::find_for_metadata(read.ctx(), params.stream_id)?;
    Reply::data(&OneChannel { stream: record(read, now, &stream)? })
}

/// Parameters of `GET /get_stream_id`.
#[derive(Deserialize)]
pub struct StreamIdParams {
    /// The channel's name; upper and lower case are the same.
    stream: String,
}

/// The reply to `GET /get_stream_id`.
#[derive(Serialize)]
pub struct ChannelId {
    /// The id of the channel.
    pub stream_id: StreamId,
}

/// `GET /get_stream_id`: returns the id of a channel that the caller may read and that is not archived.
pub fn stream_id(read: &Read<'_, User>, params: StreamIdParams) -> ApiResult<Reply<ChannelId>> {
    let found = channels::by_name(read, &params.stream)?.filter(|stream| !stream.is_archived);
    if let Some(stream) = found
        && access::channels::has_content_access(read.ctx(), &stream)?
    {
        return Reply::data(&ChannelId { stream_id: stream.stream_id });
    }
    Err(ApiError::bad_request(format!("Invalid channel name '{}'", params.stream)))
}
