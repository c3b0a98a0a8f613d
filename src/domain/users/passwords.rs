//! Password hashing with argon2id, in a pool of its own.

use crate::error::{ApiError, ApiResult};
use crate::pool::{Pool, Pools};
use crate::types::{UserId, hex};
use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bcrypt::HashParts;
use ring::pbkdf2;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::num::NonZeroU32;
use std::sync::LazyLock;

/// Verified instead of a missing hash, so that the response time does not reveal whether an account exists.
static DUMMY_HASH: LazyLock<String> =
    LazyLock::new(|| hash("no account has this password").unwrap_or_default());

/// The minimum length of a password, in characters (`password_min_length`).
pub const MIN_LENGTH: usize = 6;

/// The maximum length of a password, in characters (`password_max_length`).
pub const MAX_LENGTH: usize = 100;

/// Number of blocks of memory allocated for one hash, although most need fewer: 33 MiB. glibc returns allocations of
/// more than 32 MiB to the system at once, and keeps smaller ones of this size.
const ALLOCATED_BLOCKS: usize = 33 * 1024;

/// True if the length of a password is within the limits.
pub fn has_allowed_length(password: &str) -> bool {
    (MIN_LENGTH..=MAX_LENGTH).contains(&password.chars().count())
}

/// Returns the hash of a password as a PHC string. Blocks for about 20 ms; async code calls [`hash_async`].
pub fn hash(password: &str) -> ApiResult<String> {
    hash_with_random_salt(password, Params::default())
        .map(|hash| hash.to_string())
        .map_err(|error| ApiError::internal(format_args!("a password could not be hashed: {error}")))
}

fn hash_with_random_salt(
    password: &str,
    params: Params,
) -> Result<PasswordHash, argon2::password_hash::Error> {
    let (algorithm, version) = (Algorithm::default(), Version::default());
    let salt = Salt::generate();
    Ok(PasswordHash {
        algorithm: algorithm.ident(),
        version: Some(version.into()),
        params: ParamsString::try_from(&params)?,
        salt: Some(salt),
        hash: Some(digest(password, &salt, algorithm, version, params)?),
    })
}

/// Like [`hash`], for passwords that are no secrets: quick to compute, and to guess. They are verified as all others.
pub fn hash_quickly(password: &str) -> ApiResult<String> {
    let failed = |error| ApiError::internal(format_args!("a password could not be hashed: {error}"));
    let params = Params::new(Params::MIN_M_COST, 1, 1, None)
        .map_err(|error| ApiError::internal(format_args!("a password could not be hashed: {error}")))?;
    hash_with_random_salt(password, params).map(|hash| hash.to_string()).map_err(failed)
}

/// The most rounds of PBKDF2, and the highest cost of bcrypt, of hashes that other servers made: logins would take too long.
const MAX_ROUNDS: u32 = 4_000_000;
const MAX_BCRYPT_COST: u32 = 14;

/// The highest costs of argon2 in hashes that other servers made: the most blocks of memory, 128 MiB, and the most that all passes
/// together write, about half a second. Strangers who guess have such a hash computed, several at a time.
const MAX_BLOCKS: u32 = 128 * 1024;
const MAX_WRITTEN_BLOCKS: u32 = 512 * 1024;

/// The name before a bcrypt hash of a SHA-256 digest, as Django writes it.
const BCRYPT_SHA256: &str = "bcrypt_sha256$";

/// The name before an argon2 hash (a PHC string) of a SHA-256 digest.
const ARGON2_SHA256: &str = "argon2_sha256";

/// A hash of other servers: `pbkdf2_sha256$ROUNDS$SALT$BASE64`.
struct Pbkdf2<'a> {
    rounds: NonZeroU32,
    salt: &'a str,
    hash: Vec<u8>,
}

