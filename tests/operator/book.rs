//! The commands of the book, run as written.

use crate::program::Serving;
use crate::requirements::program_or_skip;
use std::path::Path;
use std::process::Command;

/// The address in the book. Tests that run at the same time need others.
const ADDRESS: &str = "127.0.0.1:9991";

/// The commands in blocks that are to be run, with a line for each.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for block in page.split("```console,run\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        // What is not a command is output.
        commands.extend(block.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned));
    }
    commands
}

/// The command of pages that begin with a database.
const OWNER: &str = "teamchat user create --email you@example.com --full-name 'Your Name' --role owner\n";

/// Runs all commands of a page in one shell, in a new folder. The servers that they start listen at a free port.
fn run(name: &str) {
    run_after("", name);
}

/// Runs a command, and then those of a page.
fn run_after(first: &str, name: &str) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    let commands = commands(&std::fs::read_to_string(page).unwrap());
    assert!(!commands.is_empty(), "{name} has no commands to run");
    if commands.iter().any(|command| command.starts_with("curl ")) && program_or_skip("curl").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut server = None;
    // A shell keeps its variables, so all commands up to now run in the one of the last.
    let mut script = format!("set -eu\n{first}");
    for command in commands {
        if let Some(arguments) = command.strip_prefix("teamchat serve") {
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

#[test]
fn start_in_five_minutes() {
    run("start.md");
}

#[test]
fn administration() {
    run("administration.md");
}

#[test]
fn bots() {
    run("bots.md");
}

#[test]
fn backup() {
    run_after(OWNER, "backup.md");
}

#[test]
fn monitoring() {
    run_after(OWNER, "monitoring.md");
}

#[test]
fn moving() {
    run_after(OWNER, "moving.md");
}
