//! `PATCH /streams/{stream_id}`: changes the properties and group settings of a channel.

use crate::api::channels::default_streams;
use crate::api::setting_params::PermissionParams;
use crate::domain::access::channel_viewers::users_who_can_see;
use crate::domain::access::channels::Viewer;
use crate::domain::audit::{Action, Entry};
use crate::domain::channel_commands::archive;
use crate::domain::channels::events::{StreamChange, StreamUpdated};
use crate::domain::channels::record::is_announcement_only;
use crate::domain::channels::rules::Privacy;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::groups::setting::{GroupSetting, Owner, SettingChange};
use crate::domain::groups::system::SystemGroup;
use crate::domain::limits::{MAX_STREAM_DESCRIPTION_LENGTH, organization};
use crate::domain::notices::channels::Notice;
use crate::domain::rendering::render_one_description;
use crate::domain::rows::channel::{StreamRow, TopicsPolicy};
use crate::domain::visibility::Scope;
use crate::domain::{access, bots, channel_folders, channels, groups, notices, realm, visibility};
use crate::events::{Audience, Routed};
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Call, Caller, Params2, Reply, User};
use crate::store::Tx;
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, GroupId, JsonOrText, Language, StreamId, fold, nullable};
use serde::Deserialize;
use serde_json::json;
use teamchat_markdown::Words;

/// Parameters of `PATCH /streams/{stream_id}`, beside the group settings. Absent properties do not change.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// The channel to change. The caller must be able to administer it.
    stream_id: StreamId,
    /// The new description in Markdown, at most 1024 characters. Line breaks become spaces.
    description: Option<BoundedText<MAX_STREAM_DESCRIPTION_LENGTH>>,
    /// The new name, 1 to 60 characters. Channels have different names, regardless of case.
    new_name: Option<String>,
    /// True to make the channel private, false to make it public. A private channel then hides earlier messages from
    /// new subscribers, unless `history_public_to_subscribers` is true.
    is_private: Option<bool>,
    /// True to let people read the channel without an account. A private channel cannot be web-public.
    is_web_public: Option<bool>,
    /// True if subscribers can read messages that were sent before they subscribed. Can be false only for private
    /// channels.
    history_public_to_subscribers: Option<bool>,
    /// True if new users are subscribed to the channel. Only for administrators, and not for private channels.
    is_default_stream: Option<bool>,
    /// The number of days for which messages are kept, `unlimited`, or `realm_default`. Only for owners.
    message_retention_days: Option<JsonOrText>,
    /// False to unarchive the channel (feature level 388). True does nothing: `DELETE /streams/{stream_id}` archives.
    is_archived: Option<bool>,
    /// The rule for messages in the empty topic. Requires `can_set_topics_policy_group`. `empty_topic_only` is refused
    /// while there are other topics.
    topics_policy: Option<TopicsPolicy>,
    /// The id of the folder to show the channel in, which must not be archived; null for none.
    #[serde(default, deserialize_with = "nullable")]
    folder_id: Option<Option<i64>>,
}

/// The parameters for the permissions.
type GroupChanges = PermissionParams<StreamSetting, SettingChange>;

/// A description in Markdown and in HTML.
type RenderedDescription = (String, String);

/// `PATCH /streams/{stream_id}`: changes the given properties and permissions of a channel, all or none.
pub async fn update(
    call: Call<User>,
    Params2(params, groups): Params2<UpdateParams, GroupChanges>,
) -> ApiResult<Reply> {
    let rendered = match &params.description {
        None => None,
        Some(text) => {
            let text = channels::rules::description(text);
            let html = render_one_description(&call.app, &call.caller, &call.info.origin, &text).await?;
            Some((text, html))
        }
    };
    call.write(move |tx, caller| update_channel(tx, caller, &params, &groups, rendered)).await?;
    Ok(Reply::ok())
}

