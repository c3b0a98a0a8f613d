//! The Porter stemmer, as in FTS5's `porter` tokenizer: words with the same stem match one another.

/// Longest word that is stemmed, in bytes; FTS5's limit.
const LONGEST: usize = 64;

/// Endings and their replacements.
type Endings = &'static [(&'static str, &'static str)];

const STEP_2: Endings = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("logi", "log"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const STEP_3: Endings = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

const STEP_4: Endings = &[
    ("al", ""),
    ("ance", ""),
    ("ence", ""),
    ("er", ""),
    ("ic", ""),
    ("able", ""),
    ("ible", ""),
    ("ant", ""),
    ("ement", ""),
    ("ment", ""),
    ("ent", ""),
    ("sion", "s"),
    ("tion", "t"),
    ("ou", ""),
    ("ism", ""),
    ("ate", ""),
    ("iti", ""),
    ("ous", ""),
    ("ive", ""),
    ("ize", ""),
];

/// The stem of a lower-case word.
pub fn stem(word: &str) -> String {
    if word.len() < 3 || word.len() > LONGEST {
        return word.to_owned();
    }
    let mut letters = word.as_bytes().to_vec();
    plural(&mut letters);
    past_and_progressive(&mut letters);
    if letters.last() == Some(&b'y') && has_vowel(&letters[..letters.len() - 1]) {
        set_last(&mut letters, b'i');
    }
    replace(&mut letters, STEP_2, |stem| measure(stem) > 0);
    replace(&mut letters, STEP_3, |stem| measure(stem) > 0);
    replace(&mut letters, STEP_4, |stem| measure(stem) > 1);
    final_e(&mut letters);
    if letters.ends_with(b"ll") && measure(&letters[..letters.len() - 1]) > 1 {
        letters.pop();
    }
    // Endings are ASCII, so that the rest is valid UTF-8.
    String::from_utf8(letters).unwrap_or_else(|_| word.to_owned())
}

fn set_last(letters: &mut [u8], letter: u8) {
    if let Some(last) = letters.last_mut() {
        *last = letter;
    }
}

/// Step 1a.
fn plural(letters: &mut Vec<u8>) {
    let len = letters.len();
    let cut = if !letters.ends_with(b"s") {
        0
    } else if letters.ends_with(b"es") {
        if (len > 4 && letters.ends_with(b"sses")) || (len > 3 && letters.ends_with(b"ies")) { 2 } else { 1 }
    } else {
        usize::from(!letters.ends_with(b"ss"))
    };
    letters.truncate(len - cut);
}

/// Step 1b.
fn past_and_progressive(letters: &mut Vec<u8>) {
    let len = letters.len();
    let cut = if len > 3 && letters.ends_with(b"eed") {
        if measure(&letters[..len - 3]) > 0 {
            letters.pop();
        }
        return;
    } else if len > 2 && letters.ends_with(b"ed") {
        2
    } else if len > 3 && letters.ends_with(b"ing") {
        3
    } else {
        return;
    };
    if !has_vowel(&letters[..len - cut]) {
        return;
    }
    letters.truncate(len - cut);
    let len = letters.len();
    if len > 2 && [&b"at"[..], b"bl", b"iz"].iter().any(|ending| letters.ends_with(ending)) {
        letters.push(b'e');
        return;
    }
    let last = letters[len - 1];
    let is_double = len > 1 && last == letters[len - 2];
    if is_double && !is_vowel(last, false) && !matches!(last, b'l' | b's' | b'z') {
        letters.pop();
    } else if measure(letters) == 1 && ends_short(letters) {
        letters.push(b'e');
    }
}

/// Step 5a.
fn final_e(letters: &mut Vec<u8>) {
    if letters.last() != Some(&b'e') {
        return;
    }
    let stem = &letters[..letters.len() - 1];
    let measure = measure(stem);
    if measure > 1 || (measure == 1 && !ends_short(stem)) {
        letters.pop();
    }
}

/// Replaces the longest ending that fits, if the stem before it meets the condition.
fn replace(letters: &mut Vec<u8>, endings: Endings, wanted: impl Fn(&[u8]) -> bool) {
    // Few endings have the last letter of the word: the others need no comparison.
    let last = letters.last().copied();
    let fits = |ending: &str| {
        ending.bytes().last() == last && letters.len() > ending.len() && letters.ends_with(ending.as_bytes())
    };
    let longest = endings.iter().filter(|(ending, _)| fits(ending)).max_by_key(|(ending, _)| ending.len());
    let Some((ending, instead)) = longest else { return };
    let kept = letters.len() - ending.len() + common(ending, instead);
    if wanted(&letters[..kept.max(letters.len() - ending.len())]) {
        letters.truncate(letters.len() - ending.len());
        letters.extend_from_slice(instead.as_bytes());
    }
}

/// `sion` and `tion` keep their first letter, which counts as part of the stem.
fn common(ending: &str, instead: &str) -> usize {
    usize::from(instead.len() == 1 && matches!(ending, "sion" | "tion"))
}

fn is_vowel(letter: u8, is_after_consonant: bool) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u') || (is_after_consonant && letter == b'y')
}