impl<'a> Pbkdf2<'a> {
    fn parse(stored: &'a str) -> Option<Self> {
        let mut parts = stored.strip_prefix("pbkdf2_sha256$")?.split('$');
        let (rounds, salt, hash) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
        Some(Self { rounds, salt, hash: STANDARD.decode(hash).ok()? }).filter(|_| parts.next().is_none())
    }

    fn matches(&self, password: &str) -> bool {
        let (salt, password) = (self.salt.as_bytes(), password.as_bytes());
        pbkdf2::verify(pbkdf2::PBKDF2_HMAC_SHA256, self.rounds, salt, password, &self.hash).is_ok()
    }
}

/// A bcrypt hash of other servers: of the password, or of the hexadecimal form of its SHA-256 digest.
struct Bcrypt<'a> {
    hash: &'a str,
    cost: u32,
    is_of_digest: bool,
}

impl<'a> Bcrypt<'a> {
    fn parse(stored: &'a str) -> Option<Self> {
        let (hash, is_of_digest) = match stored.strip_prefix(BCRYPT_SHA256) {
            Some(hash) => (hash, true),
            None => (stored, false),
        };
        let cost = hash.parse::<HashParts>().ok()?.get_cost();
        Some(Self { hash, cost, is_of_digest })
    }

    fn matches(&self, password: &str) -> bool {
        let verified = if self.is_of_digest {
            bcrypt::verify(digest_of(password), self.hash)
        } else {
            bcrypt::verify(password, self.hash)
        };
        verified.unwrap_or(false)
    }
}

/// The hexadecimal form of a password's SHA-256 digest.
fn digest_of(password: &str) -> String {
    hex(&Sha256::digest(password))
}

/// Returns the stored form of a bcrypt hash of a digest, as Rocket.Chat makes them.
pub fn of_bcrypt_digest(hash: &str) -> String {
    format!("{BCRYPT_SHA256}{hash}")
}

/// Returns the stored form of an argon2 hash of a digest, as newer releases of Rocket.Chat make them.
pub fn of_argon2_digest(hash: &str) -> String {
    format!("{ARGON2_SHA256}{hash}")
}

/// The PHC string in a stored hash, and true if it is of the password's digest.
fn phc_string(stored: &str) -> (&str, bool) {
    match stored.strip_prefix(ARGON2_SHA256) {
        Some(hash) => (hash, true),
        None => (stored, false),
    }
}

/// True if passwords can be compared with a hash of another server, within limits of time and memory.
pub fn is_verifiable(stored: &str) -> bool {
    if let Some(hash) = Bcrypt::parse(stored) {
        return hash.cost <= MAX_BCRYPT_COST;
    }
    if let Some(hash) = Pbkdf2::parse(stored) {
        return hash.rounds.get() <= MAX_ROUNDS && hash.hash.len() == 32;
    }
    PasswordHash::new(phc_string(stored).0).is_ok_and(|hash| {
        let is_cheap = |params: Params| {
            params.m_cost() <= MAX_BLOCKS
                && params.m_cost().saturating_mul(params.t_cost()) <= MAX_WRITTEN_BLOCKS
                && params.p_cost() <= 64
        };
        Algorithm::try_from(hash.algorithm.as_str()).is_ok()
            && hash.salt.is_some()
            && hash.hash.is_some()
            && Params::try_from(&hash).is_ok_and(is_cheap)
    })
}

/// True if a hash was made by another server, and is replaced when its password is known.
pub fn is_foreign(stored: &str) -> bool {
    let ours = |hash: PasswordHash| {
        hash.algorithm == Algorithm::default().ident()
            && Params::try_from(&hash).is_ok_and(|params| params.m_cost() <= Params::default().m_cost())
    };
    !PasswordHash::new(stored).is_ok_and(ours)
}

