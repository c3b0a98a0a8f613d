//! The program, its output and its end.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

/// A command of the program, without the environment variables of the user who runs the tests.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamchat"));
    let foreign = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TEAMCHAT_"));
    for (name, _) in foreign {
        command.env_remove(name);
    }
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Creates the owner `ada@example.com` in a file of a folder, and returns what the command prints.
pub fn create_owner(folder: &Path) -> Value {
    let create =
        ["user", "create", "--email", "ada@example.com", "--full-name", "Ada", "--role", "owner", "--json"];
    let created = command(&create).arg("--db").arg(folder.join("chat.sqlite")).output().unwrap();
    assert!(created.status.success(), "{created:?}");
    serde_json::from_slice(&created.stdout).unwrap()
}

/// A folder with a database, whose owner is `ada@example.com`.
pub fn folder_with_database() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    create_owner(folder.path());
    folder
}

/// Changes the database of a folder with SQL statements.
pub fn change_database(folder: &Path, statements: &str) {
    let connection = rusqlite::Connection::open(folder.join("chat.sqlite")).unwrap();
    connection.execute_batch(statements).unwrap();
}

/// The code, standard output and standard error of a command that has ended.
pub fn words(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// A server that has printed where it listens.
pub struct Serving {
    child: Child,
    output: BufReader<ChildStdout>,
    /// All that it has printed so far.
    pub printed: String,
    log: PathBuf,
}

impl Serving {
    /// Starts `serve` on a file of a folder, and waits until it is ready.
    pub fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_with(
            folder,
            command(&["serve"]).args(arguments).arg("--db").arg(folder.join("chat.sqlite")),
        )
    }

    /// Starts a command that serves.
    pub fn start_with(folder: &Path, command: &mut Command) -> Self {
        let log = folder.join("log");
        let file = std::fs::File::options().create(true).append(true).open(&log).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(file).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut serving = Self { child, output, printed: String::new(), log };
        while !serving.printed.contains("  database ") {
            let read = serving.output.read_line(&mut serving.printed).unwrap();
            assert!(read > 0, "{}{}", serving.printed, serving.log());
        }
        serving
    }

    /// The addresses that it listens on.
    pub fn origins(&self) -> Vec<String> {
        let lines = self.printed.lines().filter_map(|line| line.trim().strip_prefix("listening"));
        lines.map(|line| line.trim().to_owned()).collect()
    }

    /// The first of them.
    pub fn origin(&self) -> String {
        self.origins().remove(0)
    }

    /// All that is in the log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        // The command of the shell, since small systems have no program for it.
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Stops cleanly, and returns the log.
    pub fn stop(mut self) -> String {
        self.signal("TERM");
        self.output.read_to_string(&mut self.printed).unwrap();
        assert!(self.child.wait().unwrap().success(), "{}", self.log());
        self.log()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Already gone, unless the test failed.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}
