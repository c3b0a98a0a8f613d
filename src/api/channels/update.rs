//! `PATCH /streams/{stream_id}`: changing a channel.

use crate::api::channels::{archive, default};
use crate::auth::Ctx;
use crate::domain::access::channel_rows::{StreamRow, TopicsPolicy};
use crate::domain::access::channel_viewers::users_who_can_see;
use crate::domain::access::channels::Viewer;
use crate::domain::access::{channels, permissions};
use crate::domain::channel_folders;
use crate::domain::channels::events::StreamUpdated;
use crate::domain::channels::rules::Privacy;
use crate::domain::channels::{rules, sql};
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::groups::realm_settings::RealmGroup;
use crate::domain::groups::setting;
use crate::domain::groups::setting::{GroupSetting, Owner, SettingChange};
use crate::domain::groups::system::SystemGroup;
use crate::domain::limits::MAX_STREAM_DESCRIPTION_LENGTH;
use crate::domain::messages::channel_description;
use crate::domain::notices::channels as notices;
use crate::domain::notices::channels::Notice;
use crate::domain::visibility::Scope;
use crate::domain::{notices as domain_notices, realm, visibility};
use crate::events::{Audience, Routed};
use crate::http::params::{BoundedText, JsonOrText, nullable};
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, StreamId, fold};
use serde::Deserialize;
use serde_json::Value;

/// Parameters of `PATCH /streams/{stream_id}`. What is absent stays.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// The channel.
    stream_id: StreamId,
    /// Markdown.
    #[serde(default)]
    description: Option<BoundedText<MAX_STREAM_DESCRIPTION_LENGTH>>,
    /// The name.
    #[serde(default)]
    new_name: Option<String>,
    /// Whether the channel is private.
    #[serde(default)]
    is_private: Option<bool>,
    /// Whether it can be read without an account.
    #[serde(default)]
    is_web_public: Option<bool>,
    /// Whether subscribers read what was sent before they came.
    #[serde(default)]
    history_public_to_subscribers: Option<bool>,
    /// Whether new users are subscribed; administrators only.
    #[serde(default)]
    is_default_stream: Option<bool>,
    /// Days, `realm_default` or `unlimited`; owners only.
    #[serde(default)]
    message_retention_days: Option<JsonOrText>,
    /// `false` brings an archived channel back (feature level 388); archiving has an endpoint of its own.
    #[serde(default)]
    is_archived: Option<bool>,
    /// Whether the empty topic may be used.
    #[serde(default)]
    topics_policy: Option<TopicsPolicy>,
    /// The folder to show it in; null for none.
    #[serde(default, deserialize_with = "nullable")]
    folder_id: Option<Option<i64>>,
    /// Who may subscribe others.
    #[serde(default)]
    can_add_subscribers_group: Option<SettingChange>,
    /// Who may change the channel.
    #[serde(default)]
    can_administer_channel_group: Option<SettingChange>,
    /// Who may start topics.
    #[serde(default)]
    can_create_topic_group: Option<SettingChange>,
    /// Who may delete anybody's messages.
    #[serde(default)]
    can_delete_any_message_group: Option<SettingChange>,
    /// Who may delete their own messages.
    #[serde(default)]
    can_delete_own_message_group: Option<SettingChange>,
    /// Who may move messages to other channels.
    #[serde(default)]
    can_move_messages_out_of_channel_group: Option<SettingChange>,
    /// Who may move messages to other topics.
    #[serde(default)]
    can_move_messages_within_channel_group: Option<SettingChange>,
    /// Who may unsubscribe others.
    #[serde(default)]
    can_remove_subscribers_group: Option<SettingChange>,
    /// Who may resolve topics.
    #[serde(default)]
    can_resolve_topics_group: Option<SettingChange>,
    /// Who may post.
    #[serde(default)]
    can_send_message_group: Option<SettingChange>,
    /// Who may subscribe themselves to a private channel.
    #[serde(default)]
    can_subscribe_group: Option<SettingChange>,
}

