//! Creating channels.

use crate::auth::Ctx;
use crate::domain::access::channel_rows::{StreamRow, TopicsPolicy};
use crate::domain::access::channel_viewers::ChannelViewers;
use crate::domain::access::channels::Viewer;
use crate::domain::access::{channel_rows, permissions};
use crate::domain::channel_folders;
use crate::domain::channels::events::StreamCreated;
use crate::domain::channels::group_params::GroupParams;
use crate::domain::channels::record::Records;
use crate::domain::channels::rules::Privacy;
use crate::domain::channels::{events, rules, sql as channels_sql};
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::groups::realm_settings::RealmGroup;
use crate::domain::groups::roles::Among;
use crate::domain::groups::setting::{GroupSetting, Owner};
use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::{channel_settings, setting};
use crate::domain::limits;
use crate::domain::limits::organization;
use crate::domain::limits::{Accounts, MAX_CHANNELS_OF_CREATOR, MAX_PERMISSION_MEMBERS_PER_REQUEST};
use crate::domain::rendering::render_descriptions;
use crate::events::Audience;
use crate::http::form::Form;
use crate::http::params::JsonOrText;
use crate::http::params::ParamError;
use crate::http::{ApiError, ApiResult, Call, Caller, Parameters, User};
use crate::store::Tx;
use crate::types::StreamId;
use serde::Deserialize;

/// Parameters of a new channel (spec, "subscribe users to channels"). They do not apply to existing channels.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct NewChannelParams {
    /// Whether the channel is private.
    #[serde(default)]
    invite_only: bool,
    /// Whether it can be read without an account.
    #[serde(default)]
    is_web_public: bool,
    /// Whether new users are subscribed; administrators only.
    #[serde(default)]
    is_default_stream: bool,
    /// Whether subscribers of a private channel can read messages that were sent before they subscribed.
    history_public_to_subscribers: Option<bool>,
    /// Days, `realm_default` or `unlimited`; owners only.
    message_retention_days: Option<JsonOrText>,
    /// Whether the empty topic may be used.
    topics_policy: Option<TopicsPolicy>,
    /// The folder to show it in.
    folder_id: Option<i64>,
}

/// The parameters for channels to be created.
#[derive(Clone, Debug, Default)]
pub struct CreationParams {
    properties: NewChannelParams,
    groups: Option<GroupParams<GroupSetting>>,
}

impl CreationParams {
    /// The group settings that were given.
    fn groups(&self) -> impl Iterator<Item = (StreamSetting, &GroupSetting)> {
        self.groups.iter().flat_map(GroupParams::given)
    }
}

impl Parameters for CreationParams {
    fn read(form: &Form) -> Result<Self, ParamError> {
        Ok(Self { properties: form.parse()?, groups: Some(form.parse()?) })
    }
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
    call: &Call<User>,
    channels: Vec<(String, String)>,
) -> ApiResult<Vec<NewChannel>> {
    let (names, descriptions): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
    let rendered = render_descriptions(call, &descriptions).await?;
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
    params: &CreationParams,
) -> ApiResult<Vec<StreamRow>> {
    if channels.is_empty() {
        return Ok(Vec::new());
    }
    if !caller.role.is_administrator() {
        let statement = "SELECT count(*) FROM stream WHERE creator_id IN (SELECT value FROM json_each(?1))";
        let accounts = Accounts::of(tx, caller.user_id, tx.now())?;
        accounts.check("channels of one creator", statement, channels.len(), MAX_CHANNELS_OF_CREATOR)?;
    }
    let members = params.groups().map(|(_, value)| setting::size(value)).sum::<usize>();
    let members = members.saturating_mul(channels.len());
    let limit = MAX_PERMISSION_MEMBERS_PER_REQUEST;
    limits::check("members of permissions in one request", members, limit)?;
    organization::CHANNELS.check(tx, caller, channels.len())?;
    let checked = check(tx, caller, params)?;
    let mut created = Vec::with_capacity(channels.len());
    for channel in channels {
        if rules::looks_like_another(tx, &channel.name, None)? {
            return Err(ApiError::bad_request("Channel name is already in use."));
        }
        created.push(insert(tx, caller, channel, params, checked)?);
    }
    if channels.iter().any(|channel| !channel.description.is_empty()) {
        rules::check_descriptions(tx, caller, caller.user_id)?;
    }
    if members > 0 {
        organization::check_group_members(tx, caller, tx.now())?;
    }
    let mut viewers = ChannelViewers::load(tx, Among::Everyone, tx.now())?;
    let stream_ids: Vec<StreamId> = created.iter().map(|stream| stream.stream_id).collect();
    let records = Records::of_few(tx, tx.now(), &stream_ids)?;
    let records = created.iter().map(|stream| records.of(stream)).collect::<ApiResult<Vec<_>>>()?;
    for (stream, record) in created.iter().zip(records) {
        let audience = viewers.users_who_can_see(tx, stream)?;
        tx.emit(StreamCreated::new(record), Audience::set(audience));
    }
    if params.properties.is_default_stream {
        events::emit_default_streams(tx)?;
    }
    Ok(created)
}

