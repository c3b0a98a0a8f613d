//! Identification of the server to push services (RFC 8292): a key pair in the file, and signed tokens.

use crate::error::{ApiError, ApiResult};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::error::Unspecified;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::json;
use url::Url;

/// Validity of a token in seconds. At most a day is allowed.
const TOKEN_LIFETIME: i64 = 12 * 60 * 60;

/// The key pair with which the server identifies itself to push services (VAPID, RFC 8292): ECDSA on P-256.
pub struct ServerKey(EcdsaKeyPair);

impl ServerKey {
    /// Generates a key pair. Returns it in the form in which the file stores it (PKCS #8).
    pub fn generate() -> ApiResult<Vec<u8>> {
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        document.map(|document| document.as_ref().to_vec()).map_err(|_| failed())
    }

    /// Reads a stored key pair.
    pub fn read(stored: &[u8]) -> ApiResult<Self> {
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, stored, &SystemRandom::new())
            .map(Self)
            .map_err(|_| ApiError::internal("the key of Web Push in the file is not readable"))
    }

    /// The public key as browsers and push services take it.
    pub fn public_key(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0.public_key().as_ref())
    }

    /// The header `Authorization` of a request to an endpoint. `contact` is a URL at which the operator of the push service
    /// finds out whose server this is.
    pub fn authorization(&self, endpoint: &Url, contact: &str, now: i64) -> ApiResult<String> {
        let audience = endpoint.origin().ascii_serialization();
        let claims = json!({"aud": audience, "exp": now + TOKEN_LIFETIME, "sub": contact});
        let head = URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"ES256"}"#);
        let signed = format!("{head}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
        let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = signature.map_err(|Unspecified| failed())?;
        let signature = URL_SAFE_NO_PAD.encode(signature.as_ref());
        Ok(format!("vapid t={signed}.{signature}, k={}", self.public_key()))
    }
}

fn failed() -> ApiError {
    ApiError::internal("the system has no random numbers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
    use serde_json::Value;

    #[test]
    fn tokens_are_signed_for_the_origin_of_the_endpoint() {
        let stored = ServerKey::generate().unwrap();
        let key = ServerKey::read(&stored).unwrap();
        let endpoint = Url::parse("https://push.example:8443/secret/path?query").unwrap();
        let header = key.authorization(&endpoint, "https://chat.example.com", 1_790_000_000).unwrap();
        let (token, public_key) = header.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        assert_eq!(public_key, key.public_key());
        assert_eq!(public_key.len(), 87);
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decoded(public_key))
            .verify(signed.as_bytes(), &decoded(signature))
            .unwrap();
        let parts: Vec<Value> =
            signed.split('.').map(|part| serde_json::from_slice(&decoded(part)).unwrap()).collect();
        assert_eq!(
            parts,
            [
                json!({"typ": "JWT", "alg": "ES256"}),
                json!({"aud": "https://push.example:8443", "exp": 1_790_043_200, "sub": "https://chat.example.com"}),
            ]
        );
        assert!(ServerKey::read(&stored[1..]).is_err());
    }
}
