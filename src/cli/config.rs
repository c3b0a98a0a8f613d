//! The configuration file of `serve`, and `teamchat config`.
//!
//! A key of the file is the name of a flag. Values become arguments behind those of the command line, unless the flag is
//! given there or in the environment, so that clap checks and reads all three sources in the same way.
//!
//! A flag with `hide_env_values` is a secret: it can also be read from a file, named by `TEAMCHAT_..._FILE` or by the key
//! `...-file`, and it is never shown.

use super::common::{Failure, Style, print};
use super::oidc;
use super::serve::Serve;
use super::serve_options::read_secret;
use super::test_flags::UsageError;
use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, Id, Subcommand};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use teamchat::oidc::Provider;
use teamchat::types::{charset, nearest_name};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The flag that names the file.
const CONFIG: &str = "config";

#[derive(Subcommand)]
pub enum ConfigCommand {
    /// Check a configuration file, and list all mistakes.
    ///
    /// Prints a line for each mistake, with the nearest name for an unknown key. The files that settings name are checked too.
    /// Exit code: 0 if the file is correct, 2 if it has mistakes. Flags and variables that you pass are checked too.
    #[command(override_usage = "teamchat config check --config FILE")]
    Check(Box<Serve>),
    /// Show the value of each flag of serve, and where it comes from.
    ///
    /// Pass the flags of serve. The command line takes precedence over the environment, and the environment over the file.
    /// Secrets are hidden.
    #[command(override_usage = "teamchat config show [OPTIONS]")]
    Show(Box<Serve>),
}

/// The value of a flag of `serve`.
pub struct Setting {
    name: String,
    value: Value,
    source: Source,
    is_secret: bool,
}

/// Source of a value.
#[derive(Clone)]
enum Source {
    Flag,
    /// The name of a variable.
    Environment(String),
    /// A file and a line of it.
    File(PathBuf, usize),
    Default,
}

/// The name of the tables with providers of OpenID Connect.
const OIDC: &str = "oidc";

/// A command line, completed from the file that it names.
pub struct Parsed {
    /// The values of flags.
    pub matches: ArgMatches,
    /// The flags with their sources.
    pub settings: Vec<Setting>,
    /// Providers of OpenID Connect, which have no flags.
    pub oidc: Vec<Provider>,
}

/// A key of the file, as arguments.
struct Entry {
    name: String,
    line: usize,
    arguments: Vec<OsString>,
}

/// Parses the command line, and completes the flags of a command with `--config` from the file that it names. Returns the
/// flags with their sources, too.
///
/// `variable` reads the environment.
pub fn parse(
    command: &Command,
    mut arguments: Vec<OsString>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Parsed, Error> {
    let (command, matches) = get_matches(command, &arguments)?;
    let (leaf_command, leaf) = leaf(&command, &matches);
    if leaf.try_contains_id(CONFIG).is_err() {
        return Ok(Parsed { matches, settings: Vec::new(), oidc: Vec::new() });
    }
    let mut sources = BTreeMap::new();
    let mut providers = Vec::new();
    for (name, variable, argument) in secrets_of_environment(leaf_command, leaf, variable)? {
        arguments.push(argument);
        sources.insert(name, Source::Environment(variable));
    }
    if let Some(path) = leaf.get_one::<PathBuf>(CONFIG) {
        let (entries, tables) = read(path, leaf_command)?;
        providers = tables;
        for entry in entries {
            let is_given = is_overridden(leaf_command, leaf, &entry.name);
            if !is_given && !sources.contains_key(&entry.name) {
                arguments.extend(entry.arguments);
                sources.insert(entry.name, Source::File(path.clone(), entry.line));
            }
        }
    }
    let (command, matches) =
        if sources.is_empty() { (command, matches) } else { get_matches(&command, &arguments)? };
    let (leaf_command, leaf) = self::leaf(&command, &matches);
    let mut settings = settings(leaf_command, leaf, &sources);
    if let Some(path) = leaf.get_one::<PathBuf>(CONFIG) {
        settings.extend(providers.iter().map(|table| Setting {
            name: OIDC.to_owned(),
            value: table.shown(),
            source: Source::File(path.clone(), table.line),
            is_secret: false,
        }));
    }
    let oidc = providers.into_iter().map(|table| table.provider).collect();
    Ok(Parsed { matches, settings, oidc })
}

/// Parses a command line. Returns the command without the variables that do not count, too.
fn get_matches(command: &Command, arguments: &[OsString]) -> Result<(Command, ArgMatches), Error> {
    let mut command = command.clone();
    let mut matches = command.clone().try_get_matches_from(arguments);
    if matches.as_ref().is_err_and(|error| error.kind() == ErrorKind::ArgumentConflict) {
        command = without_excluded(&command, arguments);
        matches = command.clone().try_get_matches_from(arguments);
    }
    Ok((command, matches?))
}

/// Returns a command without the variables that flags of the command line exclude, and without those that turn a flag off.
/// Clap would let all of them exclude others.
fn without_excluded(command: &Command, arguments: &[OsString]) -> Command {
    let all = change_args(command.clone(), &|arg| arg.conflicts_with(Resettable::<Id>::Reset));
    let Ok(matches) = all.try_get_matches_from(arguments) else { return command.clone() };
    let (leaf_command, leaf) = leaf(command, &matches);
    let comes_from = |arg: &Arg, source| leaf.value_source(arg.get_id().as_str()) == Some(source);
    let is_excluded = |arg: &Arg| {
        let is_flag = |other: &Arg| comes_from(other, ValueSource::CommandLine);
        let mut others = leaf_command.get_arguments();
        is_off(arg, leaf) || others.any(|other| is_flag(other) && excludes(leaf_command, arg, other))
    };
    let variables = leaf_command.get_arguments().filter(|arg| comes_from(arg, ValueSource::EnvVariable));
    let excluded: Vec<Id> =
        variables.filter(|arg| is_excluded(arg)).map(|arg| arg.get_id().clone()).collect();
    change_args(command.clone(), &|arg| {
        if excluded.contains(arg.get_id()) { arg.env(Resettable::Reset) } else { arg }
    })
}

/// Changes the arguments of a command and of those below it.
fn change_args(command: Command, change: &dyn Fn(Arg) -> Arg) -> Command {
    command.mut_args(change).mut_subcommands(|command| change_args(command, change))
}

/// True if two flags exclude each other.
fn excludes(command: &Command, one: &Arg, other: &Arg) -> bool {
    let names = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|found| found.get_id() == other.get_id())
    };
    names(one, other) || names(other, one)
}

