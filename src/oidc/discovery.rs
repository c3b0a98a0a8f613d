//! The endpoints and keys of providers, cached for a day.

use super::id_token::{Claims, Expected, Key, Profile, Rejection, verify};
use super::provider::{Provider, is_secure};
use super::request::{Environment, Failure, fetch};
use hyper::Method;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use url::Url;

/// Lifetime of metadata and keys, in milliseconds.
const LIFETIME: i64 = 24 * 60 * 60 * 1000;

/// Milliseconds between two loads of the keys for a key that is unknown: any token may name one.
const RELOAD_INTERVAL: i64 = 60 * 1000;

/// Maximum number of keys of a provider.
const MAX_KEYS: usize = 100;

/// The metadata of a provider (OpenID Connect Discovery 1.0).
#[derive(Clone, Debug)]
pub struct Metadata {
    /// The issuer, as in its tokens.
    pub issuer: String,
    /// The page at which people log in.
    pub authorization_endpoint: Url,
    /// Exchanges codes for tokens.
    pub token_endpoint: Url,
    /// Has more claims about the person.
    pub userinfo_endpoint: Option<Url>,
    /// Has the public keys of tokens (RFC 7517).
    jwks_uri: Url,
    /// True if the token endpoint takes the secret of the client in a header.
    pub takes_basic: bool,
}

/// The document with the metadata.
#[derive(Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    userinfo_endpoint: Option<String>,
    jwks_uri: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// The document with the keys.
#[derive(Deserialize)]
struct KeySet {
    keys: Vec<Value>,
}

/// The answer of the userinfo endpoint.
#[derive(Deserialize)]
pub(super) struct UserInfo {
    pub(super) sub: String,
    #[serde(flatten)]
    pub(super) profile: Profile,
}

/// Loads the metadata of a provider.
pub async fn discover(environment: Environment<'_>, provider: &Provider) -> Result<Metadata, Failure> {
    let issuer = provider.issuer.trim_end_matches('/');
    let unusable = Failure::Unusable;
    let url = Url::parse(&format!("{issuer}/.well-known/openid-configuration"))
        .map_err(|error| unusable(format!("{issuer}: {error}")))?;
    let document: Document = fetch(environment, Method::GET, &url, Vec::new(), String::new()).await?;
    if document.issuer.trim_end_matches('/') != issuer {
        return Err(unusable(format!("{url} is of another issuer, {}", document.issuer)));
    }
    // Only a provider on this machine may be without TLS, and then altogether.
    let is_local = url.scheme() == "http";
    let endpoint = |name: &str, text: &str| match Url::parse(text) {
        Ok(url) if is_secure(&url) && (is_local || url.scheme() == "https") => Ok(url),
        _ => Err(unusable(format!("{name} does not begin with https://: {text}"))),
    };
    let userinfo = document.userinfo_endpoint.as_deref();
    let methods = document.token_endpoint_auth_methods_supported;
    let takes_basic = methods.is_none_or(|methods| {
        methods.is_empty() || methods.iter().any(|method| method == "client_secret_basic")
    });
    Ok(Metadata {
        authorization_endpoint: endpoint("authorization_endpoint", &document.authorization_endpoint)?,
        token_endpoint: endpoint("token_endpoint", &document.token_endpoint)?,
        userinfo_endpoint: userinfo.map(|text| endpoint("userinfo_endpoint", text)).transpose()?,
        jwks_uri: endpoint("jwks_uri", &document.jwks_uri)?,
        takes_basic,
        issuer: document.issuer,
    })
}

/// Loads the keys of a provider. Those of other kinds are left out.
async fn load_keys(environment: Environment<'_>, metadata: &Metadata) -> Result<Vec<Key>, Failure> {
    let set: KeySet = fetch(environment, Method::GET, &metadata.jwks_uri, Vec::new(), String::new()).await?;
    Ok(set.keys.iter().take(MAX_KEYS).filter_map(Key::read).collect())
}

/// Metadata and keys by the `id` of the provider.
#[derive(Default)]
pub(super) struct Cache {
    metadata: Mutex<HashMap<String, Cached<Metadata>>>,
    keys: Mutex<HashMap<String, Cached<Vec<Key>>>>,
}

/// A cached value, with the time of its load in monotonic milliseconds.
struct Cached<T> {
    loaded: i64,
    value: Arc<T>,
}

/// The value of a provider, if it is younger than `lifetime`.
fn recall<T>(map: &Mutex<HashMap<String, Cached<T>>>, id: &str, lifetime: i64, now: i64) -> Option<Arc<T>> {
    let map = map.lock();
    map.get(id).filter(|cached| now - cached.loaded < lifetime).map(|cached| Arc::clone(&cached.value))
}

fn remember<T>(map: &Mutex<HashMap<String, Cached<T>>>, id: &str, value: T, now: i64) -> Arc<T> {
    let value = Arc::new(value);
    let cached = Cached { loaded: now, value: Arc::clone(&value) };
    map.lock().insert(id.to_owned(), cached);
    value
}

impl Cache {
    pub(super) async fn metadata(
        &self,
        environment: Environment<'_>,
        provider: &Provider,
    ) -> Result<Arc<Metadata>, Failure> {
        let now = environment.clock.monotonic();
        if let Some(known) = recall(&self.metadata, &provider.id, LIFETIME, now) {
            return Ok(known);
        }
        let metadata = discover(environment, provider).await?;
        Ok(remember(&self.metadata, &provider.id, metadata, now))
    }

    /// Verifies a token. A key that is unknown may be new, so the keys are loaded again, at most once a minute.
    pub(super) async fn verify(
        &self,
        environment: Environment<'_>,
        provider: &Provider,
        metadata: &Metadata,
        token: &str,
        expected: Expected<'_>,
    ) -> Result<Claims, Failure> {
        let now = environment.clock.monotonic();
        if let Some(keys) = recall(&self.keys, &provider.id, LIFETIME, now) {
            match verify(token, &keys, &expected) {
                Ok(claims) => return Ok(claims),
                Err(Rejection::UnknownKey)
                    if recall(&self.keys, &provider.id, RELOAD_INTERVAL, now).is_none() => {}
                Err(rejection) => return Err(Failure::Refused(rejection.reason())),
            }
        }
        let keys = load_keys(environment, metadata).await?;
        let keys = remember(&self.keys, &provider.id, keys, now);
        verify(token, &keys, &expected).map_err(|rejection| Failure::Refused(rejection.reason()))
    }
}
