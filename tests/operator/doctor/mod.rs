//! `teamchat doctor`: each problem, made for real.

mod addresses;

use crate::authority::{Authority, NAME};
use crate::files::set_mode;
use crate::ports::ReservedPort;
use crate::program::{Serving, change_database, command, create_owner, folder_with_database, words};
use crate::tables;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::chown;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, SystemTime};
use teamchat::store::Announcement;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The code and the results of `doctor`: each as level, name and text.
pub struct Examined {
    pub code: i32,
    results: Vec<(String, String, String)>,
}

impl Examined {
    /// Reads what the command prints with `--json`.
    fn of(output: &Output) -> Self {
        let (code, printed, error) = words(output);
        let report: Value = serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{printed}{error}"));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let results = report["checks"].as_array().unwrap().iter().map(|result| {
            (
                text(&result["level"]),
                text(&result["check"]),
                format!("{}; {}", text(&result["what"]), text(&result["do"])),
            )
        });
        let results: Vec<_> = results.collect();
        assert_eq!(report["sound"], !results.iter().any(|(level, ..)| level == "problem"));
        Self { code, results }
    }

    /// True if a result of this level and name has all of these words.
    pub fn has(&self, level: &str, check: &str, parts: &[&str]) -> bool {
        self.results.iter().any(|(found_level, found_check, text)| {
            found_level == level && found_check == check && parts.iter().all(|part| text.contains(part))
        })
    }

    #[track_caller]
    pub fn expect(&self, level: &str, check: &str, parts: &[&str]) {
        assert!(self.has(level, check, parts), "{level} {check} {parts:?}: {:#?}", self.results);
        let code = i32::from(self.results.iter().any(|(level, ..)| level == "problem"));
        assert_eq!(self.code, code, "{:#?}", self.results);
    }

    /// The names of results that are not fine.
    fn findings(&self) -> Vec<&str> {
        let found = self.results.iter().filter(|(level, ..)| level != "ok");
        found.map(|(_, check, _)| check.as_str()).collect()
    }
}

/// Runs `doctor` on the database of a folder.
pub fn examine(folder: &Path, flags: &[&str]) -> Examined {
    let mut doctor = command(&["doctor", "--json"]);
    Examined::of(&doctor.args(flags).arg("--db").arg(folder.join("chat.sqlite")).output().unwrap())
}

/// A server at its public address.
fn serve_public(folder: &Path, scheme: &str, host: &str, flags: &[&str]) -> (Serving, String) {
    let reserved = ReservedPort::new();
    let url = format!("{scheme}://{host}:{}", reserved.address().port());
    let own = ["--listen", &reserved.address().to_string(), "--public-url", &url, "--web-push", "off"];
    (Serving::start(folder, &[&own[..], flags].concat()), url)
}

#[test]
fn a_sound_server_has_no_findings() {
    let folder = folder_with_database();
    let folder = folder.path();
    let to = folder.join("backups");
    std::fs::create_dir(&to).unwrap();
    let backups = ["--backup-to", to.to_str().unwrap()];
    let (serving, url) = serve_public(folder, "http", "127.0.0.1", &backups);
    let examined = examine(folder, &["--public-url", &url, "--web-push", "off"]);
    // Folders of tests are in memory on some machines.
    let findings: Vec<&str> =
        examined.findings().into_iter().filter(|check| *check != "file system").collect();
    assert!(findings.is_empty() && examined.code == 0, "{:#?}", examined.results);
    examined.expect("ok", "public address", &[&url, "leads to this server"]);
    examined.expect("ok", "proxy", &["there is no proxy", "127.0.0.1"]);
    examined.expect("ok", "backups", &["on the disk of the database: also copy the backups elsewhere"]);
    for check in
        ["database", "server", "clock", "permissions", "disk", "log", "backups", "open files", "web push"]
    {
        examined.expect("ok", check, &[]);
    }
    let text =
        command(&["doctor", "--public-url", &url, "--db"]).arg(folder.join("chat.sqlite")).output().unwrap();
    let (code, printed, _) = words(&text);
    assert!(code == 0 && printed.contains("ok       public address: "), "{printed}");
    assert!(
        printed
            .lines()
            .all(|line| ["ok ", "warning ", "problem "].iter().any(|level| line.starts_with(level))),
        "{printed}"
    );
    // Other flags than those of the server.
    examine(folder, &["--web-push", "off"]).expect(
        "warning",
        "public address",
        &["runs with other settings", &url],
    );
    serving.stop();
    let stopped = examine(folder, &["--public-url", &url]);
    stopped.expect("warning", "public address", &["the server is stopped"]);
    stopped.expect("warning", "backups", &["automatic backups are off", "--backup-to"]);
    stopped.expect("warning", "web push", &["only on https pages"]);
    stopped.expect("ok", "server", &["it is stopped"]);
}

