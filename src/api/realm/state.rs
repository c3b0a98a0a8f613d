//! The organization in the response of `POST /register`.

use crate::api::realm::policies;
use crate::api::resource::{State, StateRequest};
use crate::domain::access::channels::Viewer;
use crate::domain::access::permissions::is_held;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::setting::Owner;
use crate::domain::images::realm::RealmImage;
use crate::domain::realm::bot_domain;
use crate::domain::realm::settings::PROPERTIES;
use crate::domain::{groups, realm};
use crate::http::ApiResult;
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, GroupId, OnWire};
use serde::Serialize;
use std::collections::HashMap;

/// The group that holds each permission, by the permission's name.
struct Permissions(HashMap<String, GroupId>);

impl Permissions {
    fn load(request: &StateRequest<'_>) -> ApiResult<Self> {
        Ok(Self(groups::setting::all_of(request.connection, Owner::Realm)?))
    }

    fn group(&self, permission: RealmGroup) -> GroupId {
        self.0.get(permission.name()).copied().unwrap_or_else(|| permission.default_group().id())
    }
}

/// Fields of the organization that derive from its settings.
#[derive(Serialize)]
struct RealmState {
    /// Deprecated: a number that follows from `realm_can_create_public_channel_group`.
    realm_create_public_stream_policy: i64,
    /// Deprecated: a number that follows from `realm_can_create_private_channel_group`.
    realm_create_private_stream_policy: i64,
    /// Deprecated: a number that follows from `realm_can_create_web_public_channel_group`.
    realm_create_web_public_stream_policy: i64,
    /// Deprecated: a number that follows from `realm_can_mention_many_users_group`.
    realm_wildcard_mention_policy: i64,
    /// The URL of the organization.
    realm_url: String,
    /// Deprecated name of `realm_url`.
    realm_uri: String,
    /// The domain of the API emails of bots.
    realm_bot_domain: String,
    /// When the organization was created, in UNIX seconds.
    realm_date_created: i64,
    /// The URL of the organization's icon.
    realm_icon_url: String,
    /// The URL of the organization's logo.
    realm_logo_url: String,
    /// The URL of the organization's logo for dark themes.
    realm_night_logo_url: String,
    /// True if people can log in with a password.
    realm_email_auth_enabled: bool,
    /// The methods to log in, by name.
    realm_authentication_methods: AuthenticationMethods,
    /// Deprecated: true unless the history of messages is hidden.
    realm_allow_edit_history: bool,
    /// Deprecated: true if channel messages need a topic.
    realm_mandatory_topics: bool,
    /// The name with which clients show the empty topic.
    realm_empty_topic_display_name: &'static str,
    /// Deprecated name of `realm_jitsi_server_url`.
    jitsi_server_url: Option<String>,
}

/// The methods to log in, by name.
#[derive(Serialize)]
struct AuthenticationMethods {
    /// Login with email and password.
    #[serde(rename = "Email")]
    email: AuthenticationMethod,
    /// Single sign-on with OpenID Connect; absent unless a provider is configured.
    #[serde(rename = "OpenID Connect", skip_serializing_if = "Option::is_none")]
    openid_connect: Option<AuthenticationMethod>,
}

/// A method to log in.
#[derive(Serialize)]
struct AuthenticationMethod {
    /// True if people can log in with it.
    enabled: bool,
    /// True if the organization can enable it.
    available: bool,
}

