//! The organization in the response of `POST /register`.

use crate::api::realm::policies;
use crate::domain::groups::membership::Membership;
use crate::domain::groups::realm_settings::{RealmGroup, is_held};
use crate::domain::groups::setting;
use crate::domain::groups::setting::Owner;
use crate::domain::images::realm::RealmImage;
use crate::domain::realm::settings::PROPERTIES;
use crate::domain::realm::{bot_domain, settings};
use crate::http::{ApiResult, State, StateRequest};
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, GroupId};
use serde_json::json;
use std::collections::HashMap;

/// Settings that only derive other fields and are not on the wire themselves.
const NOT_SHOWN: &[&str] = &["icon_version", "logo_version", "night_logo_version", "rendered_description"];

/// The group that holds each permission, by the permission's name.
struct Permissions(HashMap<String, GroupId>);

impl Permissions {
    fn load(request: &StateRequest<'_>) -> ApiResult<Self> {
        Ok(Self(setting::all_of(request.connection, Owner::Realm)?))
    }

    fn group(&self, permission: RealmGroup) -> GroupId {
        self.0.get(permission.name()).copied().unwrap_or_else(|| permission.default_group().id())
    }
}

/// State part `realm`: all settings and permissions, and the deprecated fields derived from them.
pub fn realm(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let settings = settings::all(request.connection)?;
    for property in PROPERTIES.iter().filter(|property| !NOT_SHOWN.contains(&property.name)) {
        state.insert(format!("realm_{}", property.name), settings.value(property.name).clone());
    }
    let permissions = Permissions::load(request)?;
    for permission in RealmGroup::ALL {
        let value = setting::to_wire(request.connection, permissions.group(permission))?;
        state.insert(format!("realm_{}", permission.name()), serde_json::to_value(value)?);
    }
    for (name, permission, choices) in [
        ("realm_create_public_stream_policy", RealmGroup::CanCreatePublicChannel, policies::COMMON),
        ("realm_create_private_stream_policy", RealmGroup::CanCreatePrivateChannel, policies::COMMON),
        (
            "realm_create_web_public_stream_policy",
            RealmGroup::CanCreateWebPublicChannel,
            policies::WEB_PUBLIC,
        ),
        ("realm_wildcard_mention_policy", RealmGroup::CanMentionManyUsers, policies::WILDCARD_MENTION),
    ] {
        let group = permissions.group(permission);
        let number = policies::policy_number(request.connection, group, request.now, choices)?;
        state.insert(name.into(), number.into());
    }
    let origin = &request.info.origin;
    let password_auth = settings.is_on("password_auth_enabled");
    let date_created: i64 =
        request.connection.query_row("SELECT date_created FROM realm", [], |row| row.get(0))?;
    let fields = [
        ("realm_url", json!(origin)),
        ("realm_uri", json!(origin)),
        ("realm_bot_domain", json!(bot_domain(origin))),
        ("realm_date_created", json!(date_created)),
        ("realm_icon_url", json!(RealmImage::Icon.url(&settings))),
        ("realm_logo_url", json!(RealmImage::Logo.url(&settings))),
        ("realm_night_logo_url", json!(RealmImage::NightLogo.url(&settings))),
        ("realm_email_auth_enabled", json!(password_auth)),
        ("realm_authentication_methods", json!({"Email": {"enabled": password_auth, "available": true}})),
        (
            "realm_allow_edit_history",
            json!(settings.value("message_edit_history_visibility_policy") != "none"),
        ),
        ("realm_mandatory_topics", json!(settings.value("topics_policy") == "disable_empty_topic")),
        ("realm_empty_topic_display_name", json!(EMPTY_TOPIC_DISPLAY_NAME)),
        ("jitsi_server_url", settings.value("jitsi_server_url").clone()),
    ];
    state.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    Ok(())
}

/// State part `realm_user`: the caller's permissions in the organization.
pub fn own_permissions(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let membership = Membership::of(request.connection, request.caller.user_id, request.now)?;
    let may = |permission| is_held(request.connection, request.caller, &membership, permission);
    let public = may(RealmGroup::CanCreatePublicChannel)?;
    let private = may(RealmGroup::CanCreatePrivateChannel)?;
    let web_public = settings::ENABLE_SPECTATOR_ACCESS.get(request.connection)?
        && may(RealmGroup::CanCreateWebPublicChannel)?;
    let fields = [
        ("can_create_public_streams", public),
        ("can_create_private_streams", private),
        ("can_create_streams", public || private),
        ("can_create_web_public_streams", web_public),
        ("can_subscribe_other_users", may(RealmGroup::CanAddSubscribers)?),
        ("can_invite_others_to_realm", may(RealmGroup::CanInviteUsers)?),
    ];
    state.extend(fields.map(|(name, value)| (name.to_owned(), value.into())));
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn bots_get_an_address_that_looks_like_one() {
        for (origin, domain) in [
            ("https://chat.example.com", "chat.example.com"),
            ("http://chat.example.com:9991", "chat.example.com"),
            ("http://localhost:9991", "bots.invalid"),
            ("http://192.0.2.1:9991", "bots.invalid"),
            ("http://[::1]", "bots.invalid"),
            ("nonsense", "bots.invalid"),
        ] {
            assert_eq!(crate::domain::realm::bot_domain(origin), domain, "{origin}");
        }
    }
}
