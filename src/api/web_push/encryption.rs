//! Encryption of a notification for one browser (RFC 8291, with the encoding of RFC 8188), so that the push service cannot
//! read it.

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::error::Unspecified;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// The length of a public key: an uncompressed point of P-256.
const PUBLIC_KEY_LENGTH: usize = 65;

/// The length of the secret that browser and server share.
const AUTH_SECRET_LENGTH: usize = 16;

const SALT_LENGTH: usize = 16;

/// The length of the only record of a body. Push services have to accept bodies of this length.
const RECORD_LENGTH: u32 = 4096;

/// The longest plaintext, in bytes: the rest of the body is its head, the authentication tag and a delimiter.
pub const MAX_PLAINTEXT_LENGTH: usize =
    RECORD_LENGTH as usize - (SALT_LENGTH + 4 + 1 + PUBLIC_KEY_LENGTH) - 16 - 1;

/// Lengths to which plaintexts are padded, in bytes: the push service learns only which of them it is.
const PADDED_LENGTHS: [usize; 4] = [512, 1024, 2048, MAX_PLAINTEXT_LENGTH];

/// The keys of a browser's subscription.
#[derive(Clone, Debug)]
pub struct BrowserKeys {
    /// The `p256dh` of the subscription: a point of P-256, 65 bytes, uncompressed.
    pub public_key: Vec<u8>,
    /// The `auth` of the subscription: 16 bytes.
    pub auth_secret: Vec<u8>,
}

impl BrowserKeys {
    /// True if the secret has its length and the key is a point of the curve.
    pub fn are_valid(&self) -> bool {
        self.auth_secret.len() == AUTH_SECRET_LENGTH
            && self.public_key.len() == PUBLIC_KEY_LENGTH
            && encrypt(&[], self).is_ok()
    }
}

/// Encrypts a plaintext, with a key and a salt for this message alone. Fails if the plaintext is too long, or a key of the
/// browser is not valid.
pub fn encrypt(plaintext: &[u8], browser: &BrowserKeys) -> Result<Vec<u8>, Unspecified> {
    let random = SystemRandom::new();
    let private_key = EphemeralPrivateKey::generate(&ECDH_P256, &random)?;
    let public_key = private_key.compute_public_key()?;
    let mut salt = [0; SALT_LENGTH];
    random.fill(&mut salt)?;
    let length = PADDED_LENGTHS.into_iter().find(|length| plaintext.len() <= *length).ok_or(Unspecified)?;
    let peer = UnparsedPublicKey::new(&ECDH_P256, &browser.public_key);
    agree_ephemeral(private_key, &peer, |shared| {
        seal(shared, browser, public_key.as_ref(), salt, plaintext, length)
    })?
}

/// Encrypts a plaintext with a shared secret of browser and server, padded to a length.
fn seal(
    shared: &[u8],
    browser: &BrowserKeys,
    public_key: &[u8],
    salt: [u8; SALT_LENGTH],
    plaintext: &[u8],
    length: usize,
) -> Result<Vec<u8>, Unspecified> {
    let from_agreement = hash(&browser.auth_secret, &[shared]);
    let info: [&[u8]; 4] = [b"WebPush: info\0", &browser.public_key, public_key, &[1]];
    let input = hash(from_agreement.as_ref(), &info);
    let extracted = hash(&salt, &[input.as_ref()]);
    let key = hash(extracted.as_ref(), &[b"Content-Encoding: aes128gcm\0\x01"]);
    let nonce = hash(extracted.as_ref(), &[b"Content-Encoding: nonce\0\x01"]);
    let key = UnboundKey::new(&AES_128_GCM, key.as_ref().get(..16).ok_or(Unspecified)?)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce.as_ref().get(..12).ok_or(Unspecified)?)?;

    let mut sealed = plaintext.to_vec();
    // The delimiter of the last record; what follows is padding.
    sealed.push(2);
    sealed.resize(length.max(plaintext.len()) + 1, 0);
    LessSafeKey::new(key).seal_in_place_append_tag(nonce, Aad::empty(), &mut sealed)?;

    let mut body = salt.to_vec();
    body.extend(RECORD_LENGTH.to_be_bytes());
    body.push(u8::try_from(public_key.len()).map_err(|_| Unspecified)?);
    body.extend_from_slice(public_key);
    body.extend(sealed);
    Ok(body)
}

/// HMAC-SHA256 of the parts of a message.
fn hash(key: &[u8], parts: &[&[u8]]) -> hmac::Tag {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    for part in parts {
        context.update(part);
    }
    context.sign()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    // The example of RFC 8291, section 5, with the secret of the agreement from its appendix.
    #[test]
    fn the_example_of_the_standard() {
        let browser = BrowserKeys {
            public_key: bytes(
                "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            ),
            auth_secret: bytes("BTBZMqHH6r4Tts7J_aSIgg"),
        };
        let public_key =
            bytes("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8");
        let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap();
        let shared = bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs");
        let plaintext = b"When I grow up, I want to be a watermelon";
        let body = seal(&shared, &browser, &public_key, salt, plaintext, 0).unwrap();
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
        assert_eq!(URL_SAFE_NO_PAD.encode(body), expected);
    }

    #[test]
    fn lengths_are_padded_and_limited() {
        let public_key =
            bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4");
        let browser = BrowserKeys { public_key, auth_secret: vec![7; AUTH_SECRET_LENGTH] };
        let length = |plaintext: usize| encrypt(&vec![b'a'; plaintext], &browser).map(|body| body.len());
        assert_eq!(length(0), Ok(512 + 103));
        assert_eq!(length(512), length(1));
        assert_eq!(length(513), Ok(1024 + 103));
        assert_eq!(length(MAX_PLAINTEXT_LENGTH), Ok(4096));
        assert_eq!(length(MAX_PLAINTEXT_LENGTH + 1), Err(Unspecified));
        assert!(browser.are_valid());
    }

    #[test]
    fn keys_off_the_curve_are_refused() {
        let point =
            bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4");
        let with =
            |public_key: Vec<u8>, auth_secret: Vec<u8>| BrowserKeys { public_key, auth_secret }.are_valid();
        let mut off = point.clone();
        off[64] ^= 1;
        assert!(!with(off, vec![7; 16]));
        assert!(!with(vec![0; 65], vec![7; 16]));
        assert!(!with(point[..64].to_vec(), vec![7; 16]));
        assert!(!with(point.clone(), vec![7; 15]));
        assert!(with(point, vec![7; 16]));
    }
}
