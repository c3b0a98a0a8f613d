//! The parameters that the endpoints which create and change channels share.

use crate::api::setting_params::PermissionParams;
use crate::domain::channel_commands::create_channel::NewChannelProperties;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::groups::setting::GroupSetting;
use crate::domain::rows::channel::TopicsPolicy;
use crate::http::Parameters;
use crate::http::form::Form;
use crate::http::params::ParamError;
use crate::types::JsonOrText;
use serde::Deserialize;

/// Parameters of a new channel (spec, "subscribe users to channels"). They do not apply to existing channels.
#[derive(Clone, Debug, Deserialize)]
pub struct NewChannelParams {
    /// True if the new channels are private; false by default.
    #[serde(default)]
    invite_only: bool,
    /// True if the new channels can be read without an account; false by default. Requires
    /// `can_create_web_public_channel_group`, and excludes `invite_only`.
    #[serde(default)]
    is_web_public: bool,
    /// True if new users are subscribed to the channels; false by default. Only for administrators, and not for private
    /// channels.
    #[serde(default)]
    is_default_stream: bool,
    /// True if subscribers of a private channel can read messages that were sent before they subscribed; false by
    /// default. The history of other channels is always readable.
    history_public_to_subscribers: Option<bool>,
    /// The number of days for which messages are kept, `unlimited`, or `realm_default`, which is the default. Only
    /// owners may use other values.
    message_retention_days: Option<JsonOrText>,
    /// The rule for messages in the empty topic. `inherit`, the default, is the organization's rule. Other values
    /// require `can_set_topics_policy_group`.
    topics_policy: Option<TopicsPolicy>,
    /// The id of the folder to show the channels in, which must not be archived; by default none.
    folder_id: Option<i64>,
}

/// The parameters for channels to be created.
#[derive(Clone, Debug)]
pub struct CreationParams {
    properties: NewChannelParams,
    groups: PermissionParams<StreamSetting, GroupSetting>,
}

impl CreationParams {
    /// The channels' properties.
    pub fn into_properties(self) -> NewChannelProperties {
        let NewChannelParams {
            invite_only,
            is_web_public,
            is_default_stream,
            history_public_to_subscribers,
            message_retention_days,
            topics_policy,
            folder_id,
        } = self.properties;
        NewChannelProperties {
            invite_only,
            is_web_public,
            is_default_stream,
            history_public_to_subscribers,
            message_retention_days,
            topics_policy: topics_policy.unwrap_or_default(),
            folder_id,
            groups: self.groups.0,
        }
    }
}

impl Parameters for CreationParams {
    fn read(form: &Form) -> Result<Self, ParamError> {
        Ok(Self { properties: form.parse()?, groups: PermissionParams::read(form)? })
    }
}