/// True if a flag without a value is not set, or a variable turns it off.
fn is_off(arg: &Arg, matches: &ArgMatches) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue) && !matches.get_flag(arg.get_id().as_str())
}

/// The last command of a command line.
fn leaf<'a>(command: &'a Command, matches: &'a ArgMatches) -> (&'a Command, &'a ArgMatches) {
    let mut found = (command, matches);
    while let Some((name, matches)) = found.1.subcommand()
        && let Some(command) = found.0.find_subcommand(name)
    {
        found = (command, matches);
    }
    found
}

/// True if a flag, or one that excludes it, is on the command line or in the environment.
fn is_overridden(command: &Command, matches: &ArgMatches, name: &str) -> bool {
    let Some(arg) = flag(command, name) else { return false };
    let is_given = |arg: &Arg| {
        let source = matches.value_source(arg.get_id().as_str());
        matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    };
    let is_set = |arg: &Arg| is_given(arg) && !is_off(arg, matches);
    is_given(arg) || command.get_arguments().any(|other| is_set(other) && excludes(command, arg, other))
}

fn flag<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(name))
}

/// The flags that a file may set.
fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| {
        arg.get_long().is_some_and(|name| name != CONFIG)
            && !matches!(
                arg.get_action(),
                ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
            )
    })
}