/// True if a password matches a PHC string, or a hash of PBKDF2 or bcrypt.
fn matches(password: &str, stored: &str) -> Result<bool, argon2::password_hash::Error> {
    if let Some(hash) = Bcrypt::parse(stored) {
        return Ok(hash.matches(password));
    }
    if let Some(hash) = Pbkdf2::parse(stored) {
        return Ok(hash.matches(password));
    }
    let (stored, is_of_digest) = phc_string(stored);
    let stored = PasswordHash::new(stored)?;
    let (Some(salt), Some(expected)) = (&stored.salt, &stored.hash) else { return Ok(false) };
    let algorithm = Algorithm::try_from(stored.algorithm.as_str())?;
    let version = stored.version.map(Version::try_from).transpose()?.unwrap_or_default();
    let hashed = if is_of_digest { Cow::Owned(digest_of(password)) } else { Cow::Borrowed(password) };
    let computed = digest(&hashed, salt, algorithm, version, Params::try_from(&stored)?)?;
    // Compares in constant time.
    Ok(computed == *expected)
}

fn digest(
    password: &str,
    salt: &[u8],
    algorithm: Algorithm,
    version: Version,
    params: Params,
) -> Result<Output, argon2::password_hash::Error> {
    let length = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
    let needed = params.block_count();
    // Only the blocks that are needed are written to, so only they take memory.
    let mut blocks = Vec::with_capacity(needed.max(ALLOCATED_BLOCKS));
    blocks.resize(needed, Block::new());
    let argon2 = Argon2::new(algorithm, version, params);
    let mut output = [0; Output::MAX_LENGTH];
    let output = output.get_mut(..length).ok_or(argon2::password_hash::Error::OutputSize)?;
    argon2.hash_password_into_with_memory(password.as_bytes(), salt, output, &mut blocks)?;
    Ok(Output::new(output)?)
}

/// The client for which a password is hashed. Strangers have a separate pool, so that a flood of guesses does not delay
/// others.
#[derive(Clone, Copy, Debug)]
pub enum OnBehalfOf {
    /// An unknown client.
    Stranger,
    /// A client at an address that the account recently used, or the operator.
    KnownAddress,
    /// A logged-in user.
    User(UserId),
}

impl OnBehalfOf {
    fn pool(self, pools: &Pools) -> (&Pool, Option<UserId>) {
        match self {
            Self::Stranger => (&pools.passwords, None),
            Self::KnownAddress => (&pools.known_passwords, None),
            Self::User(user_id) => (&pools.known_passwords, Some(user_id)),
        }
    }
}

/// True if a password matches its stored hash. Without a hash, or with one that a restored backup from elsewhere has and that takes
/// too long, it takes the usual time and returns `false`.
pub async fn verify(
    pools: &Pools,
    whose: OnBehalfOf,
    password: String,
    stored: Option<String>,
) -> ApiResult<bool> {
    let (pool, user_id) = whose.pool(pools);
    let verified = pool.run(user_id, move || {
        let usable = stored.filter(|stored| is_verifiable(stored));
        let stored = usable.as_ref().unwrap_or(&DUMMY_HASH);
        matches(&password, stored).unwrap_or(false) && usable.is_some()
    });
    verified.await
}

/// Like [`hash`], in the pool.
pub async fn hash_async(pools: &Pools, whose: OnBehalfOf, password: String) -> ApiResult<String> {
    let (pool, user_id) = whose.pool(pools);
    pool.run(user_id, move || hash(&password)).await?
}

#[cfg(test)]
mod tests {
    use super::*;
    use argon2::PasswordVerifier;
    use std::time::Duration;

    #[tokio::test]
    async fn a_password_is_known_by_its_hash_alone() {
        let stored = hash("correct horse").unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        let pools = Pools::new(Some(Duration::from_secs(3600)));
        assert!(
            verify(&pools, OnBehalfOf::Stranger, "correct horse".into(), Some(stored.clone())).await.unwrap()
        );
        assert!(!verify(&pools, OnBehalfOf::Stranger, "Correct horse".into(), Some(stored)).await.unwrap());
        assert!(
            !verify(&pools, OnBehalfOf::Stranger, "no account has this password".into(), None).await.unwrap()
        );
        let costly = Params::new(MAX_BLOCKS + 1, 1, 1, None).unwrap();
        let costly = hash_with_random_salt("correct horse", costly).unwrap().to_string();
        for unusable in ["no hash", costly.as_str()] {
            let stored = Some(unusable.to_owned());
            let verified = verify(&pools, OnBehalfOf::Stranger, "correct horse".into(), stored).await;
            assert!(!verified.unwrap(), "{unusable}");
        }
    }