#[test]
fn a_database_that_cannot_be_used_has_its_own_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let missing = examine(folder, &[]);
    assert!(
        missing.code == 2 && missing.has("problem", "database", &["does not exist"]),
        "{:?}",
        missing.results
    );
    std::fs::write(folder.join("chat.sqlite"), "no database, but long enough to look into").unwrap();
    let foreign = examine(folder, &[]);
    assert!(foreign.code == 2 && foreign.has("problem", "database", &[]), "{:?}", foreign.results);
    let wrong = command(&["doctor", "--public-url", "nowhere", "--db"])
        .arg(folder.join("chat.sqlite"))
        .output()
        .unwrap();
    assert_eq!(words(&wrong).0, 2);
}

#[test]
fn files_that_others_own_or_read_are_named() {
    let folder = folder_with_database();
    let folder = folder.path();
    let db = folder.join("chat.sqlite");
    examine(folder, &[]).expect("ok", "permissions", &["no other user can read them"]);
    set_mode(&db, 0o644);
    examine(folder, &[]).expect("problem", "permissions", &["all users", "can read", "chmod o-rwx"]);
    set_mode(&db, 0o600);
    set_mode(folder, 0o777);
    examine(folder, &[]).expect("problem", "permissions", &["all users", "can replace files", "chmod o-w"]);
    set_mode(folder, 0o700);
    let key = folder.join("key.pem");
    let certificate = Authority::new().issue(folder, &[NAME], 90);
    set_mode(&key, 0o644);
    examine(folder, &certificate.flags()).expect("problem", "permissions", &["can read", "key.pem"]);
    let backups = ["--backup-to", "/nowhere/backups"];
    examine(folder, &backups).expect("problem", "backups", &["there is no folder /nowhere/backups"]);
    // Only root can give files away.
    if chown(beside(&db, ".lock"), Some(4711), None).is_ok() {
        let lock = ["chat.sqlite.lock belongs to user 4711", "run `chown 0 "];
        examine(folder, &[]).expect("problem", "permissions", &lock);
        chown(beside(&db, ".lock"), Some(0), None).unwrap();
        let to = folder.join("backups");
        std::fs::create_dir(&to).unwrap();
        chown(&db, Some(4711), None).unwrap();
        chown(beside(&db, ".lock"), Some(4711), None).unwrap();
        let examined = examine(folder, &["--backup-to", to.to_str().unwrap()]);
        examined.expect("problem", "permissions", &["belongs to user 0", "who cannot create files there"]);
        examined.expect("problem", "backups", &["user 4711 cannot write to"]);
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[test]
fn a_schema_that_no_restore_accepts_is_named() {
    let folder = folder_with_database();
    let folder = folder.path();
    change_database(folder, "CREATE INDEX costly ON client (hex(name))");
    let parts = ["the index costly is not of this program", "`teamchat restore` refuses backups of it"];
    let examined = examine(folder, &[]);
    examined.expect("warning", "database", &parts);
    assert!(!examined.has("ok", "database", &[]), "{:#?}", examined.results);
}

#[test]
fn rows_of_the_future_and_a_long_log_are_named() {
    let folder = folder_with_database();
    let folder = folder.path();
    let db = folder.join("chat.sqlite");
    let sql = "UPDATE audit_entry SET time = time + 100000 WHERE id = (SELECT max(id) FROM audit_entry)";
    change_database(folder, sql);
    examine(folder, &[]).expect("problem", "clock", &["the newest data is from", "timedatectl"]);
    // Zeros are no log, and are left alone.
    std::fs::File::create(beside(&db, "-wal")).unwrap().set_len(300 << 20).unwrap();
    set_mode(&beside(&db, "-wal"), 0o600);
    examine(folder, &[]).expect("warning", "log", &["300 MiB", "keeps it open"]);
    let replicated = examine(folder, &["--replicated"]);
    replicated.expect("ok", "log", &["300 MiB"]);
    replicated.expect("ok", "backups", &["another program replicates"]);
}

#[test]
fn copies_that_are_not_needed_are_named() {
    let folder = folder_with_database();
    let folder = folder.path();
    assert!(!examine(folder, &[]).has("ok", "copies", &[]));
    let copy = |name: &str, age: Duration| {
        let file = std::fs::File::create(folder.join(name)).unwrap();
        file.set_len(20 << 20).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    };
    copy("chat.sqlite.before-0010_sessions", DAY);
    copy("other.sqlite.before-0010_sessions", DAY * 40);
    let parts = ["the copies of upgrades and restores (chat.sqlite.before-...) take 20 MiB"];
    examine(folder, &[]).expect("ok", "copies", &parts);
    copy("chat.sqlite.before-restore-2026-01-01T00-00-00Z", DAY * 40);
    examine(folder, &[]).expect("warning", "copies", &["take 40 MiB; delete the copies"]);
}

#[test]
fn few_open_files_are_named() {
    let folder = folder_with_database();
    let program = env!("CARGO_BIN_EXE_teamchat");
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", "ulimit -n 256; exec \"$0\" doctor --db \"$1\"", program])
        .arg(folder.path().join("chat.sqlite"));
    let (code, printed, error) = words(&shell.output().unwrap());
    assert!(code == 0 && printed.contains("warning  open files: 256 files"), "{printed}{error}");
    assert!(printed.contains("LimitNOFILE="), "{printed}");
}

