//! Made-up sentences, the same for both sides of a comparison and the same in every run.

use std::fmt::Write as _;

const SYLLABLES: [&str; 24] = [
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su", "ta", "ve",
    "wi", "xo", "yu", "za", "bre", "cli", "dro",
];

/// Number of topics of a channel.
pub const TOPICS: u64 = 25;

/// The sentence of that number: twelve words out of some 14,000, about 80 characters, no markup.
///
/// The words vary so that the search index grows as it does with real talk.
pub fn sentence(number: u64) -> String {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = String::with_capacity(96);
    for position in 0..12 {
        if position > 0 {
            text.push(' ');
        }
        for _ in 0..3 {
            // xorshift64: enough to spread the syllables.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let chosen = state % SYLLABLES.len() as u64;
            text.push_str(SYLLABLES[chosen as usize]);
        }
    }
    text
}

/// The words of such a sentence or topic.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The topic that the message of that number goes to.
pub fn topic(number: u64) -> String {
    let mut name = String::from("topic ");
    // Writing into a String cannot fail.
    let _ = write!(name, "{}", number % TOPICS);
    name
}
