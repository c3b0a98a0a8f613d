//! The page about commands in scripts, compared with what they print.

use crate::program::{command, words};
use crate::tables;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Commands that other tests run, since they need a server, a browser or a mail server.
const ELSEWHERE: [&str; 4] = ["mail test", "serve", "user session end", "user session list"];

/// The members on the page, by the command.
fn documented() -> BTreeMap<String, Vec<String>> {
    let page = include_str!("../../docs/scripts.md");
    let rows = tables::rows(page, "| Command | Members | Notes |");
    rows.map(|cells| {
        let members = tables::names(cells[1]).filter(|name| !name.is_empty());
        (cells[0].trim_matches('`').to_owned(), members.map(str::to_owned).collect())
    })
    .collect()
}

/// The commands with `--json`, found by their help.
fn commands(path: &[&str], found: &mut BTreeSet<String>) {
    let (_, help, _) = words(&command(path).arg("--help").output().unwrap());
    let Some(list) = help.split("Commands:\n").nth(1) else {
        if help.contains("--json") {
            found.insert(path.join(" "));
        }
        return;
    };
    for line in list.lines().take_while(|line| !line.is_empty()) {
        // Further lines of a description are indented more.
        let name = line.strip_prefix("  ").filter(|line| !line.starts_with(' '));
        let name = name.and_then(|line| line.split_whitespace().next());
        if let Some(name) = name.filter(|name| *name != "help") {
            commands(&[path, &[name]].concat(), found);
        }
    }
}

/// The members of the last line that a command prints, or of the first item of a list.
fn members(folder: &Path, arguments: &str) -> Vec<String> {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let output =
        command(&arguments).args(["--json"]).current_dir(folder).env("TEAMCHAT_DB", "chat.sqlite").output();
    let (code, printed, said) = words(&output.unwrap());
    assert_eq!(code, 0, "{arguments:?}: {said}");
    let value: Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    let object =
        value.get(0).unwrap_or(&value).as_object().unwrap_or_else(|| panic!("{arguments:?}: {printed}"));
    object.keys().cloned().collect()
}

#[test]
fn commands_print_the_members_that_the_page_lists() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("teamchat.toml"), "log = \"info\"\n").unwrap();
    let bob = "--email bob@example.com";
    let runs = [
        ("user create", "--db chat.sqlite --email ada@example.com --full-name Ada --role owner"),
        ("user create", "--email bob@example.com --full-name Bob"),
        ("user list", ""),
        ("user unlock", bob),
        ("user password", bob),
        ("user password-links", "--all"),
        ("user role", "--email bob@example.com --role moderator"),
        ("user rename", "--email bob@example.com --full-name Robert"),
        ("user email", "--email bob@example.com --new-email eve@example.com"),
        ("user email", "--email eve@example.com --new-email bob@example.com"),
        ("user key mint", bob),
        ("user key list", bob),
        ("user key revoke", "--email bob@example.com 3"),
        ("export person", "bob@example.com bob.tar.gz"),
        ("user deactivate", bob),
        ("user purge", "--email bob@example.com --all --yes"),
        ("user reactivate", bob),
        ("user delete", "--email bob@example.com --yes"),
        ("bot create", "--integration github --channel general --owner ada@example.com"),
        ("organization get", ""),
        ("organization set", "name Crew"),
        ("organization deactivate", "--yes"),
        ("organization reactivate", ""),
        ("backup", "backup.zst"),
        ("restore", "backup.zst"),
        ("check", ""),
        ("compact", ""),
        ("audit", ""),
        ("status", ""),
        ("doctor", ""),
        ("export html", "pages"),
        ("export zulip", "all.tar.gz"),
        ("import", "zulip all.tar.gz --db other.sqlite"),
        ("config check", "--config teamchat.toml"),
        ("config show", ""),
    ];
    let documented = documented();
    for (name, flags) in runs {
        let printed = members(folder.path(), &format!("{name} {flags}"));
        if name == "organization get" {
            assert!(
                printed.contains(&"name".to_owned()) && printed.last().unwrap() == "deactivated",
                "{printed:?}"
            );
        } else {
            assert_eq!(documented.get(name), Some(&printed), "{name}");
        }
    }
    let mut all = BTreeSet::new();
    commands(&[], &mut all);
    let listed: BTreeSet<String> = documented.keys().cloned().collect();
    assert_eq!(listed, all, "the page has a row for each command");
    let run: BTreeSet<String> =
        runs.iter().map(|(name, _)| *name).chain(ELSEWHERE).map(str::to_owned).collect();
    assert_eq!(run, all, "each command is run, here or elsewhere");
}
