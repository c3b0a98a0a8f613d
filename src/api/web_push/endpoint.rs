//! Addresses of subscriptions. Users give them, so the server asks only some.

use crate::app::WebPush;
use crate::error::{ApiError, ApiResult};
use crate::http_client::{Permission, permission};
use url::Url;

/// The longest address, in bytes. Those of browsers have a few hundred.
const MAX_LENGTH: usize = 2048;

/// Refuses addresses that are never asked. Those of public hosts have the port of https.
pub fn check(endpoint: &str, options: &WebPush) -> ApiResult<()> {
    let is_allowed = |url: &Url| {
        let has_password = !url.username().is_empty() || url.password().is_some();
        let is_usual = url.port().is_none() || permission_of(url, options) == Permission::Any;
        url.scheme() == "https" && url.has_host() && !has_password && url.fragment().is_none() && is_usual
    };
    match Url::parse(endpoint) {
        Ok(url) if endpoint.len() <= MAX_LENGTH && is_allowed(&url) => Ok(()),
        _ => Err(ApiError::bad_request("Invalid endpoint of the subscription")),
    }
}

/// The operator's permission for an address: all public ones, and those of named hosts.
pub fn permission_of(url: &Url, options: &WebPush) -> Permission {
    match permission(url, &options.hosts) {
        Permission::None => Permission::OnlyPublic,
        named => named,
    }
}
