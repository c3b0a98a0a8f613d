//! Tokens of providers: signatures (RFC 7515) with RS256 and ES256, keys (RFC 7517), and claims (OpenID Connect Core 1.0, section
//! 3.1.3.7). Other algorithms are refused, above all `none` and those whose key is a shared secret.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Tolerated difference between the clocks of the provider and of this server, in seconds.
const CLOCK_DIFFERENCE: i64 = 120;

/// Maximum age of a token, in seconds: it was made for this login.
const MAX_AGE: i64 = 10 * 60;

/// The longest subject, in characters (OpenID Connect Core 1.0, section 2).
const MAX_SUBJECT: usize = 255;

/// The length of a coordinate on the curve P-256, in bytes.
const COORDINATE: usize = 32;

/// A public key of a provider.
#[derive(Clone, Debug)]
pub(super) struct Key {
    kid: Option<String>,
    material: Material,
}

#[derive(Clone, Debug)]
enum Material {
    /// Modulus and exponent, without leading zeros.
    Rsa { n: Vec<u8>, e: Vec<u8> },
    /// A point of P-256, uncompressed.
    P256(Vec<u8>),
}

/// A key as providers write it.
#[derive(Deserialize)]
struct WrittenKey {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl Key {
    /// Reads a key; `None` for one of another kind, or for another use than signatures.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let written = WrittenKey::deserialize(value).ok()?;
        if written.usage.as_deref().is_some_and(|usage| usage != "sig") {
            return None;
        }
        let is_for = |name: &str| written.alg.as_deref().is_none_or(|alg| alg == name);
        let material = match (written.kty.as_str(), written.crv.as_deref()) {
            ("RSA", _) if is_for("RS256") => {
                let number = |text: &Option<String>| -> Option<Vec<u8>> {
                    let bytes = decode(text.as_deref()?)?;
                    Some(bytes.into_iter().skip_while(|byte| *byte == 0).collect())
                };
                Material::Rsa { n: number(&written.n)?, e: number(&written.e)? }
            }
            ("EC", Some("P-256")) if is_for("ES256") => {
                let (x, y) = (decode(written.x.as_deref()?)?, decode(written.y.as_deref()?)?);
                if (x.len(), y.len()) != (COORDINATE, COORDINATE) {
                    return None;
                }
                Material::P256([&[4], x.as_slice(), y.as_slice()].concat())
            }
            _ => return None,
        };
        Some(Self { kid: written.kid, material })
    }

    /// True if the key is for an algorithm.
    fn is_for(&self, algorithm: Algorithm) -> bool {
        matches!(
            (&self.material, algorithm),
            (Material::Rsa { .. }, Algorithm::Rs256) | (Material::P256(_), Algorithm::Es256)
        )
    }

    /// True if the signature of a message is of this key.
    fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match &self.material {
            Material::Rsa { n, e } => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            Material::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
        };
        verified.is_ok()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Rs256,
    Es256,
}

/// The head of a token.
#[derive(Deserialize)]
struct Head {
    alg: String,
    kid: Option<String>,
    /// Extensions that the reader has to know.
    crit: Option<Value>,
}

/// The claims of a token.
#[derive(Deserialize)]
pub(super) struct Claims {
    iss: String,
    /// The person at the provider.
    pub(super) sub: String,
    aud: Audience,
    azp: Option<String>,
    exp: f64,
    iat: f64,
    nbf: Option<f64>,
    nonce: Option<String>,
    at_hash: Option<String>,
    /// Claims about the person.
    #[serde(flatten)]
    pub(super) profile: Profile,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

/// Claims about a person.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Profile {
    /// The address, which counts only if the provider has verified it.
    pub(super) email: Option<String>,
    /// True if the provider has verified it; some write a text.
    email_verified: Option<Value>,
    name: Option<String>,
    given_name: Option<String>,
    family_name: Option<String>,
    preferred_username: Option<String>,
}

impl Profile {
    /// True if nothing is missing.
    pub(super) fn is_complete(&self) -> bool {
        self.email.is_some() && self.email_verified.is_some() && self.name.is_some()
    }

    /// The claims, completed by others. An email and its verification are from the same source.
    pub(super) fn or(self, other: Self) -> Self {
        let is_own = self.email.is_some() && self.email_verified.is_some();
        let (email, email_verified) =
            if is_own { (self.email, self.email_verified) } else { (other.email, other.email_verified) };
        Self {
            email,
            email_verified,
            name: self.name.or(other.name),
            given_name: self.given_name.or(other.given_name),
            family_name: self.family_name.or(other.family_name),
            preferred_username: self.preferred_username.or(other.preferred_username),
        }
    }

