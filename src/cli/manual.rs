//! Manual pages and completions of shells. They are not in the program: `packaging/dist` lets this test write them. And the
//! examples of the book, which have to be correct.

use super::{Arguments, config};
use clap::error::ErrorKind;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use regex::Regex;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The folder that `packaging/dist` names.
const FOLDER: &str = "TEAMCHAT_MANUAL";

/// Variables of packages and builds that the program does not read.
const OTHER_VARIABLES: [&str; 3] = ["TEAMCHAT_BINARY", "TEAMCHAT_VERSION", FOLDER];

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

/// The pages for operators, with their names.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let docs = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let pages = docs.chain(["README.md", "SECURITY.md"].map(|name| root.join(name)));
    pages
        .map(|path| {
            // A long command continues on the next line.
            let text = std::fs::read_to_string(&path).unwrap().replace("\\\n", " ");
            (path.strip_prefix(root).unwrap().display().to_string(), text)
        })
        .collect()
}

/// The blocks of code of a page with their languages, and the text between them.
fn parts(page: &str) -> (Vec<(&str, &str)>, Vec<&str>) {
    let (mut blocks, mut texts) = (Vec::new(), Vec::new());
    for (index, part) in page.split("```").enumerate() {
        if index % 2 == 0 {
            texts.push(part);
        } else {
            blocks.push(part.split_once('\n').unwrap_or((part, "")));
        }
    }
    (blocks, texts)
}

/// The words of a command as a shell has them, up to a pipe, a redirection or a comment.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![None::<String>];
    let mut quote = None;
    for char in line.chars() {
        match (quote, char) {
            (Some(end), _) if char == end => quote = None,
            (None, '"' | '\'') => {
                quote = Some(char);
                words.last_mut().unwrap().get_or_insert_default();
            }
            (None, '|' | '>' | '<' | ';' | '#' | '&' | ')') => break,
            (None, ' ' | '\n') => words.push(None),
            _ => words.last_mut().unwrap().get_or_insert_default().push(char),
        }
    }
    words.into_iter().flatten().filter(|word| word != "...").collect()
}

/// The commands of a page, in blocks and in the text.
fn commands(page: &str) -> Vec<Vec<String>> {
    let (blocks, texts) = parts(page);
    let lines = blocks.iter().flat_map(|(_, block)| block.lines());
    let typed = lines.filter_map(|line| line.strip_prefix("$ ").or_else(|| line.strip_prefix("# ")));
    let typed = typed.map(|line| {
        let prefixes = ["runuser -u teamchat -- ", "podman exec teamchat "];
        prefixes.iter().find_map(|prefix| line.strip_prefix(prefix)).unwrap_or(line)
    });
    let paragraphs = texts.iter().flat_map(|text| text.split("\n\n"));
    let named = paragraphs.flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    typed.chain(named).filter(|text| text.starts_with("teamchat ")).map(words).collect()
}

/// The mistake of a command, if it has words that do not exist.
fn mistake(command: Vec<String>) -> Option<String> {
    let refusal = Arguments::command().try_get_matches_from(&command).err()?;
    // Examples may leave out flags, and name values that are not there.
    let is_wrong = matches!(
        refusal.kind(),
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand | ErrorKind::ArgumentConflict
    );
    is_wrong.then(|| format!("{}: {refusal}", command.join(" ")))
}

