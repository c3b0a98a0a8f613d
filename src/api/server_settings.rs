//! `GET /server_settings`: what clients read before login.

use crate::domain::{images, realm};
use crate::http::Resource;
use crate::http::params::NoParams;
use crate::http::{ANYONE, Anyone, ApiResult, OtherReply, Read, Reply, Route};
use crate::types::version::versions;
use hyper::Method;
use serde_json::{Map, Value, json};

/// The resource of `/server_settings`.
pub const RESOURCE: Resource = Resource { name: "server_settings", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/server_settings", ANYONE, server_settings),
        // The published desktop application looks in this way whether the server is there.
        Route::read(Method::HEAD, "/server_settings", ANYONE, server_settings),
        Route::read(Method::GET, "/api/openapi.yaml", ANYONE, description).outside(),
    ]
}

/// The description of the operations, which a test writes from the source.
const DESCRIPTION: &str = include_str!("../../docs/openapi.yaml");

/// `GET /api/openapi.yaml`: the operations and their parameters, for programs that read OpenAPI.
fn description(_read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    Ok(Reply::Other(OtherReply {
        status: 200,
        content_type: "text/yaml; charset=utf-8",
        headers: Vec::new(),
        body: DESCRIPTION.into(),
    }))
}

/// `GET /server_settings` (spec, "get server settings").
pub fn server_settings(read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    let settings = realm::settings::all(read)?;
    let password_auth = settings.is_on("password_auth_enabled");
    let methods = ["password", "email"].map(|name| (name, password_auth));
    let other =
        ["ldap", "remoteuser", "github", "azuread", "gitlab", "apple", "google", "saml", "openid connect"];
    let methods: Map<String, Value> = methods
        .into_iter()
        .chain([("dev", read.app.options.dev_login)])
        .chain(other.map(|name| (name, false)))
        .map(|(name, enabled)| (name.to_owned(), enabled.into()))
        .collect();
    let mut fields = versions();
    let Value::Object(settings) = json!({
        "authentication_methods": methods,
        "external_authentication_methods": [],
        "push_notifications_enabled": false,
        // As published, only a client of this name is incompatible.
        "is_incompatible": read.info.client == "ZulipInvalid",
        "email_auth_enabled": password_auth,
        "require_email_format_usernames": true,
        "realm_uri": read.info.origin,
        "realm_url": read.info.origin,
        "realm_name": settings.value("name"),
        "realm_icon": images::realm::RealmImage::Icon.url(&settings),
        "realm_description": settings.value("rendered_description"),
        // Without an account only the files of web-public channels can be loaded, so clients must not offer to look around.
        "realm_web_public_access_enabled": false,
    }) else {
        return Reply::data(&fields);
    };
    fields.extend(settings);
    Reply::data(&fields)
}