fn update_channel(
    tx: &mut Tx<'_>,
    caller: &Caller,
    params: &UpdateParams,
    groups: &GroupChanges,
    rendered: Option<RenderedDescription>,
) -> ApiResult<()> {
    let now = tx.now();
    let old = access::channels::find_to_administer(tx.ctx(caller), params.stream_id)?;
    let privacy = check_privacy(tx, caller, params, &old)?;
    if params.is_default_stream.is_some() {
        access::permissions::require_default_channels(caller)?;
    }
    let by = notices::name_of(tx, caller)?;
    let (new, notices) = visibility::with_events_between(
        tx,
        Scope::Channel(&old),
        |tx| {
            let language = realm::common_language(tx)?;
            let (updates, notices) = (Vec::new(), Vec::new());
            let mut change = ChannelChange { old: &old, new: old.clone(), by, language, updates, notices };
            change.set_privacy(privacy);
            change.set_retention(tx, caller, params)?;
            change.set_topics_policy(tx, caller, params)?;
            change.set_description(rendered);
            change.set_name(tx, params)?;
            change.set_folder(tx, params)?;
            channels::update(tx, &change.new)?;
            audit(tx, &old, &change.new)?;
            change.check_description(tx, caller)?;
            for (setting, value) in &groups.0 {
                change.set_group(tx, caller, *setting, value)?;
            }
            if !groups.0.is_empty() {
                organization::check_group_members(tx.ctx(caller))?;
            }
            Ok(change)
        },
        |tx, ChannelChange { new, updates, notices, .. }, changes| {
            // To those who could not see the channel before, its whole state is new.
            let seen_by = users_who_can_see(tx, now, &new)? - changes.gained_channel(new.stream_id);
            let audience = Audience::set(seen_by.clone());
            for update in updates {
                tx.emit(update, audience.clone());
            }
            if new.name != old.name {
                bots::events::emit_default_channel_again(tx, new.stream_id, &seen_by)?;
            }
            Ok((new, notices))
        },
    )?;
    if let Some(is_default) = params.is_default_stream {
        default_streams::set_default(tx, new.stream_id, is_default)?;
    }
    notices::channels::send(tx, notices, caller.user_id)?;
    if params.is_archived == Some(false) {
        archive::set_archived(tx, caller.user_id, &new, false)?;
    }
    Ok(())
}

/// Records the properties that differ, without the description, which a purge deletes.
fn audit(tx: &Tx<'_>, old: &StreamRow, new: &StreamRow) -> ApiResult<()> {
    let properties = |stream: &StreamRow| {
        json!({
            "name": stream.name,
            "invite_only": stream.invite_only,
            "is_web_public": stream.is_web_public,
            "history_public_to_subscribers": stream.history_public_to_subscribers,
            "message_retention_days": stream.message_retention_days,
            "topics_policy": stream.topics_policy,
            "folder_id": stream.folder_id,
        })
    };
    let (mut before, mut after) = (properties(old), properties(new));
    if before == after {
        return Ok(());
    }
    if let (Some(before), Some(after)) = (before.as_object_mut(), after.as_object_mut()) {
        let same: Vec<String> = before
            .iter()
            .filter(|(name, value)| after.get(*name) == Some(value))
            .map(|(name, _)| name.clone())
            .collect();
        before.retain(|name, _| !same.contains(name));
        after.retain(|name, _| !same.contains(name));
    }
    tx.audit(Entry::new(Action::ChannelChanged, new.stream_id).before(before).after(after))
}

/// Checks a change of who can read the channel. Returns `None` if nothing about that changes.
fn check_privacy(
    tx: &Tx<'_>,
    caller: &Caller,
    params: &UpdateParams,
    old: &StreamRow,
) -> ApiResult<Option<Privacy>> {
    let viewer = Viewer::new(tx.ctx(caller));
    let before = Privacy {
        invite_only: old.invite_only,
        is_web_public: old.is_web_public,
        history_public_to_subscribers: old.history_public_to_subscribers,
    };
    let after =
        before.changed(params.is_private, params.is_web_public, params.history_public_to_subscribers)?;
    let will_be_default = match params.is_default_stream {
        Some(is_default) => is_default,
        None => channels::default_streams(tx)?.contains(&old.stream_id),
    };
    if after.invite_only && will_be_default {
        return Err(ApiError::bad_request("A default channel cannot be private."));
    }
    let moderation_channel_id: i64 = realm::settings::MODERATION_REQUEST_CHANNEL_ID.get(tx)?;
    if !after.invite_only && moderation_channel_id == old.stream_id.0 {
        return Err(ApiError::bad_request("Moderation request channel must be private."));
    }
    // Both decide who reads messages. Who may change the channel but not read it would let themselves in.
    let decides_who_reads = params.is_private.is_some() || params.history_public_to_subscribers.is_some();
    if decides_who_reads && !viewer.can_read(old)? {
        return Err(content_access_required());
    }
    if let Some(is_private) = params.is_private
        && after != before
    {
        access::permissions::require(&viewer, RealmGroup::to_create_channel(is_private))?;
    }
    if params.is_web_public == Some(true) {
        access::permissions::require_web_public(&viewer)?;
    }
    Ok((after != before).then_some(after))
}

