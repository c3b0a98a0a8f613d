//! Creating channels.

use crate::app::App;
use crate::auth::Caller;
use crate::domain::access::channel_viewers::ChannelViewers;
use crate::domain::access::channels::Viewer;
use crate::domain::audit::{Action, Entry};
use crate::domain::channels::events::StreamCreated;
use crate::domain::channels::record::Records;
use crate::domain::channels::rules::Privacy;
use crate::domain::groups::channel_settings;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::groups::roles::UserFilter;
use crate::domain::groups::setting::{GroupSetting, Owner};
use crate::domain::groups::system::SystemGroup;
use crate::domain::limits::{
    Accounts, MAX_CHANNELS_OF_CREATOR, MAX_PERMISSION_MEMBERS_PER_REQUEST, organization,
};
use crate::domain::rendering::render_descriptions;
use crate::domain::rows::channel::{StreamRow, TopicsPolicy};
use crate::domain::{access, channel_folders, channels, groups, limits, rows};
use crate::error::{ApiError, ApiResult};
use crate::events::Audience;
use crate::store::Tx;
use crate::types::{JsonOrText, StreamId};
use serde_json::json;

/// The properties of channels to be created.
#[derive(Clone, Debug, Default)]
pub struct NewChannelProperties {
    /// True if the channel is private.
    pub invite_only: bool,
    /// True if it can be read without an account.
    pub is_web_public: bool,
    /// True if new users are subscribed; administrators only.
    pub is_default_stream: bool,
    /// True if subscribers of a private channel can read messages that were sent before they subscribed.
    pub history_public_to_subscribers: Option<bool>,
    /// Days, `realm_default` or `unlimited`; owners only.
    pub message_retention_days: Option<JsonOrText>,
    /// Rule for the empty topic.
    pub topics_policy: TopicsPolicy,
    /// The folder to show it in.
    pub folder_id: Option<i64>,
    /// The permissions that were given.
    pub groups: Vec<(StreamSetting, GroupSetting)>,
}

/// A new channel's name and description, checked and rendered outside the writer.
#[derive(Clone, Debug)]
pub struct NewChannel {
    /// Trimmed, at most `MAX_STREAM_NAME_LENGTH` characters.
    pub name: String,
    /// Markdown, one line.
    pub description: String,
    /// The description in HTML.
    pub rendered_description: String,
}

/// Renders the descriptions of new channels; `channels` are pairs of name and description.
pub async fn prepare_channels(
    app: &App,
    caller: &Caller,
    origin: &str,
    channels: Vec<(String, String)>,
) -> ApiResult<Vec<NewChannel>> {
    let (names, descriptions): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
    let rendered = render_descriptions(app, caller, origin, &descriptions).await?;
    let texts = descriptions.into_iter().zip(rendered);
    Ok(names
        .into_iter()
        .zip(texts)
        .map(|(name, (description, rendered_description))| NewChannel {
            name,
            description,
            rendered_description,
        })
        .collect())
}