/// State part `realm`: all settings and permissions, and the deprecated fields derived from them.
pub fn realm(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let settings = realm::settings::all(request.connection)?;
    for property in PROPERTIES.iter().filter(|row| row.on_wire != OnWire::Hidden) {
        state.insert(format!("realm_{}", property.name), settings.value(property.name).clone());
    }
    if request.caller.is_visitor() {
        // As published: clients show visitors no presence, and offer them no editing.
        state.insert("realm_presence_disabled".into(), true.into());
        state.insert("realm_allow_message_editing".into(), false.into());
    }
    let permissions = Permissions::load(request)?;
    for permission in RealmGroup::ALL {
        let value = groups::setting::to_wire(request.connection, permissions.group(permission))?;
        state.insert(format!("realm_{}", permission.name()), serde_json::to_value(value)?);
    }
    let policy = |permission, choices| {
        policies::policy_number(request.connection, permissions.group(permission), request.now, choices)
    };
    let origin = &request.info.origin;
    let password_auth = settings.is_on("password_auth_enabled");
    let has_providers = !request.app.options.oidc.is_empty();
    let date_created: i64 =
        request.connection.query_row("SELECT date_created FROM realm", [], |row| row.get(0))?;
    state.add(&RealmState {
        realm_create_public_stream_policy: policy(RealmGroup::CanCreatePublicChannel, policies::COMMON)?,
        realm_create_private_stream_policy: policy(RealmGroup::CanCreatePrivateChannel, policies::COMMON)?,
        realm_create_web_public_stream_policy: policy(
            RealmGroup::CanCreateWebPublicChannel,
            policies::WEB_PUBLIC,
        )?,
        realm_wildcard_mention_policy: policy(RealmGroup::CanMentionManyUsers, policies::WILDCARD_MENTION)?,
        realm_url: origin.clone(),
        realm_uri: origin.clone(),
        realm_bot_domain: bot_domain(request.app.options.public_url.as_deref()),
        realm_date_created: date_created,
        realm_icon_url: RealmImage::Icon.url(&settings),
        realm_logo_url: RealmImage::Logo.url(&settings),
        realm_night_logo_url: RealmImage::NightLogo.url(&settings),
        realm_email_auth_enabled: password_auth,
        realm_authentication_methods: AuthenticationMethods {
            email: AuthenticationMethod { enabled: password_auth, available: true },
            openid_connect: has_providers.then_some(AuthenticationMethod { enabled: true, available: true }),
        },
        realm_allow_edit_history: settings.value("message_edit_history_visibility_policy") != "none",
        realm_mandatory_topics: settings.value("topics_policy") == "disable_empty_topic",
        realm_empty_topic_display_name: EMPTY_TOPIC_DISPLAY_NAME,
        jitsi_server_url: settings.value("jitsi_server_url").as_str().map(str::to_owned),
    })
}

/// The caller's permissions in the organization.
#[derive(Serialize)]
struct OwnPermissions {
    /// True if the caller may create public channels.
    can_create_public_streams: bool,
    /// True if the caller may create private channels.
    can_create_private_streams: bool,
    /// Deprecated: true if the caller may create public or private channels.
    can_create_streams: bool,
    /// True if the caller may create web-public channels.
    can_create_web_public_streams: bool,
    /// True if the caller may subscribe other users to channels.
    can_subscribe_other_users: bool,
    /// True if the caller may invite people by email.
    can_invite_others_to_realm: bool,
}

/// State part `realm_user`: the caller's permissions in the organization.
pub fn own_permissions(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let viewer = Viewer::new(request.ctx());
    let may = |permission| is_held(&viewer, permission);
    let public = may(RealmGroup::CanCreatePublicChannel)?;
    let private = may(RealmGroup::CanCreatePrivateChannel)?;
    let web_public = realm::settings::ENABLE_SPECTATOR_ACCESS.get(request.connection)?
        && may(RealmGroup::CanCreateWebPublicChannel)?;
    state.add(&OwnPermissions {
        can_create_public_streams: public,
        can_create_private_streams: private,
        can_create_streams: public || private,
        can_create_web_public_streams: web_public,
        can_subscribe_other_users: may(RealmGroup::CanAddSubscribers)?,
        can_invite_others_to_realm: may(RealmGroup::CanInviteUsers)?,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn bots_get_an_address_that_looks_like_one() {
        assert_eq!(crate::domain::realm::bot_domain(None), "bots.invalid");
        for (url, domain) in [
            ("https://chat.example.com", "chat.example.com"),
            ("http://chat.example.com:9991", "chat.example.com"),
            ("http://localhost:9991", "bots.invalid"),
            ("http://192.0.2.1:9991", "bots.invalid"),
            ("http://[::1]", "bots.invalid"),
            ("nonsense", "bots.invalid"),
        ] {
            assert_eq!(crate::domain::realm::bot_domain(Some(url)), domain, "{url}");
        }
    }
}
