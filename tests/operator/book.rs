//! The commands of the book, run as written.

use crate::program::Serving;
use crate::requirements::program_or_skip;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The address in the book. Tests that run at the same time need others.
const ADDRESS: &str = "127.0.0.1:9991";

/// Folders of the packages and of backups in the book. A test has the files of all of them in one folder.
const FOLDERS: &[&str] = &["/var/lib/teamchat", "/etc/teamchat", "/mnt/backups"];

/// Pages with blocks that `tests/packages/run` and `tests/packages/systemd` run in a Debian with the packages.
const RUN_BY_PACKAGES: &[(&str, &str)] = &[
    (",debian", "install.md"),
    (",systemd", "backup.md"),
    (",systemd", "install.md"),
    (",systemd", "troubleshooting.md"),
    (",systemd", "upgrades.md"),
];

/// Blocks that no test runs as they are: the page, the beginning of the first command, and the reason.
const NOT_RUN: &[(&str, &str, &str)] = &[
    ("backup.md", "install -d -o teamchat", "it needs another disk"),
    ("backup.md", "litestream restore", "tests/durability/replication.py restores a replica"),
    ("clients.md", "pip install zulip-term", "it is a program for a terminal"),
    ("configuration.md", "chown teamchat /etc/teamchat/smtp", "it needs a secret"),
    ("install.md", "dnf install", "Debian has no dnf; tests/packages/run installs the RPM"),
    ("install.md", "dnf remove", "Debian has no dnf; tests/packages/run removes the RPM"),
    (
        "install.md",
        "podman load",
        "containers need a kernel with privileges; tests/packages/run runs the program of the image",
    ),
    ("install.md", "podman stop -t 30 teamchat && podman rm teamchat", "the same"),
    ("install.md", "podman stop -t 30 teamchat", "the same"),
    ("install.md", "docker load", "the same; tests/packages/run runs the command of Caddy"),
    ("install.md", "sh install.sh --key", "it needs a signed release; tests/packages/run signs one"),
    ("mail-in.md", "teamchat serve --public-url", "it needs a domain; tests/api/mail_in receives mail"),
    ("mail.md", "teamchat mail test", "it needs a mail server; tests/operator/mail.rs has one"),
    ("moving.md", "teamchat import zulip", "it needs an archive; tests/api/moving imports some"),
    ("moving.md", "./zulip-server", "it is a command of another server"),
    ("moving.md", "tar -xzf boats.tar.gz", "it is a command of another server"),
    ("phones.md", "teamchat doctor", "it shows a server that has sent notifications"),
    ("reverse-proxies.md", "tailscale serve", "it needs an account at Tailscale"),
    (
        "tls.md",
        "teamchat serve --listen 0.0.0.0:443",
        "it needs ports and a domain; tests/operator/acme.rs and tls.rs have them",
    ),
    ("tls.md", "systemctl stop teamchat", "it opens an editor; tests/packages/systemd writes the files"),
    (
        "troubleshooting.md",
        "teamchat doctor",
        "it shows a problem; tests/operator/doctor has one of each kind",
    ),
    (
        "upgrades.md",
        "teamchat backup --db chat.sqlite trial.zst",
        "it needs a program of a later version; tests/api/upgrades restores files of earlier ones",
    ),
    (
        "upgrades.md",
        "systemctl stop teamchat",
        "it needs a program of an earlier version; tests/operator/files.rs restores the copy",
    ),
];

/// The commands in blocks that are to be run, with a line for each.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for block in page.split("```console,run\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        // What is not a command is output.
        commands
            .extend(block.lines().filter_map(|line| line.trim_start().strip_prefix("$ ")).map(str::to_owned));
    }
    commands
}

/// The command of pages that begin with a database.
const OWNER: &str = "teamchat user create --email you@example.com --full-name 'Your Name' --role owner";

/// The commands of pages that begin with a running server and the channel `alerts`.
const CHANNEL: &str = r#"teamchat serve
teamchat user create --email you@example.com --full-name 'Your Name' --role owner
key=$(teamchat user key mint --email you@example.com --json | sed 's/.*"api_key":"\([^"]*\)".*/\1/')
curl -fsS -u you@example.com:$key http://127.0.0.1:9991/api/v1/users/me/subscriptions -d 'subscriptions=[{"name": "alerts"}]'"#;

