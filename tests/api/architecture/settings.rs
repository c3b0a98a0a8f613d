//! The page of settings without an effect: what the source does not read is listed, and nothing else.

use super::source::files;
use regex::Regex;
use std::collections::BTreeSet;
use std::path::Path;
use teamchat::domain::realm::settings::PROPERTIES;

/// Files that name settings without doing anything by them: their table, and the checks of their values.
const TABLES: &[&str] = &["domain/realm/settings.rs", "api/realm/rules.rs", "api/realm/params.rs"];

#[test]
fn the_page_lists_the_settings_that_nothing_reads() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/settings.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("## Of the organization").unwrap();
    let (of_realm, _) = rest.split_once("## Of users").unwrap();
    let row = Regex::new(r"(?m)^\| `([a-z0-9_]+)` \|").unwrap();
    let listed: BTreeSet<&str> =
        row.captures_iter(of_realm).map(|found| found.get(1).unwrap().as_str()).collect();
    let sources: Vec<_> = files().into_iter().filter(|file| !TABLES.contains(&file.path.as_str())).collect();
    let is_read = |name: &str| {
        let (literal, constant) = (format!("\"{name}\""), name.to_uppercase());
        sources.iter().any(|file| file.text.contains(&literal) || file.text.contains(&constant))
    };
    let unread: BTreeSet<&str> = PROPERTIES
        .iter()
        .map(|property| property.name)
        // These follow from uploads.
        .filter(|name| !name.ends_with("_source"))
        .filter(|name| !is_read(name))
        .collect();
    assert_eq!(listed, unread);
    // Whoever reads the description of the interface learns it too. What clients show has its effect there.
    let silent: Vec<&str> = PROPERTIES
        .iter()
        .filter(|property| unread.contains(property.name))
        .filter(|property| !of_realm.contains(&format!("| `{}` | for clients:", property.name)))
        .filter(|property| !property.about.contains("No effect on this server"))
        .map(|property| property.name)
        .collect();
    assert_eq!(silent, [""; 0]);
}
