//! `GET /server_settings`: settings that clients read before login.

use crate::api::resource::Resource;
use crate::domain::{access, images, invites, realm};
use crate::http::params::NoParams;
use crate::http::{ANYONE, Anyone, ApiError, ApiResult, OtherReply, Read, Reply, Route, unpacked};
use crate::oidc::Provider;
use crate::types::version::Versions;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use hyper::Method;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub const RESOURCE: Resource = Resource { name: "server_settings", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/server_settings", ANYONE, server_settings),
        Route::read(Method::GET, "/api/openapi.yaml", ANYONE, description).outside(),
    ]
}

// The description of the operations, which a test writes from the source: `INCLUDED` in a release, or `FILE`, which is read
// when it is asked for.
include!(concat!(env!("OUT_DIR"), "/description.rs"));

static TAG_OF_INCLUDED: LazyLock<String> = LazyLock::new(|| tag_of(INCLUDED.unwrap_or_default()));

/// The entity tag of the description. Its compressed form is another representation, with a tag of its own.
fn tag_of(description: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(description)).chars().take(16).collect()
}

/// `GET /api/openapi.yaml`: the operations and their parameters, for programs that read OpenAPI.
fn description(read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    let is_packed = read.info.accepts_gzip;
    let (file, tag) = match INCLUDED {
        Some(packed) => (Bytes::from_static(packed), TAG_OF_INCLUDED.clone()),
        None => {
            // A program that runs away from its source has no file.
            let file = std::fs::read(FILE).map_err(|_| ApiError::not_found())?;
            let tag = tag_of(&file);
            (Bytes::from(file), tag)
        }
    };
    let etag = format!("\"{tag}{}\"", if is_packed { "-gzip" } else { "" });
    let known = read.info.conditions.as_ref().and_then(|conditions| conditions.if_none_match.as_deref());
    let is_known = known.is_some_and(|tags| tags.split(',').any(|tag| tag.trim() == etag));
    let mut headers = vec![
        ("ETag", etag),
        ("Cache-Control", "no-cache".to_owned()),
        ("Vary", "Accept-Encoding".to_owned()),
    ];
    let content_type = "text/yaml; charset=utf-8";
    if is_known {
        return Ok(Reply::other(OtherReply { status: 304, content_type, headers, body: Bytes::new() }));
    }
    let body = match INCLUDED {
        Some(_) if is_packed => {
            headers.push(("Content-Encoding", "gzip".to_owned()));
            file
        }
        Some(_) => unpacked(&file),
        // Compressed with the response.
        None => file,
    };
    Ok(Reply::other(OtherReply { status: 200, content_type, headers, body }))
}

/// The reply to `GET /server_settings`.
#[derive(Serialize)]
pub struct ServerSettings {
    #[serde(flatten)]
    versions: Versions,
    /// The methods to log in, by name: true if people can log in with it.
    authentication_methods: BTreeMap<&'static str, bool>,
    /// Providers of single sign-on, in the order of their buttons.
    external_authentication_methods: Vec<ExternalMethod>,
    /// True if phones receive push notifications, through a push bouncer. `GET /users/me/web_push` is for browsers.
    push_notifications_enabled: bool,
    /// True if the client is too old for this server.
    is_incompatible: bool,
    /// True if people can log in with a password.
    email_auth_enabled: bool,
    /// Always true: people log in with an email address.
    require_email_format_usernames: bool,
    /// Deprecated name of `realm_url`.
    realm_uri: String,
    /// The URL of the organization.
    realm_url: String,
    /// The name of the organization.
    realm_name: String,
    /// The URL of the organization's icon.
    realm_icon: String,
    /// The description of the organization, as HTML.
    realm_description: String,
    /// True if channels can be read without an account.
    realm_web_public_access_enabled: bool,
    /// True if people can sign up at `/register/` without an invitation. An extension.
    realm_sign_up_enabled: bool,
}

/// A provider of single sign-on.
#[derive(Serialize)]
struct ExternalMethod {
    /// The name: `oidc:` and the `id` of the provider in the configuration.
    name: String,
    /// The name of the provider, for the button.
    display_name: String,
    /// Always null: buttons have no icons.
    display_icon: Option<String>,
    /// The URL, relative to the organization's, at which a browser begins to log in.
    login_url: String,
    /// The URL, relative to the organization's, at which a browser begins to sign up.
    signup_url: String,
}

impl From<&Provider> for ExternalMethod {
    fn from(provider: &Provider) -> Self {
        Self {
            name: format!("oidc:{}", provider.id),
            display_name: provider.name.clone(),
            display_icon: None,
            login_url: provider.login_path(),
            signup_url: provider.sign_up_path(),
        }
    }
}

/// `GET /server_settings`: returns versions and login methods of the server, without authentication (spec, "get server
/// settings").
fn server_settings(read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply<ServerSettings>> {
    let settings = realm::settings::all(read)?;
    let password_auth = settings.is_on("password_auth_enabled");
    let methods = ["password", "email"].map(|name| (name, password_auth));
    let other = ["ldap", "remoteuser", "github", "azuread", "gitlab", "apple", "google", "saml"];
    let providers = &read.app.options.oidc;
    let text = |name| settings.value(name).as_str().unwrap_or_default().to_owned();
    let methods: BTreeMap<&str, bool> = methods
        .into_iter()
        .chain([("dev", read.app.options.dev_login), ("openid connect", !providers.is_empty())])
        .chain(other.map(|name| (name, false)))
        .collect();
    Reply::data(&ServerSettings {
        versions: Versions::CURRENT,
        authentication_methods: methods,
        external_authentication_methods: providers.iter().map(ExternalMethod::from).collect(),
        push_notifications_enabled: read.app.options.push_bouncer.is_some(),
        // As published, only a client of this name is incompatible.
        is_incompatible: read.info.client == "ZulipInvalid",
        email_auth_enabled: password_auth,
        require_email_format_usernames: true,
        realm_uri: read.info.origin.clone(),
        realm_url: read.info.origin.clone(),
        realm_name: text("name"),
        realm_icon: images::realm::RealmImage::Icon.url(&settings),
        realm_description: text("rendered_description"),
        realm_web_public_access_enabled: access::visitors::are_admitted(read)?,
        realm_sign_up_enabled: invites::sign_up::is_open(read)?,
    })
}