    /// True if the provider has verified the email.
    pub(super) fn is_verified(&self) -> bool {
        self.email_verified.as_ref().is_some_and(|verified| *verified == true || *verified == "true")
    }

    /// Names for the person, the best first.
    pub(super) fn names(&self) -> Vec<String> {
        let parts = [self.given_name.as_deref(), self.family_name.as_deref()];
        let full = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let email = self.email.as_deref().and_then(|email| email.split('@').next());
        let names = [self.name.as_deref(), Some(&full), self.preferred_username.as_deref(), email];
        names.into_iter().flatten().filter(|name| !name.trim().is_empty()).map(str::to_owned).collect()
    }
}

/// The values that the claims must have.
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    pub(super) nonce: &'a str,
    pub(super) access_token: Option<&'a str>,
    /// In UNIX seconds.
    pub(super) now: i64,
}

/// Why a token proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejection {
    /// Its key is not among those that are known.
    UnknownKey,
    /// A check failed: the reason, for the logs.
    Invalid(&'static str),
}

impl Rejection {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::UnknownKey => "the key of the token is unknown",
            Self::Invalid(reason) => reason,
        }
    }
}

/// Verifies the signature and the claims of a token.
pub(super) fn verify(token: &str, keys: &[Key], expected: &Expected<'_>) -> Result<Claims, Rejection> {
    let malformed = Rejection::Invalid("the token is malformed");
    let (message, signature) = token.rsplit_once('.').ok_or(malformed)?;
    let (head, payload) = message.split_once('.').ok_or(malformed)?;
    let head: Head = parse(head).ok_or(malformed)?;
    let algorithm = match head.alg.as_str() {
        "RS256" => Algorithm::Rs256,
        "ES256" => Algorithm::Es256,
        _ => return Err(Rejection::Invalid("the token is signed with an algorithm that is not accepted")),
    };
    if head.crit.is_some() {
        return Err(Rejection::Invalid("the token has extensions that are not supported"));
    }
    let signature = decode(signature).ok_or(malformed)?;
    let fits = |key: &&Key| key.is_for(algorithm) && (head.kid.is_none() || key.kid == head.kid);
    let mut fitting = keys.iter().filter(fits).peekable();
    if fitting.peek().is_none() {
        return Err(Rejection::UnknownKey);
    }
    if !fitting.any(|key| key.has_signed(message.as_bytes(), &signature)) {
        return Err(Rejection::Invalid("the signature of the token is wrong"));
    }
    let claims: Claims = parse(payload).ok_or(malformed)?;
    claims.check(expected).map_err(Rejection::Invalid)?;
    Ok(claims)
}

impl Claims {
    #[expect(
        clippy::cast_precision_loss,
        reason = "tokens may have fractions of seconds; times are far below 2^52"
    )]
    fn check(&self, expected: &Expected<'_>) -> Result<(), &'static str> {
        let now = expected.now as f64;
        let difference = CLOCK_DIFFERENCE as f64;
        if self.iss != expected.issuer {
            return Err("the token is of another issuer");
        }
        let is_for_us = match &self.aud {
            Audience::One(one) => one == expected.client_id,
            Audience::Many(many) => many.iter().any(|one| one == expected.client_id),
        };
        if !is_for_us || self.azp.as_deref().is_some_and(|party| party != expected.client_id) {
            return Err("the token is for another client");
        }
        if self.exp <= now - difference {
            return Err("the token has expired");
        }
        if self.nbf.is_some_and(|start| start > now + difference) || self.iat > now + difference {
            return Err("the token is of the future: the clocks differ");
        }
        if self.iat < now - difference - MAX_AGE as f64 {
            return Err("the token is too old: the clocks differ");
        }
        if self.nonce.as_deref() != Some(expected.nonce) {
            return Err("the token is of another login");
        }
        if let (Some(digest), Some(token)) = (&self.at_hash, expected.access_token) {
            let own = Sha256::digest(token.as_bytes());
            if *digest != URL_SAFE_NO_PAD.encode(&own[..own.len() / 2]) {
                return Err("the access token is of another login");
            }
        }
        if !(1..=MAX_SUBJECT).contains(&self.sub.chars().count()) {
            return Err("the token names no person");
        }
        Ok(())
    }
}

fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

fn parse<T: for<'de> Deserialize<'de>>(part: &str) -> Option<T> {
    serde_json::from_slice(&decode(part)?).ok()
}