/// The secrets that variables `..._FILE` name, unless they are given as flags: name, variable, argument.
fn secrets_of_environment(
    command: &Command,
    matches: &ArgMatches,
    read_variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Vec<(String, String, OsString)>, Error> {
    let mut secrets = Vec::new();
    for arg in flags(command).filter(|arg| arg.is_hide_env_values_set()) {
        let (Some(name), Some(variable)) = (arg.get_long(), arg.get_env()) else { continue };
        let variable = variable.to_string_lossy();
        let of_file = format!("{variable}_FILE");
        let Some(path) = read_variable(&of_file) else { continue };
        match matches.value_source(arg.get_id().as_str()) {
            Some(ValueSource::CommandLine) => {}
            Some(ValueSource::EnvVariable) => {
                return Err(refusal(format!("{variable} and {of_file} are both set; keep one of them")));
            }
            _ => {
                let secret =
                    read_secret(Path::new(&path)).map_err(|error| refusal(format!("{of_file}: {error}")))?;
                secrets.push((name.to_owned(), of_file, format!("--{name}={secret}").into()));
            }
        }
    }
    Ok(secrets)
}

/// Replaces secrets in the text of an error.
fn hide(text: String, command: &Command, entry: &Entry) -> String {
    let is_secret = flag(command, &entry.name).is_some_and(Arg::is_hide_env_values_set);
    let secrets = entry.arguments.iter().filter(|_| is_secret);
    secrets.fold(text, |text, argument| {
        let argument = argument.to_string_lossy();
        let secret = argument.split_once('=').map_or("", |(_, secret)| secret);
        if secret.is_empty() { text } else { text.replace(secret, "(hidden)") }
    })
}

/// An error of the usage, after which the program exits with 2.
fn refusal(text: impl std::fmt::Display) -> Error {
    Error::raw(ErrorKind::InvalidValue, format!("{text}\n"))
}

/// Reads and checks a file. The error has all mistakes, with their lines.
fn read(path: &Path, command: &Command) -> Result<(Vec<Entry>, Vec<oidc::Table>), Error> {
    let text = charset::read_file(path)
        .map_err(|error| refusal(format!("cannot read the configuration {}: {error}", path.display())))?;
    let at = |line: usize, what: &dyn std::fmt::Display| {
        refusal(format!("{}, line {line}: {what}", path.display()))
    };
    let table = DeTable::parse(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        at(line_at(&text, start), &error.message())
    })?;
    // Without the environment: the file alone has to be correct.
    let alone = command.clone().no_binary_name(true).mut_args(|arg| arg.env(Resettable::Reset));
    let mut entries = Vec::new();
    let mut providers = Vec::new();
    let mut mistakes = Vec::new();
    for (key, value) in table.get_ref() {
        let line = line_at(&text, key.span().start);
        if key.get_ref() == OIDC {
            let line_at = |byte| line_at(&text, byte);
            match oidc::read(value, line, &line_at) {
                Ok(tables) => providers = tables,
                Err(found) => mistakes.extend(found),
            }
            continue;
        }
        match checked_entry(command, &alone, &entries, (key.get_ref(), value, line)) {
            Ok(entry) => entries.push(entry),
            Err(mistake) => mistakes.push((line, mistake)),
        }
    }
    if !mistakes.is_empty() {
        mistakes.sort();
        let lines = mistakes.iter().map(|(line, what)| format!("{}, line {line}: {what}", path.display()));
        return Err(refusal(lines.collect::<Vec<_>>().join("\nerror: ")));
    }
    entries.sort_by_key(|entry| entry.line);
    let all = entries.iter().flat_map(|entry| &entry.arguments);
    alone
        .try_get_matches_from(all)
        .map_err(|error| refusal(format!("{}: {}", path.display(), explain(&error))))?;
    Ok((entries, providers))
}