/// The checked parameters of new channels.
#[derive(Clone, Copy)]
struct CheckedProperties {
    privacy: Privacy,
    message_retention_days: Option<i64>,
}

/// Checks that the caller may create such channels.
fn check(tx: &Tx<'_>, caller: &Caller, creation: &CreationParams) -> ApiResult<CheckedProperties> {
    let params = &creation.properties;
    let viewer = Viewer::new(Ctx::in_job(tx, caller));
    permissions::require(&viewer, RealmGroup::to_create_channel(params.invite_only))?;
    if params.is_default_stream {
        permissions::require_administrator(caller)?;
        if params.invite_only {
            return Err(ApiError::bad_request("A default channel cannot be private."));
        }
    }
    if params.is_web_public {
        permissions::require_web_public(&viewer)?;
    }
    let privacy =
        Privacy::new(params.invite_only, params.is_web_public, params.history_public_to_subscribers)?;
    let message_retention_days = match &params.message_retention_days {
        None => None,
        Some(value) => rules::retention(value)?,
    };
    if message_retention_days.is_some() {
        permissions::require_owner(caller)?;
    }
    if params.topics_policy.unwrap_or_default() != TopicsPolicy::Inherit {
        permissions::require(&viewer, RealmGroup::CanSetTopicsPolicy)?;
    }
    let nobody = GroupSetting::Group(SystemGroup::Nobody.id());
    if creation
        .groups()
        .any(|(setting, value)| setting.is_about_deleting() && setting::normal(value) != nobody)
    {
        permissions::require(&viewer, RealmGroup::CanSetDeleteMessagePolicy)?;
    }
    channel_folders::check_usable(tx, params.folder_id)?;
    Ok(CheckedProperties { privacy, message_retention_days })
}

fn insert(
    tx: &Tx<'_>,
    caller: &Caller,
    channel: &NewChannel,
    creation: &CreationParams,
    checked: CheckedProperties,
) -> ApiResult<StreamRow> {
    let params = &creation.properties;
    let row = channels_sql::NewStreamRow {
        name: &channel.name,
        description: &channel.description,
        rendered_description: &channel.rendered_description,
        date_created: tx.now(),
        creator_id: Some(caller.user_id),
        privacy: checked.privacy,
        message_retention_days: checked.message_retention_days,
        topics_policy: params.topics_policy.unwrap_or_default(),
        folder_id: params.folder_id,
    };
    let stream_id = channels_sql::insert(tx, &row)?;
    if !creation.groups().any(|(setting, _)| setting == StreamSetting::CanAdministerChannel) {
        channel_settings::set_creator(tx, stream_id, caller.user_id)?;
    }
    for (setting, value) in creation.groups() {
        let group = setting.parse(tx, value)?;
        setting::set(tx, Owner::Stream(stream_id.0), setting.name(), group)?;
    }
    if params.is_default_stream {
        channels_sql::set_default(tx, stream_id, true)?;
    }
    channel_rows::by_id(tx, stream_id)?
        .ok_or_else(|| ApiError::internal("the channel that was just created has no row"))
}
