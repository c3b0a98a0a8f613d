//! Events about the organization.

use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::realm::settings::RealmTable;
use crate::domain::realm::{settings, user_ids};
use crate::error::{ApiError, ApiResult};
use crate::events::uniform_event;
use crate::store::Tx;
use crate::types::SettingUpdate;
use crate::types::version::{FEATURE_LEVEL, VERSION};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// `realm`, `op: update`: a setting of the organization changed. Only settings with their own event.
#[derive(Serialize, Deserialize)]
pub struct RealmUpdated {
    #[serde(flatten)]
    setting: SettingUpdate<RealmTable>,
}

uniform_event!(RealmUpdated: "realm", op "update", version 1);

/// `realm`, `op: update_dict`: settings or images of the organization changed. `property` is `default` except for
/// images.
#[derive(Serialize, Deserialize)]
#[serde(tag = "property", content = "data", rename_all = "snake_case")]
pub enum RealmUpdatedDict {
    /// The changed settings and their new values.
    Default(RealmChange),
    /// The icon of the organization.
    Icon {
        /// The new URL of the icon.
        icon_url: String,
        /// `G` for the generated icon, `U` for an uploaded one.
        icon_source: Cow<'static, str>,
    },
    /// The logo of the organization.
    Logo {
        /// The new URL of the logo.
        logo_url: String,
        /// `D` for the default logo, `U` for an uploaded one.
        logo_source: Cow<'static, str>,
    },
    /// The logo of the organization for dark themes.
    NightLogo {
        /// The new URL of the logo.
        night_logo_url: String,
        /// `D` for the default logo, `U` for an uploaded one.
        night_logo_source: Cow<'static, str>,
    },
}

uniform_event!(RealmUpdatedDict: "realm", op "update_dict", version 2);

/// Settings of the organization that are announced by the newer form, with their new values.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RealmChange {
    /// True if authors may edit the content of their messages.
    AllowMessageEditing(bool),
    /// The number of seconds during which authors may edit the content of their messages; null for no limit.
    MessageContentEditLimitSeconds(Option<i64>),
    /// The policy for empty topics.
    #[serde(untagged)]
    TopicsPolicy {
        /// The new rule for messages in the empty topic: `allow_empty_topic` or `disable_empty_topic`.
        topics_policy: String,
        /// Deprecated: true if channel messages need a topic. It follows from `topics_policy`.
        mandatory_topics: bool,
    },
}

/// `realm`, `op: deactivated`: the organization was deactivated. No user can log in.
#[derive(Serialize, Deserialize)]
pub struct RealmDeactivated {
    /// The id of the organization: always 1.
    realm_id: i64,
}

uniform_event!(RealmDeactivated: "realm", op "deactivated", version 1);

/// `restart`: the server was restarted with another version. Clients fetch their state again where it differs.
#[derive(Serialize, Deserialize)]
pub struct Restarted {
    /// The version of the server, as in `GET /server_settings`.
    zulip_version: String,
    /// The same as `zulip_version`.
    zulip_merge_base: String,
    /// The feature level of the server.
    zulip_feature_level: i64,
    /// When the server started, in UNIX seconds.
    server_generation: i64,
}

uniform_event!(Restarted: "restart", version 1);

/// Emits that the server is of another version now, if it is.
pub fn emit_version(tx: &mut Tx<'_>) -> ApiResult<()> {
    let statement = "UPDATE realm SET server_version = ?1 WHERE server_version <> ?1";
    if tx.prepare_cached(statement)?.execute([VERSION])? > 0 {
        let event = Restarted {
            zulip_version: VERSION.to_owned(),
            zulip_merge_base: VERSION.to_owned(),
            zulip_feature_level: FEATURE_LEVEL,
            server_generation: tx.now(),
        };
        let everyone = user_ids::everyone(tx)?;
        tx.emit(event, everyone);
    }
    Ok(())
}

/// The organization's id: a file holds one.
const REALM_ID: i64 = 1;

/// Sets a plain setting and emits it to all users. Returns true if the value changed.
pub fn set(tx: &mut Tx<'_>, name: &str, value: &Value) -> ApiResult<bool> {
    let before = settings::value(tx, name)?;
    if !settings::set(tx, name, value)? {
        return Ok(false);
    }
    let changed = Entry::new(Action::SettingChanged, Subject::setting(name));
    tx.audit(changed.before(before).after(value.clone()))?;
    let everyone = user_ids::everyone(tx)?;
    let change = match name {
        "allow_message_editing" => RealmChange::AllowMessageEditing(*value == true),
        "message_content_edit_limit_seconds" => RealmChange::MessageContentEditLimitSeconds(value.as_i64()),
        "topics_policy" => RealmChange::TopicsPolicy {
            topics_policy: value.as_str().unwrap_or_default().to_owned(),
            mandatory_topics: *value == "disable_empty_topic",
        },
        _ => {
            let setting = SettingUpdate::new(name, value)
                .ok_or_else(|| ApiError::internal(format_args!("{name} was set to {value}")))?;
            tx.emit(RealmUpdated { setting }, everyone);
            return Ok(true);
        }
    };
    tx.emit(RealmUpdatedDict::Default(change), everyone);
    Ok(true)
}

/// Deactivates the organization, and emits `realm/deactivated` to everyone, or reactivates it.
pub fn set_deactivated(tx: &mut Tx<'_>, deactivated: bool) -> ApiResult<()> {
    super::set_deactivated(tx, deactivated)?;
    let action = if deactivated { Action::OrganizationDeactivated } else { Action::OrganizationReactivated };
    tx.audit(Entry::new(action, Subject::ORGANIZATION))?;
    if !deactivated {
        return Ok(());
    }
    let event = RealmDeactivated { realm_id: REALM_ID };
    let everyone = user_ids::everyone(tx)?;
    tx.emit(event, everyone);
    Ok(())
}