/// Reads a key, its value and its line, which are checked by `alone`, the command without the environment, and beside the
/// entries before it.
fn checked_entry(
    command: &Command,
    alone: &Command,
    entries: &[Entry],
    (key, value, line): (&str, &Spanned<DeValue<'_>>, usize),
) -> Result<Entry, String> {
    let entry = entry(command, key, value, line)?;
    // A flag that needs another one is checked with all of them.
    if let Err(error) = alone.clone().try_get_matches_from(&entry.arguments)
        && error.kind() != ErrorKind::MissingRequiredArgument
    {
        return Err(hide(explain(&error), command, &entry));
    }
    if entries.iter().any(|other| other.name == entry.name) {
        return Err(format!("'{0}' and '{0}-file' exclude each other", entry.name));
    }
    Ok(entry)
}

/// The number of the line with a byte, from 1.
fn line_at(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1
}

/// The message of an error that clap has written for a terminal.
fn explain(error: &Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines = text.lines().take_while(|line| !line.is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Turns a key and its value into arguments.
fn entry(command: &Command, key: &str, value: &Spanned<DeValue<'_>>, line: usize) -> Result<Entry, String> {
    let known = flags(command).find(|arg| arg.get_long() == Some(key));
    let of_file = key.strip_suffix("-file").and_then(|name| flag(command, name));
    let value = value.get_ref();
    let (name, values) = match (known, of_file.filter(|arg| arg.is_hide_env_values_set())) {
        (Some(arg), _) => (key, values(arg, value)?),
        (None, Some(arg)) => {
            let DeValue::String(path) = value else {
                return Err(format!("'{key}' must be the path of a file"));
            };
            (arg.get_long().unwrap_or(key), vec![read_secret(Path::new(path.as_ref()))?])
        }
        (None, None) => return Err(unknown(command, key)),
    };
    let arguments = match (known.map(Arg::get_action), values.as_slice()) {
        (Some(ArgAction::SetTrue), [value]) if value == "true" => vec![format!("--{name}").into()],
        (Some(ArgAction::SetTrue), _) => Vec::new(),
        _ => values.iter().map(|value| format!("--{name}={value}").into()).collect(),
    };
    Ok(Entry { name: name.to_owned(), line, arguments })
}

/// The values of a key as texts.
fn values(arg: &Arg, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let name = arg.get_long().unwrap_or_default();
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return match value {
            DeValue::Boolean(value) => Ok(vec![value.to_string()]),
            _ => Err(format!("'{name}' must be true or false, without quotes")),
        };
    }
    match value {
        DeValue::String(text) => Ok(vec![text.to_string()]),
        DeValue::Integer(number) => Ok(vec![number.to_string()]),
        DeValue::Array(list) if matches!(arg.get_action(), ArgAction::Append) => {
            let texts = list.iter().map(|item| match item.get_ref() {
                DeValue::String(text) => Ok(text.to_string()),
                _ => Err(format!("'{name}' must be a list of strings, as in {name} = [\"...\"]")),
            });
            texts.collect()
        }
        DeValue::Array(_) => Err(format!("'{name}' must be one value, not a list")),
        _ => {
            let known = arg.get_possible_values();
            let names: Vec<String> = known.iter().map(|value| format!("\"{}\"", value.get_name())).collect();
            let form =
                if names.is_empty() { "a string or a whole number".to_owned() } else { names.join(" or ") };
            Err(format!("'{name}' must be {form}"))
        }
    }
}

/// The error for a name that no flag has.
fn unknown(command: &Command, key: &str) -> String {
    if key == CONFIG {
        return "a configuration file cannot name another one".to_owned();
    }
    match nearest_name(key, flags(command).filter_map(Arg::get_long).chain([OIDC])) {
        Some(nearest) => format!("there is no setting '{key}'; the nearest name is '{nearest}'"),
        None => format!("there is no setting '{key}'; 'teamchat serve --help' lists all of them"),
    }
}

/// The value of each flag, and its source.
fn settings(command: &Command, matches: &ArgMatches, sources: &BTreeMap<String, Source>) -> Vec<Setting> {
    let of_arg = |arg: &Arg| {
        let name = arg.get_long()?.to_owned();
        let id = arg.get_id().as_str();
        let variable = || arg.get_env().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let source = match (sources.get(&name), matches.value_source(id)) {
            (Some(source), _) => source.clone(),
            (None, Some(ValueSource::CommandLine)) => Source::Flag,
            (None, Some(ValueSource::EnvVariable)) => Source::Environment(variable()),
            (None, _) => Source::Default,
        };
        let raw = matches.get_raw(id).into_iter().flatten();
        let mut texts: Vec<String> = raw.map(|text| text.to_string_lossy().into_owned()).collect();
        let value = match arg.get_action() {
            ArgAction::SetTrue => json!(matches.get_flag(id)),
            ArgAction::Append => json!(texts),
            _ => texts.pop().map_or(Value::Null, Value::String),
        };
        Some(Setting { name, value, source, is_secret: arg.is_hide_env_values_set() })
    };
    flags(command).filter_map(of_arg).collect()
}

impl Setting {
    /// The value as it may be shown.
    fn shown(&self) -> Value {
        if self.is_secret && !self.value.is_null() { json!("(hidden)") } else { self.value.clone() }
    }

    fn to_json(&self) -> Value {
        let (source, place) = match &self.source {
            Source::Flag => ("flag", json!(format!("--{}", self.name))),
            Source::Environment(name) => ("environment", json!(name)),
            Source::File(path, line) => ("file", json!(format!("{}:{line}", path.display()))),
            Source::Default => ("default", Value::Null),
        };
        json!({ "name": self.name, "value": self.shown(), "source": source, "place": place })
    }

    fn words(&self) -> (String, String) {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let value = match self.shown() {
            Value::Null => String::new(),
            Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
            value => text(&value),
        };
        let place = match &self.source {
            Source::Flag => "command line".to_owned(),
            Source::Environment(name) => name.clone(),
            Source::File(path, line) => format!("{}, line {line}", path.display()),
            Source::Default => "default".to_owned(),
        };
        (value, place)
    }
}

impl ConfigCommand {
    /// Runs the command. The settings are those of the command line, which have been checked already.
    pub fn run(self, settings: &[Setting]) -> Result<(), Failure> {
        match self {
            Self::Check(serve) => {
                let Some(path) = &serve.config else {
                    return Err(UsageError("name the file with --config".to_owned()).into());
                };
                serve.check()?;
                let count =
                    settings.iter().filter(|setting| matches!(setting.source, Source::File(..))).count();
                if serve.output.json {
                    return print(|out| writeln!(out, "{}", json!({ "settings": count })));
                }
                print(|out| {
                    writeln!(out, "{} is correct: {count} of its settings take effect.", path.display())
                })
            }
            Self::Show(serve) if serve.output.json => {
                let list: Vec<Value> = settings.iter().map(Setting::to_json).collect();
                print(|out| writeln!(out, "{}", json!(list)))
            }
            Self::Show(_) => print(|out| {
                let rows: Vec<_> = settings.iter().map(|setting| (&setting.name, setting.words())).collect();
                let name = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
                let value = rows.iter().map(|(_, (text, _))| text.chars().count()).max().unwrap_or(0).min(40);
                let style = Style::stdout();
                for (flag, (text, place)) in &rows {
                    let line = format!("{flag:name$}  {text:value$}  {place}");
                    writeln!(out, "{}", if place == "default" { style.dim(&line) } else { line })?;
                }
                Ok(())
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::value_parser;

    /// A command with a secret, which is at most two digits.
    fn command() -> Command {
        let config = Arg::new("config").long("config").value_parser(value_parser!(PathBuf));
        let pin = Arg::new("pin").long("pin").env("TEAMCHAT_TEST_PIN").hide_env_values(true);
        let serve = Command::new("serve").arg(config).arg(pin.value_parser(value_parser!(u8).range(..100)));
        Command::new("teamchat").subcommand(serve)
    }

    /// The setting, or the error.
    fn pin(arguments: &[&str], file: Option<&Path>) -> Result<(Option<u8>, Value), String> {
        let all = ["teamchat", "serve"].iter().chain(arguments).map(OsString::from).collect();
        let variable =
            |name: &str| (name == "TEAMCHAT_TEST_PIN_FILE").then(|| file.map(OsString::from)).flatten();
        let Parsed { matches, settings, .. } =
            parse(&command(), all, variable).map_err(|error| error.to_string())?;
        let serve = matches.subcommand_matches("serve").unwrap();
        Ok((serve.get_one("pin").copied(), settings[0].to_json()))
    }

    #[test]
    fn secrets_are_read_from_files_and_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        // Some editors write a byte order mark before the text.
        let secret = write("secret", "\u{feff}42\n");
        let by_key = write("key.toml", &format!("pin-file = {secret:?}"));
        let by_value = write("value.toml", "\u{feff}pin = 43");
        let both = write("both.toml", &format!("pin = 1\npin-file = {secret:?}"));
        let wrong = write("wrong.toml", "pin = 4711");
        let empty = write("empty", "\n");
        let config = |path: &Path| ["--config".to_owned(), path.display().to_string()];
        let hidden = |pin: u8, source: &str, place: String| {
            Ok((Some(pin), json!({"name": "pin", "value": "(hidden)", "source": source, "place": place})))
        };
        let run = |path: &Path, file: Option<&Path>| {
            let [flag, path] = config(path);
            pin(&[&flag, &path], file)
        };
        assert_eq!(run(&by_key, None), hidden(42, "file", format!("{}:1", by_key.display())));
        assert_eq!(run(&by_value, None), hidden(43, "file", format!("{}:1", by_value.display())));
        assert_eq!(
            run(&by_value, Some(&secret)),
            hidden(42, "environment", "TEAMCHAT_TEST_PIN_FILE".to_owned())
        );
        assert_eq!(pin(&["--pin", "7"], Some(&secret)), hidden(7, "flag", "--pin".to_owned()));
        assert_eq!(pin(&[], None).unwrap().1["value"], Value::Null);

        let error = run(&both, None).unwrap_err();
        assert!(error.contains("line 2: 'pin' and 'pin-file' exclude each other"), "{error}");
        let error = run(&wrong, None).unwrap_err();
        assert!(error.contains("line 1: invalid value '(hidden)'") && !error.contains("4711"), "{error}");
        let error = pin(&[], Some(&empty)).unwrap_err();
        assert!(error.contains("TEAMCHAT_TEST_PIN_FILE: ") && error.contains(" is empty"), "{error}");
        let error = pin(&[], Some(Path::new("no-such-file"))).unwrap_err();
        assert!(error.contains("cannot read no-such-file"), "{error}");
    }
}
