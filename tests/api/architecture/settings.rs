//! `docs/settings.md`: the settings and permissions that the server does not act on, written from their tables.
//!
//! `.ci/bless` updates it.

use super::source::files;
use crate::harness::generated::assert_generated;
use std::fmt::Write;
use teamchat::domain::groups::permission::RealmGroup;
use teamchat::domain::{realm, user_settings};
use teamchat::types::{Effect, Property};

const HEAD: &str = "\
# Settings that have no effect

The server stores these settings and sends them to clients, but does not act on them. *In clients* means that clients act on
them. *None* means that nothing does, for the given reason. All other settings and permissions have an effect on the server.
A test generates this page from the source.

## Settings of the organization

These are the names in `PATCH /realm`. `POST /register` adds the prefix `realm_`.
";

const OF_USERS: &str = "
## Settings of users

These are the names in `PATCH /settings`.
";

/// Files that name settings without acting on them.
const TABLES: &[&str] = &[
    "api/setting_params.rs",
    "api/user_settings/state.rs",
    "domain/realm/settings.rs",
    "domain/user_settings/table.rs",
    "types/property.rs",
];

/// Name, text and effect.
type Row = (&'static str, &'static str, Effect);

fn rows(table: &[Property]) -> Vec<Row> {
    table.iter().map(|row| (row.name, row.about, row.effect)).collect()
}

fn table(rows: Vec<Row>) -> String {
    let mut table = "\n| Setting | Meaning | Effect |\n|---|---|---|\n".to_owned();
    for (name, about, effect) in rows {
        let effect = match effect {
            Effect::Server => continue,
            Effect::Clients => "in clients".to_owned(),
            Effect::Nowhere(why) => format!("none: {why}"),
        };
        writeln!(table, "| `{name}` | {about} | {effect} |").unwrap();
    }
    table
}

#[test]
fn the_page_is_that_of_the_tables() {
    let mut of_realm = rows(realm::settings::PROPERTIES);
    of_realm.extend(RealmGroup::ALL.map(RealmGroup::permission).map(|row| (row.name, row.about, row.effect)));
    let (of_realm, of_users) = (table(of_realm), table(rows(user_settings::table::PROPERTIES)));
    let page = format!("{HEAD}{of_realm}{OF_USERS}{of_users}");
    assert_generated("docs/settings.md", &page);
}

#[test]
fn settings_with_an_effect_are_those_that_the_server_reads() {
    // Archives and the members of older levels have the settings, whatever their effect.
    let without_effect = ["domain/export/", "moving/import/", "testing/level.rs"];
    let is_source =
        |path: &str| !TABLES.contains(&path) && !without_effect.iter().any(|start| path.starts_with(start));
    let sources: Vec<_> = files().into_iter().filter(|file| is_source(&file.path)).collect();
    let is_read = |name: &str| {
        let (literal, constant) = (format!("\"{name}\""), name.to_uppercase());
        sources.iter().any(|file| file.text.contains(&literal) || file.text.contains(&constant))
    };
    let mut wrong = Vec::new();
    for row in [realm::settings::PROPERTIES, user_settings::table::PROPERTIES].concat() {
        // Those of images follow from uploads.
        if !row.name.ends_with("_source") && is_read(row.name) != (row.effect == Effect::Server) {
            wrong.push(row.name);
        }
    }
    for permission in RealmGroup::ALL {
        let name = format!("::{permission:?}");
        let is_checked = sources.iter().any(|file| file.text.contains(&name));
        if is_checked != (permission.permission().effect == Effect::Server) {
            wrong.push(permission.name());
        }
    }
    assert_eq!(wrong, [""; 0]);
}
