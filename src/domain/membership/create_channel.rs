//! Creating channels.

use crate::auth::Ctx;
use crate::domain::access::channel_rows::{StreamRow, TopicsPolicy};
use crate::domain::access::channel_viewers::ChannelViewers;
use crate::domain::access::channels::Viewer;
use crate::domain::access::{channel_rows, permissions};
use crate::domain::channel_folders;
use crate::domain::channels::events::StreamCreated;
use crate::domain::channels::record::record;
use crate::domain::channels::rules::Privacy;
use crate::domain::channels::{events, rules, sql as channels_sql};
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::groups::realm_settings::RealmGroup;
use crate::domain::groups::roles::Among;
use crate::domain::groups::setting::{GroupSetting, Owner};
use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::{channel_settings, setting};
use crate::domain::messages::channel_description;
use crate::events::Audience;
use crate::http::params::JsonOrText;
use crate::http::{ApiError, ApiResult, Call, Caller, User};
use crate::store::Tx;
use serde::Deserialize;

/// Parameters of a new channel (spec, "subscribe users to channels"). They do not apply to existing channels.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CreationParams {
    /// A private channel.
    #[serde(default)]
    invite_only: bool,
    /// Readable without an account.
    #[serde(default)]
    is_web_public: bool,
    /// New users will be subscribed; administrators only.
    #[serde(default)]
    is_default_stream: bool,
    /// Whether subscribers of a private channel read what was sent before they came.
    #[serde(default)]
    history_public_to_subscribers: Option<bool>,
    /// Days, `realm_default` or `unlimited`; owners only.
    #[serde(default)]
    message_retention_days: Option<JsonOrText>,
    /// Whether the empty topic may be used.
    #[serde(default)]
    topics_policy: Option<TopicsPolicy>,
    /// The folder to show it in.
    #[serde(default)]
    folder_id: Option<i64>,
    /// Who may subscribe others.
    #[serde(default)]
    can_add_subscribers_group: Option<GroupSetting>,
    /// Who may change the channel; its creator when absent.
    #[serde(default)]
    can_administer_channel_group: Option<GroupSetting>,
    /// Who may start topics.
    #[serde(default)]
    can_create_topic_group: Option<GroupSetting>,
    /// Who may delete anybody's messages.
    #[serde(default)]
    can_delete_any_message_group: Option<GroupSetting>,
    /// Who may delete their own messages.
    #[serde(default)]
    can_delete_own_message_group: Option<GroupSetting>,
    /// Who may move messages to other channels.
    #[serde(default)]
    can_move_messages_out_of_channel_group: Option<GroupSetting>,
    /// Who may move messages to other topics.
    #[serde(default)]
    can_move_messages_within_channel_group: Option<GroupSetting>,
    /// Who may unsubscribe others.
    #[serde(default)]
    can_remove_subscribers_group: Option<GroupSetting>,
    /// Who may resolve topics.
    #[serde(default)]
    can_resolve_topics_group: Option<GroupSetting>,
    /// Who may post.
    #[serde(default)]
    can_send_message_group: Option<GroupSetting>,
    /// Who may subscribe themselves to a private channel.
    #[serde(default)]
    can_subscribe_group: Option<GroupSetting>,
}

impl CreationParams {
    /// The group settings that were given.
    fn settings(&self) -> impl Iterator<Item = (StreamSetting, &GroupSetting)> {
        StreamSetting::ALL.into_iter().filter_map(|setting| Some((setting, self.setting(setting)?)))
    }

    fn setting(&self, setting: StreamSetting) -> Option<&GroupSetting> {
        let value = match setting {
            StreamSetting::CanAddSubscribers => &self.can_add_subscribers_group,
            StreamSetting::CanAdministerChannel => &self.can_administer_channel_group,
            StreamSetting::CanCreateTopic => &self.can_create_topic_group,
            StreamSetting::CanDeleteAnyMessage => &self.can_delete_any_message_group,
            StreamSetting::CanDeleteOwnMessage => &self.can_delete_own_message_group,
            StreamSetting::CanMoveMessagesOutOfChannel => &self.can_move_messages_out_of_channel_group,
            StreamSetting::CanMoveMessagesWithinChannel => &self.can_move_messages_within_channel_group,
            StreamSetting::CanRemoveSubscribers => &self.can_remove_subscribers_group,
            StreamSetting::CanResolveTopics => &self.can_resolve_topics_group,
            StreamSetting::CanSendMessage => &self.can_send_message_group,
            StreamSetting::CanSubscribe => &self.can_subscribe_group,
        };
        value.as_ref()
    }
}