impl UpdateParams {
    fn setting(&self, setting: StreamSetting) -> Option<&SettingChange> {
        let change = match setting {
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
        change.as_ref()
    }
}

/// A description, and the same as HTML.
type Rendered = (String, String);

/// `PATCH /streams/{stream_id}`: changes a channel.
pub async fn update(call: Call<User>, params: UpdateParams) -> ApiResult<Reply> {
    let rendered = match &params.description {
        None => None,
        Some(text) => {
            let text = rules::description(text);
            let html = channel_description::render(&call, std::slice::from_ref(&text)).await?.pop();
            html.map(|html| (text, html))
        }
    };
    call.write(move |tx, caller| change(tx, caller, &params, rendered)).await?;
    Ok(Reply::ok())
}

fn change(
    tx: &mut Tx<'_>,
    caller: &Caller,
    params: &UpdateParams,
    rendered: Option<Rendered>,
) -> ApiResult<()> {
    let now = tx.now();
    let old = channels::find_to_administer(Ctx::new(tx, caller, now), params.stream_id)?;
    let privacy = proposed_privacy(tx, caller, params, &old)?;
    if params.is_default_stream.is_some() {
        permissions::require_default_channels(caller)?;
    }
    let by = domain_notices::name_of(tx, caller)?;
    let (new, notices) = visibility::with_own_events(
        tx,
        Scope::Channel(&old),
        |tx| {
            let (updates, notices) = (Vec::new(), Vec::new());
            let mut change = Change { old: &old, new: old.clone(), by, updates, notices };
            change.set_privacy(privacy);
            change.set_retention(tx, caller, params)?;
            change.set_topics_policy(tx, caller, params)?;
            change.set_description(rendered);
            change.set_name(tx, params)?;
            change.set_folder(tx, params)?;
            sql::update(tx, &change.new)?;
            change.set_groups(tx, caller, params)?;
            Ok(change)
        },
        |tx, Change { new, updates, notices, .. }, changes| {
            // To those who could not see the channel before, its whole state is new.
            let seen_by = users_who_can_see(tx, now, &new)? - changes.gained_channel(new.stream_id);
            let audience = Audience::set(seen_by);
            for update in updates {
                tx.emit(update, audience.clone());
            }
            Ok((new, notices))
        },
    )?;
    if let Some(is_default) = params.is_default_stream {
        default::set(tx, new.stream_id, is_default)?;
    }
    notices::send(tx, notices, caller.user_id)?;
    if params.is_archived == Some(false) {
        archive::set_archived(tx, caller.user_id, &new, false)?;
    }
    Ok(())
}

/// Who will read the channel, if the caller may change that; `None` when it stays.
fn proposed_privacy(
    tx: &Tx<'_>,
    caller: &Caller,
    params: &UpdateParams,
    old: &StreamRow,
) -> ApiResult<Option<Privacy>> {
    let viewer = Viewer::new(Ctx::in_job(tx, caller));
    let before = Privacy {
        invite_only: old.invite_only,
        is_web_public: old.is_web_public,
        history_public_to_subscribers: old.history_public_to_subscribers,
    };
    let after =
        before.changed(params.is_private, params.is_web_public, params.history_public_to_subscribers)?;
    let will_be_default = match params.is_default_stream {
        Some(is_default) => is_default,
        None => sql::default_streams(tx)?.contains(&old.stream_id),
    };
    if after.invite_only && will_be_default {
        return Err(ApiError::bad_request("A default channel cannot be private."));
    }
    let for_moderators: i64 = realm::settings::MODERATION_REQUEST_CHANNEL_ID.get(tx)?;
    if !after.invite_only && for_moderators == old.stream_id.0 {
        return Err(ApiError::bad_request("Moderation request channel must be private."));
    }
    if let Some(is_private) = params.is_private {
        if !viewer.can_read(old)? {
            return Err(content_access_required());
        }
        let needed =
            if is_private { RealmGroup::CanCreatePrivateChannel } else { RealmGroup::CanCreatePublicChannel };
        permissions::require(&viewer, needed)?;
    }
    if params.is_web_public == Some(true) {
        permissions::require_web_public(&viewer)?;
    }
    Ok((after != before).then_some(after))
}

fn content_access_required() -> ApiError {
    ApiError::bad_request("Channel content access is required.")
}

/// A change on its way: the channel as it was and as it will be, and what there is to say about it.
struct Change<'a> {
    old: &'a StreamRow,
    new: StreamRow,
    /// How notices name the caller.
    by: String,
    updates: Vec<Routed<StreamUpdated>>,
    notices: Vec<Notice>,
}