/// Takes the lock of a database for a server whose commands go to this socket.
fn announce(folder: &Path, control: &Path) -> std::fs::File {
    let lock = std::fs::File::create(folder.join("chat.sqlite.lock")).unwrap();
    let (pid, control) = (Some(std::process::id()), Some(control.to_owned()));
    let announcement = Announcement { pid, control, ..Announcement::default() };
    serde_json::to_writer(&lock, &announcement).unwrap();
    lock.lock().unwrap();
    lock
}

#[test]
fn servers_of_another_version_and_without_an_answer_are_named() {
    let folder = folder_with_database();
    let folder = folder.path();
    let status = command(&["status", "--json", "--db"]).arg(folder.join("chat.sqlite")).output().unwrap();
    let mut status: Value = serde_json::from_slice(&status.stdout).unwrap();
    status["version"] = json!("0.0.9");
    status["started_at"] = json!(1);
    let control = folder.join("control");
    let listener = UnixListener::bind(&control).unwrap();
    let lock = announce(folder, &control);
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        BufReader::new(&stream).read_line(&mut String::new()).unwrap();
        writeln!(stream, "{}", json!({ "answer": status })).unwrap();
        listener
    });
    let other = ["it runs version 0.0.9, and this program is ", "restart the server to finish the upgrade"];
    examine(folder, &[]).expect("warning", "server", &other);
    // Connections are accepted, and nothing reads from them.
    let listener = answering.join().unwrap();
    let hanging = examine(folder, &["--public-url", "https://chat.example.com"]);
    let parts = ["does not answer: there was no answer within 15 s", "if it hangs, restart it"];
    hanging.expect("problem", "server", &parts);
    hanging.expect("warning", "public address", &["was not tested", "stopped or does not answer"]);
    drop(listener);
    examine(folder, &[]).expect("problem", "server", &["does not answer at ", "wait until it has started"]);
    drop(lock);
    examine(folder, &[]).expect("ok", "server", &["it is stopped"]);
}