/// Runs commands, and then all of a page, in one shell, in a new folder. The servers that they start listen at a free port.
fn run_after(first: &str, name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let of_page = commands(&std::fs::read_to_string(root.join("docs").join(name)).unwrap());
    assert!(!of_page.is_empty(), "{name} has no commands to run");
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let in_folder =
        |text: &str| FOLDERS.iter().fold(text.to_owned(), |text, path| text.replace(*path, place));
    let commands: Vec<String> =
        first.lines().chain(of_page.iter().map(String::as_str)).map(in_folder).collect();
    for program in ["curl", "age-keygen"] {
        let is_used = commands.iter().any(|command| command.contains(&format!("{program} ")));
        if is_used && program_or_skip(program).is_none() {
            return;
        }
    }
    let settings = std::fs::read_to_string(root.join("packaging/teamchat.toml")).unwrap();
    std::fs::write(folder.path().join("teamchat.toml"), in_folder(&settings)).unwrap();
    let mut server = None;
    // A shell keeps its variables, so all commands up to now run in the one of the last.
    let mut script = "set -eu\n".to_owned();
    for command in commands {
        if let Some(arguments) = command.strip_prefix("teamchat serve") {
            // The test names the database.
            let arguments = arguments.replace(&format!("--db {place}/chat.sqlite"), "");
            let arguments: Vec<&str> =
                arguments.split_whitespace().chain(["--listen", "127.0.0.1:0"]).collect();
            server = Some(Serving::start(folder.path(), &arguments));
            continue;
        }
        let address = server
            .as_ref()
            .map_or_else(|| ADDRESS.to_owned(), |server: &Serving| server.origin().replace("http://", ""));
        script.push_str(&command.replace(ADDRESS, &address));
        script.push('\n');
    }
    let program = Path::new(env!("CARGO_BIN_EXE_teamchat")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TEAMCHAT_")) {
        shell.env_remove(name);
    }
    shell.args(["-c", &script]).current_dir(folder.path()).env("PATH", path);
    shell.env("TEAMCHAT_DB", folder.path().join("chat.sqlite"));
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{name}:\n{script}\n{}", String::from_utf8_lossy(&output.stderr));
    if let Some(server) = server {
        server.stop();
    }
}

/// A new block is run by a test, or has a reason why not.
#[test]
fn all_commands_are_run_or_have_a_reason() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut run = BTreeSet::new();
    let mut run_by_packages = BTreeSet::new();
    let mut excused = BTreeSet::new();
    let mut missing = Vec::new();
    for entry in std::fs::read_dir(docs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let page = std::fs::read_to_string(&path).unwrap();
        for block in page.split("```console").skip(1) {
            let (kind, block) = block.split_once('\n').unwrap();
            let command = block.trim_start().trim_start_matches(['$', '#', ' ']);
            let reason = NOT_RUN.iter().find(|(page, begin, _)| *page == name && command.starts_with(begin));
            match (kind, reason) {
                (",run", _) => {
                    run.insert(name.clone());
                }
                ("", Some(reason)) => {
                    excused.insert(reason);
                }
                ("", None) => missing.push(format!("{name}: {}", command.lines().next().unwrap())),
                _ => {
                    run_by_packages.insert((kind.to_owned(), name.clone()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "mark as console,run, or give a reason: {missing:#?}");
    assert_eq!(excused.len(), NOT_RUN.len(), "reasons without a block: {excused:#?}");
    assert!(run.iter().eq(RUN), "{run:?}");
    let by_packages = run_by_packages.iter().map(|(kind, name)| (kind.as_str(), name.as_str()));
    assert!(by_packages.eq(RUN_BY_PACKAGES.iter().copied()), "{run_by_packages:?}");
}

/// Makes a test of each page: the commands before its own, and its file.
macro_rules! pages {
    ($($test:ident: $first:expr, $name:literal;)*) => {
        /// Pages with blocks `console,run`.
        const RUN: &[&str] = &[$($name),*];

        $(
            #[test]
            fn $test() {
                run_after($first, $name);
            }
        )*
    };
}

pages! {
    administration: "", "administration.md";
    backup: OWNER, "backup.md";
    bots: "", "bots.md";
    configuration: "", "configuration.md";
    integrations: CHANNEL, "integrations.md";
    monitoring: OWNER, "monitoring.md";
    moving: OWNER, "moving.md";
    reverse_proxies: "", "reverse-proxies.md";
    sign_on: OWNER, "sign-on.md";
    start_in_five_minutes: "", "start.md";
}
