//! Password hashing with argon2id, on blocking threads.

use crate::http::{ApiError, ApiResult};
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use std::sync::LazyLock;
use tokio::sync::Semaphore;

/// Limits concurrent hashing. Each hash takes 19 MiB and about 20 ms of a core, so more would only make a small machine
/// swap.
static HASHING_PERMITS: Semaphore = Semaphore::const_new(2);

/// Verified instead of a missing hash, so that the response time does not reveal whether an account exists.
static DUMMY_HASH: LazyLock<String> = LazyLock::new(|| hash("nobody has this password").unwrap_or_default());

/// The minimum length of a password, in characters (`password_min_length`).
pub const MIN_LENGTH: usize = 6;

/// The maximum length of a password, in characters (`password_max_length`).
pub const MAX_LENGTH: usize = 100;

/// Whether the length of a password is within the limits.
pub fn has_allowed_length(password: &str) -> bool {
    (MIN_LENGTH..=MAX_LENGTH).contains(&password.chars().count())
}

/// Returns the hash of a password as a PHC string. Blocks for about 20 ms; async code calls [`hash_async`].
pub fn hash(password: &str) -> ApiResult<String> {
    let hashed = Argon2::default().hash_password(password.as_bytes());
    hashed
        .map(|hash| hash.to_string())
        .map_err(|error| ApiError::internal(format_args!("a password could not be hashed: {error}")))
}

/// Whether a password matches its stored hash. Without a hash it takes the same time and returns `false`.
pub async fn verify(password: String, stored: Option<String>) -> ApiResult<bool> {
    let _permit = HASHING_PERMITS.acquire().await.map_err(ApiError::internal)?;
    let verified = tokio::task::spawn_blocking(move || {
        let known = stored.is_some();
        let stored = stored.unwrap_or_else(|| DUMMY_HASH.clone());
        let right = PasswordHash::new(&stored)
            .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok());
        known && right
    });
    verified.await.map_err(ApiError::internal)
}

/// Like [`hash`], on a blocking thread.
pub async fn hash_async(password: String) -> ApiResult<String> {
    let _permit = HASHING_PERMITS.acquire().await.map_err(ApiError::internal)?;
    tokio::task::spawn_blocking(move || hash(&password)).await.map_err(ApiError::internal)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_known_by_its_hash_alone() {
        let stored = hash("correct horse").unwrap();
        assert!(stored.starts_with("$argon2id$"), "{stored}");
        assert!(verify("correct horse".into(), Some(stored.clone())).await.unwrap());
        assert!(!verify("Correct horse".into(), Some(stored)).await.unwrap());
        assert!(!verify("nobody has this password".into(), None).await.unwrap());
    }
}
