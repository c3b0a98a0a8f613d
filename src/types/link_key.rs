//! The secret part of links.

use rand::RngExt;

/// The length in base32 characters: 120 bits.
const KEY_LENGTH: usize = 24;

const KEY_LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Returns a new key for a link.
pub fn random_key() -> String {
    let mut random = rand::rng();
    (0..KEY_LENGTH).map(|_| char::from(KEY_LETTERS[random.random_range(0..KEY_LETTERS.len())])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_published_form() {
        let key = random_key();
        assert_eq!(key.len(), 24);
        assert!(key.bytes().all(|byte| KEY_LETTERS.contains(&byte)), "{key}");
        assert_ne!(key, random_key());
    }
}