    #[test]
    fn hashes_of_other_servers_are_verified() {
        let mut hash = [0; 32];
        let rounds = NonZeroU32::new(1000).unwrap();
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, rounds, b"salt", b"correct horse", &mut hash);
        let stored = format!("pbkdf2_sha256$1000$salt${}", STANDARD.encode(hash));
        assert!(matches("correct horse", &stored).unwrap() && !matches("correct cow", &stored).unwrap());
        assert!(is_verifiable(&stored) && is_foreign(&stored));
        let large = Params::new(102_400, 2, 8, None).unwrap();
        let argon2 = hash_with_random_salt("correct horse", large).unwrap().to_string();
        assert!(matches("correct horse", &argon2).unwrap() && is_verifiable(&argon2) && is_foreign(&argon2));
        let bcrypt_of = |secret: &str| bcrypt::hash_with_salt(secret, 4, [7; 16]).unwrap().to_string();
        let of_digest = of_bcrypt_digest(&bcrypt_of(&hex(&Sha256::digest("correct horse"))));
        for bcrypt in [of_digest, bcrypt_of("correct horse")] {
            assert!(matches("correct horse", &bcrypt).unwrap() && !matches("correct cow", &bcrypt).unwrap());
            assert!(is_verifiable(&bcrypt) && is_foreign(&bcrypt), "{bcrypt}");
            assert!(!is_verifiable(&bcrypt.replace("$04$", "$15$")), "{bcrypt}");
        }
        let of_digest = of_argon2_digest(&super::hash(&digest_of("correct horse")).unwrap());
        assert!(
            matches("correct horse", &of_digest).unwrap() && !matches("correct cow", &of_digest).unwrap()
        );
        assert!(!matches(&digest_of("correct horse"), &of_digest).unwrap());
        assert!(is_verifiable(&of_digest) && is_foreign(&of_digest), "{of_digest}");
        for (params, expected) in [
            ("m=131072,t=4,p=1", true),
            ("m=65536,t=8,p=4", true),
            ("m=131073,t=1,p=1", false),
            ("m=131072,t=5,p=1", false),
            ("m=19456,t=4294967295,p=1", false),
            ("m=9999999,t=2,p=1", false),
        ] {
            let changed = of_digest.replace("m=19456,t=2,p=1", params);
            assert_eq!(is_verifiable(&changed), expected, "{changed}");
        }
        let ours = hash_with_random_salt("correct horse", Params::default()).unwrap().to_string();
        assert!(!is_foreign(&ours));
        for refused in ["pbkdf2_sha256$9000000$salt$AAAA", "md5$x$y", "!", "pbkdf2_sha1$1$salt$AAAA", ""] {
            assert!(!is_verifiable(refused), "{refused}");
        }
    }

    #[test]
    fn hashes_are_those_of_the_library() {
        let ours = hash("correct horse").unwrap();
        Argon2::default().verify_password(b"correct horse", ours.as_str()).unwrap();
        let weak = Argon2::new(Algorithm::Argon2i, Version::V0x10, Params::new(64, 3, 2, Some(20)).unwrap());
        let stored = argon2::PasswordHasher::hash_password(&weak, b"correct horse").unwrap().to_string();
        assert!(matches("correct horse", &stored).unwrap());
        assert!(!matches("correct cow", &stored).unwrap());
        let quick = hash_quickly("no secret").unwrap();
        assert!(matches("no secret", &quick).unwrap() && !matches("a secret", &quick).unwrap());
    }
}