#[test]
fn a_database_of_an_older_version_is_named_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let db = folder.join("chat.sqlite");
    let mut older = Vec::new();
    let packed = &include_bytes!("../../api/upgrades/0.1.0.sqlite.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_end(&mut older).unwrap();
    std::fs::write(&db, &older).unwrap();
    set_mode(&db, 0o600);
    let examined = examine(folder, &[]);
    let parts = ["was written by an older version", "keeps a copy beside it; make a backup first"];
    examined.expect("warning", "database", &parts);
    assert!(!examined.has("warning", "database", &["another schema"]), "{:#?}", examined.results);
    assert!(std::fs::read(&db).unwrap() == older && std::fs::read_dir(folder).unwrap().count() == 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_database_in_memory_is_named() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    create_owner(folder.path());
    let parts = ["the database is on tmpfs, in memory", "move it to a disk"];
    examine(folder.path(), &[]).expect("warning", "file system", &parts);
}

#[cfg(target_os = "linux")]
#[test]
fn a_database_that_this_user_cannot_write_is_named() {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;

    const OTHER_USER: u32 = 4711;
    // Other users may not be able to reach the folder of temporary files.
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let folder = folder.path();
    create_owner(folder);
    let db = folder.join("chat.sqlite");
    set_mode(&db, 0o444);
    set_mode(folder, 0o555);
    // Nor the program by its path.
    let program = std::fs::File::open(env!("CARGO_BIN_EXE_teamchat")).unwrap();
    let mut doctor = std::process::Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
    doctor.env_clear().args(["doctor", "--json", "--db"]).arg(&db);
    let owner = std::fs::metadata(&db).unwrap().uid();
    // Root may write everything.
    let user = if owner == 0 { OTHER_USER } else { owner };
    if user != owner {
        doctor.uid(user);
    }
    let examined = Examined::of(&doctor.output().unwrap());
    set_mode(folder, 0o755);
    for place in [folder, db.as_path()] {
        let found = format!("user {user} cannot write {}: ", place.display());
        let remedy = format!("run the server and its commands as user {owner}, on a disk that is writable");
        examined.expect("problem", "permissions", &[&found, &remedy]);
    }
}

#[test]
fn links_in_emails_without_a_public_address_are_named() {
    let folder = folder_with_database();
    let closed = ReservedPort::new();
    let server = format!("smtp://{}?tls=none", closed.address());
    let flags = ["--smtp-url", &server, "--mail-from", "chat@example.com"];
    let examined = examine(folder.path(), &flags);
    examined.expect("problem", "mail", &["cannot be used: ", "check --smtp-url"]);
    let parts = ["links in emails lead to the address of --listen", "set --public-url"];
    examined.expect("warning", "mail", &parts);
    let public =
        examine(folder.path(), &[&flags[..], &["--public-url", "https://chat.example.com"]].concat());
    assert!(!public.has("warning", "mail", &[]), "{:#?}", public.results);
}

#[test]
fn accounts_that_single_sign_on_does_not_create_are_named() {
    let folder = folder_with_database();
    let folder = folder.path();
    let closed = ReservedPort::new();
    let config = folder.join("teamchat.toml");
    let table = format!(
        "[[oidc]]\nid = \"home\"\nissuer = \"http://{}\"\nclient-id = \"chat\"\nclient-secret = \"a secret\"\nauto-create = true\n",
        closed.address()
    );
    std::fs::write(&config, table).unwrap();
    let flags = ["--config", config.to_str().unwrap(), "--public-url", "https://chat.example.com"];
    let examined = examine(folder, &flags);
    examined.expect("problem", "single sign-on", &["home: ", "Connection refused", "compare 'issuer'"]);
    let parts = ["'auto-create' has no effect", "`teamchat organization set invite_required false`"];
    examined.expect("warning", "single sign-on", &parts);
    let open = ["organization", "set", "invite_required", "false", "--db"];
    assert!(command(&open).arg(folder.join("chat.sqlite")).output().unwrap().status.success());
    assert!(!examine(folder, &flags).has("warning", "single sign-on", &[]));
}

/// The table on the page about troubleshooting has a row for each test, and each test once.
#[test]
fn the_page_lists_all_tests() {
    let names = Regex::new(
        r#"(?:\b(?:ok|warning|problem|check_disk|check_end)\(|const \w+: &str =|check:)\s*"([a-z][a-z -]+)""#,
    )
    .unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/doctor");
    let mut tests = BTreeSet::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let source = std::fs::read_to_string(file.unwrap().path()).unwrap();
        tests.extend(names.captures_iter(&source).map(|found| found[1].to_owned()));
    }
    let page = include_str!("../../../docs/troubleshooting.md");
    let rows = tables::rows(page, "| Test | Finds |");
    let mut listed: Vec<&str> = rows.flat_map(|cells| tables::names(cells[0])).collect();
    listed.sort_unstable();
    assert_eq!(listed, tests.iter().collect::<Vec<_>>());
}