fn content_access_required() -> ApiError {
    ApiError::bad_request("Channel content access is required.")
}

/// A change of a channel in progress, with the events and notices to send about it.
struct ChannelChange<'a> {
    old: &'a StreamRow,
    new: StreamRow,
    /// The caller as a mention in notices.
    by: Words,
    /// The language of notices.
    language: Language,
    updates: Vec<Routed<StreamUpdated>>,
    notices: Vec<Notice>,
}

impl ChannelChange<'_> {
    fn push(&mut self, change: StreamChange) {
        self.updates.push(StreamUpdated::new(self.old, change));
    }

    fn set_privacy(&mut self, privacy: Option<Privacy>) {
        let Some(privacy) = privacy else { return };
        self.new.invite_only = privacy.invite_only;
        self.new.is_web_public = privacy.is_web_public;
        self.new.history_public_to_subscribers = privacy.history_public_to_subscribers;
        self.push(StreamChange::InviteOnly {
            value: privacy.invite_only,
            history_public_to_subscribers: privacy.history_public_to_subscribers,
            is_web_public: privacy.is_web_public,
        });
        self.notices.push(notices::channels::privacy_changed(self.language, self.old, &self.new, &self.by));
    }

    fn set_retention(&mut self, tx: &Tx<'_>, caller: &Caller, params: &UpdateParams) -> ApiResult<()> {
        let Some(value) = &params.message_retention_days else { return Ok(()) };
        caller.check_is_owner()?;
        let days = channels::rules::retention(value)?;
        if days != self.new.message_retention_days {
            self.new.message_retention_days = days;
            self.push(StreamChange::MessageRetentionDays { value: days });
            let realm_days = realm::settings::MESSAGE_RETENTION_DAYS.get(tx)?;
            let notice = notices::channels::retention_changed(
                self.language,
                self.old,
                &self.new,
                realm_days,
                &self.by,
            );
            self.notices.extend(notice);
        }
        Ok(())
    }

    fn set_topics_policy(&mut self, tx: &Tx<'_>, caller: &Caller, params: &UpdateParams) -> ApiResult<()> {
        let Some(policy) = params.topics_policy else { return Ok(()) };
        if policy == self.new.topics_policy {
            return Ok(());
        }
        access::permissions::require(&Viewer::new(tx.ctx(caller)), RealmGroup::CanSetTopicsPolicy)?;
        if policy == TopicsPolicy::EmptyTopicOnly && channels::has_named_topics(tx, self.new.stream_id)? {
            return Err(ApiError::bad_request(format!(
                "To enable this configuration, all messages in this channel must be in the \
                 {EMPTY_TOPIC_DISPLAY_NAME} topic. Consider renaming other topics to {EMPTY_TOPIC_DISPLAY_NAME}."
            )));
        }
        self.new.topics_policy = policy;
        self.push(StreamChange::TopicsPolicy { value: policy });
        self.notices.push(notices::channels::topics_policy_changed(
            self.language,
            self.old,
            &self.new,
            &self.by,
        ));
        Ok(())
    }

    fn set_description(&mut self, rendered: Option<RenderedDescription>) {
        let Some((text, html)) = rendered else { return };
        if text == self.new.description {
            return;
        }
        let (value, rendered_description) = (text.clone(), html.clone());
        self.push(StreamChange::Description { value, rendered_description });
        self.new.description = text;
        self.new.rendered_description = html;
        self.notices.push(notices::channels::description_changed(
            self.language,
            self.old,
            &self.new,
            &self.by,
        ));
    }

    /// Checks a description that has become longer, after it was written. A shorter one is never refused.
    fn check_description(&self, tx: &Tx<'_>, caller: &Caller) -> ApiResult<()> {
        let length = |stream: &StreamRow| stream.description.len() + stream.rendered_description.len();
        match self.new.creator_id {
            Some(creator_id) if length(&self.new) > length(self.old) => {
                channels::rules::check_descriptions(tx, caller, creator_id)
            }
            _ => Ok(()),
        }
    }

    fn set_name(&mut self, tx: &Tx<'_>, params: &UpdateParams) -> ApiResult<()> {
        let Some(name) = &params.new_name else { return Ok(()) };
        let name = channels::rules::name(name)?;
        if name == self.new.name {
            return Err(ApiError::bad_request("Channel already has that name."));
        }
        let has_other_letters = fold(&name) != fold(&self.new.name);
        if has_other_letters && channels::by_name(tx, &name)?.is_some()
            || channels::rules::looks_like_another(tx, &name, Some(self.new.stream_id))?
        {
            return Err(ApiError::bad_request("Channel name is already in use."));
        }
        self.push(StreamChange::Name { value: name.clone() });
        self.new.name = name;
        self.notices.push(notices::channels::renamed(self.language, &self.new, &self.old.name, &self.by));
        Ok(())
    }

    fn set_folder(&mut self, tx: &Tx<'_>, params: &UpdateParams) -> ApiResult<()> {
        let Some(folder_id) = params.folder_id else { return Ok(()) };
        channel_folders::check_usable(tx, folder_id)?;
        if folder_id != self.new.folder_id {
            self.new.folder_id = folder_id;
            self.push(StreamChange::FolderId { value: folder_id });
        }
        Ok(())
    }

    fn set_group(
        &mut self,
        tx: &Tx<'_>,
        caller: &Caller,
        setting: StreamSetting,
        change: &SettingChange,
    ) -> ApiResult<()> {
        let stream_id = self.old.stream_id;
        let old_group = setting.group_of(tx, stream_id)?;
        let Some(after) = change.after(tx, old_group)? else { return Ok(()) };
        let viewer = Viewer::new(tx.ctx(caller));
        if setting.grants_content_access() && !viewer.can_read(self.old)? {
            return Err(content_access_required());
        }
        if setting.is_about_deleting() && after != GroupSetting::Group(SystemGroup::Nobody.id()) {
            access::permissions::require(&viewer, RealmGroup::CanSetDeleteMessagePolicy)?;
        }
        let before = groups::setting::to_wire(tx, old_group)?;
        let group = setting.parse(tx, &after)?;
        groups::setting::set(tx, Owner::Stream(stream_id.0), setting.name(), group)?;
        let value = |value: &GroupSetting| {
            serde_json::to_value(value).map(|value| json!({ (setting.name()): value }))
        };
        let changed = Entry::new(Action::PermissionChanged, stream_id);
        tx.audit(changed.before(value(&before)?).after(value(&after)?))?;
        self.push(StreamChange::Permission { property: setting, value: after.clone() });
        if setting == StreamSetting::CanSendMessage {
            self.push_post_policy(old_group, group);
            let before = notices::channels::group_mentions(tx, &before)?;
            let after = notices::channels::group_mentions(tx, &after)?;
            self.notices.push(notices::channels::posting_changed(
                self.language,
                &self.new,
                before,
                after,
                &self.by,
            ));
        }
        Ok(())
    }

    /// Adds updates of the two deprecated properties that follow from `can_send_message_group`.
    fn push_post_policy(&mut self, old_group: GroupId, group: GroupId) {
        let before = channels::rules::stream_post_policy(Some(old_group));
        let after = channels::rules::stream_post_policy(Some(group));
        if before != after {
            self.push(StreamChange::StreamPostPolicy { value: after });
            self.push(StreamChange::IsAnnouncementOnly { value: is_announcement_only(after) });
        }
    }
}
