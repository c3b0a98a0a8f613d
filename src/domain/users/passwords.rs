//! Passwords: argon2id, on threads that may take their time.

use crate::http::{ApiError, ApiResult};
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use std::sync::LazyLock;
use tokio::sync::Semaphore;

/// Each takes 19 MiB and a core for some 20 ms; more at a time would only make a small machine swap.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// What is compared when there is no account or no password, so that the answer takes the same time.
static NOBODY: LazyLock<String> = LazyLock::new(|| hash("nobody has this password").unwrap_or_default());

/// The shortest password, in characters (`password_min_length`).
pub const MIN_LENGTH: usize = 6;

/// The longest password, in characters (`password_max_length`).
pub const MAX_LENGTH: usize = 100;

/// Whether a text is long enough to be a password, and no longer than one may be.
pub fn is_allowed(password: &str) -> bool {
    (MIN_LENGTH..=MAX_LENGTH).contains(&password.chars().count())
}

/// The hash of a password, in PHC form.
pub fn hash(password: &str) -> ApiResult<String> {
    let hashed = Argon2::default().hash_password(password.as_bytes());
    hashed
        .map(|hash| hash.to_string())
        .map_err(|error| ApiError::internal(format_args!("a password could not be hashed: {error}")))
}

/// Whether a password is the one that was hashed. Without a hash it takes as long and answers no.
pub async fn verify(password: String, stored: Option<String>) -> ApiResult<bool> {
    let _permit = AT_ONCE.acquire().await.map_err(ApiError::internal)?;
    let verified = tokio::task::spawn_blocking(move || {
        let known = stored.is_some();
        let stored = stored.unwrap_or_else(|| NOBODY.clone());
        let right = PasswordHash::new(&stored)
            .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok());
        known && right
    });
    verified.await.map_err(ApiError::internal)
}

/// The same as [`hash`], for async code.
pub async fn hash_apart(password: String) -> ApiResult<String> {
    let _permit = AT_ONCE.acquire().await.map_err(ApiError::internal)?;
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
