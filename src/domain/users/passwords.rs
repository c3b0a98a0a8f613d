//! Password hashing with argon2id, in a pool of its own.

use crate::http::{ApiError, ApiResult};
use crate::pool::{Pool, Pools};
use crate::types::UserId;
use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use std::sync::LazyLock;

/// Verified instead of a missing hash, so that the response time does not reveal whether an account exists.
static DUMMY_HASH: LazyLock<String> = LazyLock::new(|| hash("nobody has this password").unwrap_or_default());

/// The minimum length of a password, in characters (`password_min_length`).
pub const MIN_LENGTH: usize = 6;

/// The maximum length of a password, in characters (`password_max_length`).
pub const MAX_LENGTH: usize = 100;

/// How many blocks of memory are allocated for one hash, although most need fewer: 33 MiB. glibc gives memory back to the
/// system at once if the allocation is larger than 32 MiB. Smaller ones of this size would make it keep them for good.
const ALLOCATED_BLOCKS: usize = 33 * 1024;

/// Whether the length of a password is within the limits.
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

/// Whether a password matches a PHC string.
fn matches(password: &str, stored: &str) -> Result<bool, argon2::password_hash::Error> {
    let stored = PasswordHash::new(stored)?;
    let (Some(salt), Some(expected)) = (&stored.salt, &stored.hash) else { return Ok(false) };
    let algorithm = Algorithm::try_from(stored.algorithm.as_str())?;
    let version = stored.version.map(Version::try_from).transpose()?.unwrap_or_default();
    let computed = digest(password, salt, algorithm, version, Params::try_from(&stored)?)?;
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

/// On whose behalf a password is hashed. Strangers have a pool of their own, so that a flood of guesses keeps nobody else
/// waiting.
#[derive(Clone, Copy, Debug)]
pub enum OnBehalfOf {
    /// Somebody of whom nothing is known.
    Stranger,
    /// Somebody at an address from which the account was logged in to lately, or the operator.
    KnownAddress,
    /// Somebody who is logged in.
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

/// Whether a password matches its stored hash. Without a hash it takes the same time and returns `false`.
pub async fn verify(
    pools: &Pools,
    whose: OnBehalfOf,
    password: String,
    stored: Option<String>,
) -> ApiResult<bool> {
    let (pool, user_id) = whose.pool(pools);
    let verified = pool.run(user_id, move || {
        let known = stored.is_some();
        let stored = stored.unwrap_or_else(|| DUMMY_HASH.clone());
        // A stored hash that cannot be read matches nothing.
        matches(&password, &stored).unwrap_or(false) && known
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

    #[tokio::test]
    async fn a_password_is_known_by_its_hash_alone() {
        let stored = hash("correct horse").unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        let pools = Pools::default();
        assert!(
            verify(&pools, OnBehalfOf::Stranger, "correct horse".into(), Some(stored.clone())).await.unwrap()
        );
        assert!(!verify(&pools, OnBehalfOf::Stranger, "Correct horse".into(), Some(stored)).await.unwrap());
        assert!(
            !verify(&pools, OnBehalfOf::Stranger, "nobody has this password".into(), None).await.unwrap()
        );
        assert!(
            !verify(&pools, OnBehalfOf::Stranger, "correct horse".into(), Some("no hash".into()))
                .await
                .unwrap()
        );
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
