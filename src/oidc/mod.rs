//! Sign-on by OpenID Connect: the protocol with a provider. OpenID Connect Core 1.0, the authorization code flow with PKCE.
//!
//! - [`Provider`]: a provider as the operator configured it;
//! - `discovery`: its endpoints and keys, cached;
//! - `id_token`: signatures and claims; `request`: requests to it;
//! - [`flows`]: logins that are under way, in memory;
//! - [`SignOn`]: begins a login, and exchanges the code that the provider answers with.
//!
//! No crate for OpenID Connect is used. `openidconnect` brings its own RSA, elliptic curves and big numbers, and `jsonwebtoken`
//! another provider of cryptography, where `ring` is there already and verifies a signature in one call.

mod discovery;
pub mod flows;
mod id_token;
mod provider;
mod request;

pub use self::discovery::{Metadata, discover};
pub use self::provider::Provider;
pub use self::request::{Environment, Failure, ProviderError};

use self::discovery::{Cache, UserInfo};
use self::flows::{Flow, Flows};
use self::id_token::{Expected, Profile};
use self::request::fetch;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use form_urlencoded::{Serializer, byte_serialize};
use hyper::Method;
use rand::RngExt;
use rand::distr::Alphanumeric;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use url::Url;

/// The length of `state`, `nonce` and other secrets in characters: more than 256 bits.
const SECRET_LENGTH: usize = 48;

/// The claims that are asked for: the subject, the name, and the address.
const SCOPE: &str = "openid profile email";

/// A person, as a provider proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The provider, as `iss` of its tokens names it.
    pub issuer: String,
    /// The person at the provider. It never changes, and belongs to no other person later.
    pub subject: String,
    /// The email, which the provider has verified.
    pub email: String,
    /// Names for the person, the best first.
    pub names: Vec<String>,
}

/// The state of sign-on, in memory. A restart ends the logins that are under way.
#[derive(Default)]
pub struct SignOn {
    /// Logins that are under way.
    pub flows: Flows,
    cache: Cache,
}

impl SignOn {
    /// Begins a login: returns the address at the provider to which the browser is sent. `redirect_uri` is where it comes back,
    /// `browser` the secret of its cookie.
    pub async fn begin(
        &self,
        environment: Environment<'_>,
        provider: &Provider,
        redirect_uri: String,
        browser: String,
        purpose: flows::Purpose,
    ) -> Result<Url, Failure> {
        let metadata = self.cache.metadata(environment, provider).await?;
        let (state, nonce, verifier) = (secret(), secret(), secret());
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        let mut url = metadata.authorization_endpoint.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &provider.client_id)
            .append_pair("redirect_uri", &redirect_uri)
            .append_pair("scope", SCOPE)
            .append_pair("state", &state)
            .append_pair("nonce", &nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        let flow = Flow { provider: provider.id.clone(), browser, redirect_uri, nonce, verifier, purpose };
        self.flows.insert(state, flow, environment.clock);
        Ok(url)
    }

    /// Exchanges the code of a flow for the identity of the person. The flow has been taken, so neither its code nor its nonce
    /// are used again.
    pub async fn exchange(
        &self,
        environment: Environment<'_>,
        provider: &Provider,
        flow: &Flow,
        code: &str,
    ) -> Result<Identity, Failure> {
        let metadata = self.cache.metadata(environment, provider).await?;
        let tokens = request_tokens(environment, provider, &metadata, flow, code).await?;
        let expected = Expected {
            issuer: &metadata.issuer,
            client_id: &provider.client_id,
            nonce: &flow.nonce,
            access_token: tokens.access_token.as_deref(),
            now: environment.clock.seconds(),
        };
        let claims = self.cache.verify(environment, provider, &metadata, &tokens.id_token, expected).await?;
        let mut profile = claims.profile;
        if !profile.is_complete() {
            let more = request_profile(environment, &metadata, &tokens, &claims.sub).await?;
            profile = profile.or(more);
        }
        identity(metadata.issuer.clone(), claims.sub, profile)
    }
}

/// The answer of the token endpoint.
#[derive(Deserialize)]
struct Tokens {
    id_token: String,
    access_token: Option<String>,
}

/// Asks the token endpoint.
async fn request_tokens(
    environment: Environment<'_>,
    provider: &Provider,
    metadata: &Metadata,
    flow: &Flow,
    code: &str,
) -> Result<Tokens, Failure> {
    let (headers, body) = token_request(provider, metadata.takes_basic, flow, code);
    fetch(environment, Method::POST, &metadata.token_endpoint, headers, body).await
}

/// Headers and body of a request to the token endpoint. The secret is in a header, unless the provider only takes it in the body.
fn token_request(
    provider: &Provider,
    takes_basic: bool,
    flow: &Flow,
    code: &str,
) -> (Vec<(&'static str, String)>, String) {
    let mut form = Serializer::new(String::new());
    form.append_pair("grant_type", "authorization_code")
        .append_pair("code", code)
        .append_pair("redirect_uri", &flow.redirect_uri)
        .append_pair("code_verifier", &flow.verifier);
    let mut headers = vec![("Content-Type", "application/x-www-form-urlencoded".to_owned())];
    if takes_basic {
        let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        let pair = format!("{}:{}", encoded(&provider.client_id), encoded(&provider.client_secret));
        headers.push(("Authorization", format!("Basic {}", STANDARD.encode(pair))));
    } else {
        form.append_pair("client_id", &provider.client_id)
            .append_pair("client_secret", &provider.client_secret);
    }
    (headers, form.finish())
}

/// Asks the userinfo endpoint for claims that the token lacks.
async fn request_profile(
    environment: Environment<'_>,
    metadata: &Metadata,
    tokens: &Tokens,
    subject: &str,
) -> Result<Profile, Failure> {
    let (Some(endpoint), Some(token)) = (&metadata.userinfo_endpoint, &tokens.access_token) else {
        return Ok(Profile::default());
    };
    let headers = vec![("Authorization", format!("Bearer {token}"))];
    let info: UserInfo = fetch(environment, Method::GET, endpoint, headers, String::new()).await?;
    // OpenID Connect Core 1.0, section 5.3.2.
    if info.sub != subject {
        return Err(Failure::Refused("userinfo is about another person than the token"));
    }
    Ok(info.profile)
}

/// The identity of the claims, if its email is verified.
fn identity(issuer: String, subject: String, profile: Profile) -> Result<Identity, Failure> {
    let names = profile.names();
    let is_verified = profile.is_verified();
    let email = profile.email.map(|email| email.trim().to_owned()).filter(|email| !email.is_empty());
    let email = email.ok_or(Failure::Refused("the provider names no email"))?;
    if !is_verified {
        return Err(Failure::Refused("the provider has not verified the email"));
    }
    Ok(Identity { issuer, subject, email, names })
}

/// A new secret: 48 random letters and digits.
pub fn secret() -> String {
    rand::rng().sample_iter(Alphanumeric).take(SECRET_LENGTH).map(char::from).collect()
}

/// True if a text has the form of a secret.
pub fn is_secret(text: &str) -> bool {
    text.len() == SECRET_LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