/// A new channel's name and description, checked and rendered outside the writer.
#[derive(Clone, Debug)]
pub struct NewChannel {
    /// The name, checked.
    pub name: String,
    /// Markdown, one line.
    pub description: String,
    /// The same as HTML.
    pub rendered_description: String,
}

/// Prepares channels of these names and descriptions.
pub async fn new_channels(call: &Call<User>, channels: Vec<(String, String)>) -> ApiResult<Vec<NewChannel>> {
    let (names, descriptions): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
    let rendered = channel_description::render(call, &descriptions).await?;
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
pub fn channels(
    tx: &mut Tx<'_>,
    caller: &Caller,
    channels: &[NewChannel],
    params: &CreationParams,
) -> ApiResult<Vec<StreamRow>> {
    if channels.is_empty() {
        return Ok(Vec::new());
    }
    let plan = check(tx, caller, params)?;
    let mut made = Vec::with_capacity(channels.len());
    for channel in channels {
        made.push(insert(tx, caller, channel, params, plan)?);
    }
    let mut viewers = ChannelViewers::load(tx, Among::Everyone, tx.now())?;
    for stream in &made {
        let record = record(tx, tx.now(), stream)?;
        let audience = viewers.users_who_can_see(tx, stream)?;
        tx.emit(StreamCreated::new(record), Audience::set(audience));
    }
    if params.is_default_stream {
        events::emit_default_streams(tx)?;
    }
    Ok(made)
}

/// The checked parameters of new channels.
#[derive(Clone, Copy)]
struct Plan {
    privacy: Privacy,
    message_retention_days: Option<i64>,
}

/// Checks that the caller may create such channels.
fn check(tx: &Tx<'_>, caller: &Caller, params: &CreationParams) -> ApiResult<Plan> {
    let viewer = Viewer::new(Ctx::in_job(tx, caller));
    let creating = if params.invite_only {
        RealmGroup::CanCreatePrivateChannel
    } else {
        RealmGroup::CanCreatePublicChannel
    };
    permissions::require(&viewer, creating)?;
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
    if params
        .settings()
        .any(|(setting, value)| setting.is_about_deleting() && setting::normal(value) != nobody)
    {
        permissions::require(&viewer, RealmGroup::CanSetDeleteMessagePolicy)?;
    }
    channel_folders::check_usable(tx, params.folder_id)?;
    Ok(Plan { privacy, message_retention_days })
}

fn insert(
    tx: &Tx<'_>,
    caller: &Caller,
    channel: &NewChannel,
    params: &CreationParams,
    plan: Plan,
) -> ApiResult<StreamRow> {
    let row = channels_sql::NewStreamRow {
        name: &channel.name,
        description: &channel.description,
        rendered_description: &channel.rendered_description,
        date_created: tx.now(),
        creator_id: caller.user_id,
        privacy: plan.privacy,
        message_retention_days: plan.message_retention_days,
        topics_policy: params.topics_policy.unwrap_or_default(),
        folder_id: params.folder_id,
    };
    let stream_id = channels_sql::insert(tx, &row)?;
    if params.can_administer_channel_group.is_none() {
        channel_settings::set_creator(tx, stream_id, caller.user_id)?;
    }
    for (setting, value) in params.settings() {
        let group = setting.parse(tx, value)?;
        setting::set(tx, Owner::Stream(stream_id.0), setting.name(), group)?;
    }
    if params.is_default_stream {
        channels_sql::set_default(tx, stream_id, true)?;
    }
    channel_rows::by_id(tx, stream_id)?
        .ok_or_else(|| ApiError::internal("the channel that was just made has no row"))
}