/// Creates channels, or none if the caller may not create one of them. Returns their rows.
pub fn create_channels(
    tx: &mut Tx<'_>,
    caller: &Caller,
    channels: &[NewChannel],
    properties: &NewChannelProperties,
) -> ApiResult<Vec<StreamRow>> {
    if channels.is_empty() {
        return Ok(Vec::new());
    }
    if !caller.role.is_administrator() {
        let statement = "SELECT count(*) FROM stream WHERE creator_id IN (SELECT value FROM json_each(?1))";
        let accounts = Accounts::of(tx, caller.user_id, tx.now())?;
        accounts.check("channels of one creator", statement, channels.len(), MAX_CHANNELS_OF_CREATOR)?;
    }
    let members = properties.groups.iter().map(|(_, value)| groups::setting::size(value)).sum::<usize>();
    let members = members.saturating_mul(channels.len());
    let limit = MAX_PERMISSION_MEMBERS_PER_REQUEST;
    limits::check("members of permissions in one request", members, limit)?;
    organization::CHANNELS.check(tx, caller, channels.len())?;
    let checked = check(tx, caller, properties)?;
    let mut created = Vec::with_capacity(channels.len());
    for channel in channels {
        if channels::rules::looks_like_another(tx, &channel.name, None)? {
            return Err(ApiError::bad_request("Channel name is already in use."));
        }
        created.push(insert(tx, caller, channel, properties, checked)?);
    }
    if channels.iter().any(|channel| !channel.description.is_empty()) {
        channels::rules::check_descriptions(tx, caller, caller.user_id)?;
    }
    if members > 0 {
        organization::check_group_members(tx.ctx(caller))?;
    }
    let mut viewers = ChannelViewers::load(tx, UserFilter::Everyone, tx.now())?;
    let stream_ids: Vec<StreamId> = created.iter().map(|stream| stream.stream_id).collect();
    let records = Records::of_few(tx, tx.now(), &stream_ids)?;
    let records = created.iter().map(|stream| records.of(stream)).collect::<ApiResult<Vec<_>>>()?;
    for (stream, record) in created.iter().zip(records) {
        let facts = json!({ "invite_only": stream.invite_only, "is_web_public": stream.is_web_public });
        tx.audit(Entry::new(Action::ChannelCreated, stream.stream_id).after(facts))?;
        let audience = viewers.users_who_can_see(tx, stream)?;
        tx.emit(StreamCreated::new(record), Audience::set(audience));
    }
    if properties.is_default_stream {
        channels::events::emit_default_streams(tx)?;
    }
    Ok(created)
}

/// The checked properties of new channels.
#[derive(Clone, Copy)]
struct CheckedProperties {
    privacy: Privacy,
    message_retention_days: Option<i64>,
}

/// Checks that the caller may create such channels.
fn check(tx: &Tx<'_>, caller: &Caller, properties: &NewChannelProperties) -> ApiResult<CheckedProperties> {
    let viewer = Viewer::new(tx.ctx(caller));
    access::permissions::require(&viewer, RealmGroup::to_create_channel(properties.invite_only))?;
    if properties.is_default_stream {
        caller.check_is_administrator()?;
        if properties.invite_only {
            return Err(ApiError::bad_request("A default channel cannot be private."));
        }
    }
    if properties.is_web_public {
        access::permissions::require_web_public(&viewer)?;
    }
    let privacy = Privacy::new(
        properties.invite_only,
        properties.is_web_public,
        properties.history_public_to_subscribers,
    )?;
    let message_retention_days = match &properties.message_retention_days {
        None => None,
        Some(value) => channels::rules::retention(value)?,
    };
    if message_retention_days.is_some() {
        caller.check_is_owner()?;
    }
    if properties.topics_policy != TopicsPolicy::Inherit {
        access::permissions::require(&viewer, RealmGroup::CanSetTopicsPolicy)?;
    }
    let nobody = GroupSetting::Group(SystemGroup::Nobody.id());
    if properties
        .groups
        .iter()
        .any(|(setting, value)| setting.is_about_deleting() && groups::setting::normal(value) != nobody)
    {
        access::permissions::require(&viewer, RealmGroup::CanSetDeleteMessagePolicy)?;
    }
    channel_folders::check_usable(tx, properties.folder_id)?;
    Ok(CheckedProperties { privacy, message_retention_days })
}

fn insert(
    tx: &Tx<'_>,
    caller: &Caller,
    channel: &NewChannel,
    properties: &NewChannelProperties,
    checked: CheckedProperties,
) -> ApiResult<StreamRow> {
    let row = channels::NewStreamRow {
        name: &channel.name,
        description: &channel.description,
        rendered_description: &channel.rendered_description,
        date_created: tx.now(),
        creator_id: Some(caller.user_id),
        privacy: checked.privacy,
        message_retention_days: checked.message_retention_days,
        topics_policy: properties.topics_policy,
        folder_id: properties.folder_id,
    };
    let stream_id = channels::insert(tx, &row)?;
    if !properties.groups.iter().any(|(setting, _)| *setting == StreamSetting::CanAdministerChannel) {
        channel_settings::set_creator(tx, stream_id, caller.user_id)?;
    }
    for (setting, value) in &properties.groups {
        let group = setting.parse(tx, value)?;
        groups::setting::set(tx, Owner::Stream(stream_id.0), setting.name(), group)?;
    }
    if properties.is_default_stream {
        channels::set_default(tx, stream_id, true)?;
    }
    rows::channel::existing(tx, stream_id)
}