fn has_vowel(letters: &[u8]) -> bool {
    letters.iter().enumerate().any(|(index, letter)| is_vowel(*letter, index > 0))
}

/// Returns true for the consonants of a word.
fn consonants(letters: &[u8]) -> impl Iterator<Item = bool> {
    letters.iter().scan(false, |is_consonant, letter| {
        *is_consonant = !is_vowel(*letter, *is_consonant);
        Some(*is_consonant)
    })
}

/// The measure of a stem: how often consonants follow vowels.
fn measure(letters: &[u8]) -> usize {
    let mut after_vowel = false;
    let mut count = 0;
    for is_consonant in consonants(letters) {
        count += usize::from(is_consonant && after_vowel);
        after_vowel = !is_consonant;
    }
    count
}

/// True if a word ends in consonant, vowel, consonant, the last not being w, x or y.
fn ends_short(letters: &[u8]) -> bool {
    if matches!(letters.last(), Some(b'w' | b'x' | b'y')) {
        return false;
    }
    let kinds: Vec<bool> = consonants(letters).collect();
    kinds.ends_with(&[true, false, true])
}

#[cfg(test)]
mod tests {
    use crate::domain::search::stem::*;
    use crate::store::Database;
    use std::collections::HashMap;

    /// Words with every ending the steps know, on stems of different lengths.
    fn words() -> Vec<String> {
        let stems = [
            "a", "b", "tr", "by", "sky", "hop", "hopp", "fail", "fall", "fizz", "hiss", "siz", "conflat",
            "agre", "rel", "relat", "electr", "form", "gener", "oscill", "adopt", "probat", "rat", "ceas",
            "controll", "sens", "syst", "yell", "happ", "cann", "vietnam", "radic", "differ", "anal",
            "hesit", "decis", "call", "triplic", "good", "motor", "plaster", "mat", "fil", "tann", "roll",
            "éclat", "über",
        ];
        let own = [
            "s", "es", "ies", "sses", "ss", "eed", "ed", "ing", "ated", "bled", "ized", "y", "e", "ll",
            "sion", "tion", "ion", "", "ly", "ings", "eds",
        ];
        let endings = [STEP_2, STEP_3, STEP_4].concat();
        let endings = own.into_iter().chain(endings.into_iter().map(|(ending, _)| ending));
        let endings: Vec<&str> = endings.collect();
        let mut words = Vec::new();
        for stem in stems {
            words.extend(endings.iter().map(|ending| format!("{stem}{ending}")));
        }
        words
    }

    #[test]
    fn stems_are_those_of_the_index() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&folder.path().join("words.sqlite")).unwrap();
        let connection = database.connect_writer().unwrap();
        let words = words();
        for (id, word) in (1..).zip(&words) {
            connection
                .execute(
                    "INSERT INTO message_search (rowid, content, subject) VALUES (?1, ?2, '')",
                    (id, word),
                )
                .unwrap();
        }
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE temp.indexed USING fts5vocab (main, message_search, instance)",
            )
            .unwrap();
        let mut statement = connection.prepare("SELECT doc, term FROM indexed").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let indexed: HashMap<i64, String> = rows.map(Result::unwrap).collect();
        assert!(indexed.len() > 2000);
        for (id, word) in (1..).zip(&words) {
            let lower = crate::domain::search::text::fold(word);
            assert_eq!(indexed.get(&id), Some(&stem(&lower)), "{word}");
        }
    }

    #[test]
    fn short_and_long_words_stay() {
        let long = "s".repeat(65);
        for word in ["", "a", "is", &long] {
            assert_eq!(stem(word), word);
        }
    }
}
