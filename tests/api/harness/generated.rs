//! Files of the repository that tests generate. Tests compare them, and `.ci/bless` writes them: it sets
//! `INSTA_UPDATE=always`, which snapshots follow too.

use std::io::Write;
use std::path::Path;

/// The last line of messages about generated files.
pub const BLESS: &str =
    "to write all generated files again: .ci/bless (or: just bless); then review the difference";

/// True if generated files are written, and not compared.
pub fn is_blessing() -> bool {
    std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always")
}

/// Compares a file with its generated text, or writes it. The path is relative to the repository.
#[track_caller]
pub fn assert_generated(path: &str, expected: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    if found == expected {
        return;
    }
    if is_blessing() {
        std::fs::write(&file, expected).unwrap();
        // Past the output that a passing test does not show.
        let mut output = std::io::stderr();
        writeln!(output, "updated {path}").unwrap();
        return;
    }
    panic!("{}", difference(path, &found, expected));
}

/// The first line that differs, in both texts.
fn difference(path: &str, found: &str, expected: &str) -> String {
    let same = found.lines().zip(expected.lines()).take_while(|(one, other)| one == other).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(the end)").to_owned();
    format!(
        "{path} differs from line {}\n  is:        {}\n  should be: {}\n{BLESS}",
        same + 1,
        line(found),
        line(expected)
    )
}

#[test]
fn the_first_line_that_differs_is_shown() {
    let expected = format!("a.md differs from line 2\n  is:        b\n  should be: c\n{BLESS}");
    assert_eq!(difference("a.md", "a\nb\nd\n", "a\nc\nd\n"), expected);
    let longer = format!("a.md differs from line 2\n  is:        (the end)\n  should be: b\n{BLESS}");
    assert_eq!(difference("a.md", "a\n", "a\nb\n"), longer);
}