impl Change<'_> {
    fn push(&mut self, property: &'static str, value: impl Into<Value>) {
        self.updates.push(StreamUpdated::new(self.old, property, value));
    }

    fn set_privacy(&mut self, privacy: Option<Privacy>) {
        let Some(privacy) = privacy else { return };
        self.new.invite_only = privacy.invite_only;
        self.new.is_web_public = privacy.is_web_public;
        self.new.history_public_to_subscribers = privacy.history_public_to_subscribers;
        let update = StreamUpdated::new(self.old, "invite_only", privacy.invite_only)
            .with("history_public_to_subscribers", privacy.history_public_to_subscribers)
            .with("is_web_public", privacy.is_web_public);
        self.updates.push(update);
        self.notices.push(notices::privacy_changed(self.old, &self.new, &self.by));
    }

    fn set_retention(&mut self, tx: &Tx<'_>, caller: &Caller, params: &UpdateParams) -> ApiResult<()> {
        let Some(value) = &params.message_retention_days else { return Ok(()) };
        permissions::require_owner(caller)?;
        let days = rules::retention(value)?;
        if days != self.new.message_retention_days {
            self.new.message_retention_days = days;
            self.push("message_retention_days", days);
            let of_realm = realm::settings::MESSAGE_RETENTION_DAYS.get(tx)?;
            self.notices.extend(notices::retention_changed(self.old, &self.new, of_realm, &self.by));
        }
        Ok(())
    }

    fn set_topics_policy(&mut self, tx: &Tx<'_>, caller: &Caller, params: &UpdateParams) -> ApiResult<()> {
        let Some(policy) = params.topics_policy else { return Ok(()) };
        if policy == self.new.topics_policy {
            return Ok(());
        }
        permissions::require(&Viewer::new(Ctx::in_job(tx, caller)), RealmGroup::CanSetTopicsPolicy)?;
        if policy == TopicsPolicy::EmptyTopicOnly && sql::has_named_topics(tx, self.new.stream_id)? {
            return Err(ApiError::bad_request(format!(
                "To enable this configuration, all messages in this channel must be in the \
                 {EMPTY_TOPIC_DISPLAY_NAME} topic. Consider renaming other topics to {EMPTY_TOPIC_DISPLAY_NAME}."
            )));
        }
        self.new.topics_policy = policy;
        self.push("topics_policy", policy.name());
        self.notices.push(notices::topics_policy_changed(self.old, &self.new, &self.by));
        Ok(())
    }

    fn set_description(&mut self, rendered: Option<Rendered>) {
        let Some((text, html)) = rendered else { return };
        if text == self.new.description {
            return;
        }
        let update = StreamUpdated::new(self.old, "description", text.as_str())
            .with("rendered_description", html.as_str());
        self.updates.push(update);
        self.new.description = text;
        self.new.rendered_description = html;
        self.notices.push(notices::description_changed(self.old, &self.new, &self.by));
    }

    fn set_name(&mut self, tx: &Tx<'_>, params: &UpdateParams) -> ApiResult<()> {
        let Some(name) = &params.new_name else { return Ok(()) };
        let name = rules::name(name)?;
        if name == self.new.name {
            return Err(ApiError::bad_request("Channel already has that name."));
        }
        if fold(&name) != fold(&self.new.name) && sql::by_name(tx, &name)?.is_some() {
            return Err(ApiError::bad_request("Channel name is already in use."));
        }
        self.push("name", name.as_str());
        self.new.name = name;
        self.notices.push(notices::renamed(&self.new, &self.old.name, &self.by));
        Ok(())
    }

    fn set_folder(&mut self, tx: &Tx<'_>, params: &UpdateParams) -> ApiResult<()> {
        let Some(folder_id) = params.folder_id else { return Ok(()) };
        channel_folders::check_usable(tx, folder_id)?;
        if folder_id != self.new.folder_id {
            self.new.folder_id = folder_id;
            self.push("folder_id", folder_id);
        }
        Ok(())
    }

    fn set_groups(&mut self, tx: &Tx<'_>, caller: &Caller, params: &UpdateParams) -> ApiResult<()> {
        for name in StreamSetting::ALL {
            if let Some(change) = params.setting(name) {
                self.set_group(tx, caller, name, change)?;
            }
        }
        Ok(())
    }

    fn set_group(
        &mut self,
        tx: &Tx<'_>,
        caller: &Caller,
        name: StreamSetting,
        change: &SettingChange,
    ) -> ApiResult<()> {
        let stream_id = self.old.stream_id;
        let held_by = name.group_of(tx, stream_id)?;
        let Some(after) = change.after(tx, held_by)? else { return Ok(()) };
        let viewer = Viewer::new(Ctx::in_job(tx, caller));
        if name.lets_in() && !viewer.can_read(self.old)? {
            return Err(content_access_required());
        }
        if name.is_about_deleting() && after != GroupSetting::Group(SystemGroup::Nobody.id()) {
            permissions::require(&viewer, RealmGroup::CanSetDeleteMessagePolicy)?;
        }
        let before = setting::to_wire(tx, held_by)?;
        let group = name.parse(tx, &after)?;
        setting::set(tx, Owner::Stream(stream_id.0), name.name(), group)?;
        self.push(name.name(), serde_json::to_value(&after)?);
        if name == StreamSetting::CanSendMessage {
            self.set_post_policy(
                rules::stream_post_policy(Some(held_by)),
                rules::stream_post_policy(Some(group)),
            );
            let (before, after) = (notices::who(tx, &before)?, notices::who(tx, &after)?);
            self.notices.push(notices::posting_changed(&self.new, &before, &after, &self.by));
        }
        Ok(())
    }

    /// The two older words for who may post.
    fn set_post_policy(&mut self, before: i64, after: i64) {
        if before != after {
            self.push("stream_post_policy", after);
            self.push("is_announcement_only", crate::domain::channels::record::is_announcement_only(after));
        }
    }
}
