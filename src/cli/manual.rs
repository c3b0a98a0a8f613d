//! Manual pages and completions of shells. They are not in the program: `packaging/dist` lets this test write them.

use super::Arguments;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use std::path::{Path, PathBuf};

/// The folder that `packaging/dist` names.
const FOLDER: &str = "TEAMCHAT_MANUAL";

#[test]
fn manual_pages_and_completions_have_all_commands() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = std::env::var_os(FOLDER).map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    let mut command = Arguments::command().term_width(100);
    clap_mangen::generate_to(command.clone(), &folder).unwrap();
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        clap_complete::generate_to(shell, &mut command, "teamchat", &folder).unwrap();
    }
    command.build();
    check_pages(&folder, &command, "teamchat");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    for name in ["teamchat.bash", "teamchat.fish", "_teamchat"] {
        let script = read(name);
        assert!(script.contains("deactivate") && script.contains("public-url"), "{name}");
    }
}

/// Each command has a page, which names its flags.
fn check_pages(folder: &Path, command: &Command, name: &str) {
    let page = std::fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
    for flag in command.get_arguments().filter(|flag| !flag.is_hide_set()).filter_map(|flag| flag.get_long())
    {
        assert!(page.contains(&format!("\\-\\-{}", flag.replace('-', "\\-"))), "{name}: {flag}");
    }
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help" && !inner.is_hide_set())
    {
        check_pages(folder, inner, &format!("{name}-{}", inner.get_name()));
    }
}

/// Each flag of each command is a variable with its name.
#[test]
fn every_flag_has_a_variable() {
    fn check(command: &Command) {
        for flag in
            command.get_arguments().filter(|flag| flag.get_long().is_some_and(|name| !is_built_in(name)))
        {
            let name = flag.get_long().unwrap().replace('-', "_").to_uppercase();
            let variable = flag.get_env().map(|variable| variable.to_string_lossy().into_owned());
            assert_eq!(variable, Some(format!("TEAMCHAT_{name}")), "{} --{name}", command.get_name());
        }
        command.get_subcommands().for_each(check);
    }
    fn is_built_in(name: &str) -> bool {
        matches!(name, "help" | "version")
    }
    let mut command = Arguments::command();
    command.build();
    check(&command);
}