#[test]
fn commands_of_the_book_and_their_flags_exist() {
    let (mut count, mut wrong) = (0, Vec::new());
    for (name, page) in pages() {
        for command in commands(&page) {
            count += 1;
            wrong.extend(mistake(command).map(|mistake| format!("{name}: {mistake}")));
        }
    }
    assert!(count > 100, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn settings_of_the_book_and_of_packages_are_correct() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("teamchat.toml");
    let packaged = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/teamchat.toml");
    let packaged = std::fs::read_to_string(packaged).unwrap();
    // Settings that are off are comments.
    let packaged = packaged.lines().map(|line| match line.strip_prefix("# ") {
        Some(setting)
            if setting.starts_with("[[")
                || setting.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ')) =>
        {
            setting
        }
        _ => line,
    });
    let mut examples = vec![("packaging/teamchat.toml".to_owned(), packaged.collect::<Vec<_>>().join("\n"))];
    for (name, page) in pages() {
        let (blocks, _) = parts(&page);
        let settings = blocks.into_iter().filter(|(language, _)| *language == "toml");
        examples.extend(settings.map(|(_, block)| {
            // In a list they are indented.
            let lines: Vec<&str> = block.lines().map(str::trim_start).collect();
            (name.clone(), lines.join("\n"))
        }));
    }
    assert!(examples.len() > 3, "{examples:?}");
    // Files with secrets are there on the machines that the examples are for.
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "smtps://mail.example.com").unwrap();
    for (name, settings) in examples {
        let named = settings.lines().map(|line| match line.split_once("-file = ") {
            Some((key, _)) => format!("{key}-file = {secret:?}"),
            None => line.to_owned(),
        });
        let settings = named.collect::<Vec<_>>().join("\n");
        std::fs::write(&path, &settings).unwrap();
        let arguments = ["teamchat", "config", "check", "--config", path.to_str().unwrap()];
        let parsed = config::parse(&Arguments::command(), arguments.map(OsString::from).to_vec(), |_| None);
        assert!(parsed.is_ok(), "{name}: {settings}\n{}", parsed.err().unwrap());
    }
}

/// The files of packages with their paths: units, images and scripts, which no compiler reads.
fn files_of_packages(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_of_packages(&path));
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            found.push((path.display().to_string(), text));
        }
    }
    found
}

#[test]
fn commands_of_packages_and_their_flags_exist() {
    let (mut count, mut wrong) = (0, Vec::new());
    for (path, text) in files_of_packages(&Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging")) {
        for line in text.lines() {
            for (at, program) in line.match_indices("teamchat ") {
                let rest = line[at + program.len()..].split(['`', '|', '\\']).next().unwrap_or_default();
                let mut command = words(rest);
                let is_command =
                    command.first().is_some_and(|name| Arguments::command().find_subcommand(name).is_some());
                if is_command {
                    count += 1;
                    command.insert(0, "teamchat".to_owned());
                    wrong.extend(mistake(command).map(|mistake| format!("{path}: {mistake}")));
                }
            }
        }
    }
    assert!(count > 8, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Variables of packages are those of flags of `serve`, and their values are correct.
#[test]
fn variables_of_packages_are_flags() {
    let pattern = Regex::new(r#"\b(TEAMCHAT_[A-Z_]*[A-Z])\b(?:(?:=|: )([^\s",]+))?"#).unwrap();
    let mut command = Arguments::command();
    command.build();
    let serve = command.find_subcommand("serve").unwrap();
    let (mut count, mut wrong) = (0, Vec::new());
    for (path, text) in files_of_packages(&Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging")) {
        for captures in pattern.captures_iter(&text) {
            let name = &captures[1];
            if OTHER_VARIABLES.contains(&name) {
                continue;
            }
            let flag = serve.get_arguments().find(|flag| flag.get_env() == Some(OsStr::new(name)));
            let Some(flag) = flag.and_then(|flag| flag.get_long()) else {
                wrong.push(format!("{path}: {name} is no variable"));
                continue;
            };
            // A value with `$` is that of a shell.
            let Some(value) =
                captures.get(2).map(|value| value.as_str()).filter(|value| !value.contains('$'))
            else {
                continue;
            };
            count += 1;
            let arguments = ["teamchat".to_owned(), "serve".to_owned(), format!("--{flag}={value}")];
            let refusal = Arguments::command().try_get_matches_from(arguments).err();
            let refusal = refusal.filter(|refusal| {
                matches!(refusal.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue)
            });
            wrong.extend(refusal.map(|refusal| format!("{path}: {name}: {refusal}")));
        }
    }
    assert!(count > 8, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
