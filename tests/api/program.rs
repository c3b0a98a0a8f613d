//! The program: flags, output, and commands while a server runs.

use crate::harness::{ReservedPort, TestServer};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use teamchat::store::{Announcement, Database, beside};

pub fn program(db: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamchat"));
    command.args(arguments).arg("--db").arg(db).env("TEAMCHAT_LISTEN", "127.0.0.1:0");
    command
}

pub fn run(db: &Path, arguments: &[&str]) -> Output {
    program(db, arguments).stdin(Stdio::null()).output().unwrap()
}

/// A running server and its output up to readiness.
pub struct Serving {
    child: Child,
    printed: String,
}

impl Serving {
    pub fn start(db: &Path, arguments: &[&str]) -> Self {
        let mut command = program(db, &[&["serve"], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let printed = Self::read(&mut child);
        Self { child, printed }
    }

    /// Reads the output of a server up to readiness.
    pub fn read(child: &mut Child) -> String {
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut printed = String::new();
        while !printed.contains("Without a browser") {
            assert!(lines.read_line(&mut printed).unwrap() > 0, "{printed}");
        }
        printed
    }

    pub fn value(&self, name: &str) -> &str {
        let line = self.printed.lines().find_map(|line| line.trim().strip_prefix(name));
        line.unwrap_or_else(|| panic!("{name}: {}", self.printed)).trim()
    }

    /// Stops the server and returns its log.
    pub fn stop(mut self) -> String {
        self.child.kill().unwrap();
        let mut logged = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut logged).unwrap();
        self.child.wait().unwrap();
        logged
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Already gone, unless the test failed.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

#[tokio::test]
async fn values_that_cannot_work_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let cases = [
        (&["--public-url", "chat.example.com"][..], "https://chat.example.com"),
        (&["--public-url", "https://h/chat"], "not below a path"),
        (&["--public-url", "ftp://h"], "begins with https:// or http://"),
        (&["--log", "nonsense"], "'nonsense' is not a log level"),
        (&["--max-file-upload-size-mib", "0"], "0 is not in 1.."),
        (&["--webhook-hosts", "http://x/"], "'http://x/' is no host"),
        (&["--trusted-proxy", "proxy"], "'proxy' is not a network"),
        (&["--listen", "7410"], "write ADDR:PORT"),
    ];
    for (arguments, expected) in cases {
        let output = run(&db, &[&["serve"], arguments].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}

#[tokio::test]
async fn flags_are_variables_too() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let create = ["user", "create", "--email", "ada@example.com", "--full-name", "Ada", "--json"];
    assert!(run(&db, &create).status.success());
    for (value, is_json) in [("1", true), ("true", true), ("yes", true), ("0", false), ("false", false)] {
        let listed = program(&db, &["user", "list"]).env("TEAMCHAT_JSON", value).output().unwrap();
        assert!(listed.status.success(), "{value}: {listed:?}");
        assert_eq!(serde_json::from_slice::<Value>(&listed.stdout).is_ok(), is_json, "{value}: {listed:?}");
    }
    let role =
        program(&db, &["user", "role", "--email", "ada@example.com"]).env("TEAMCHAT_ROLE", "king").output();
    let error = String::from_utf8(role.unwrap().stderr).unwrap();
    assert!(error.contains("[possible values: owner, administrator, moderator, member, guest]"), "{error}");
}

#[tokio::test]
async fn a_clean_stop_leaves_one_file_and_its_lock() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let create = ["user", "create", "--email", "ada@example.com", "--full-name", "Ada"];
    assert!(run(&db, &create).status.success());
    let mut names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["chat.sqlite", "chat.sqlite.lock"]);
}

#[tokio::test]
async fn busy_ports_create_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = run(&folder.path().join("chat.sqlite"), &["serve", "--listen", &address]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains(&format!("cannot listen on {address}")), "{error}");
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}

#[tokio::test]
async fn addresses_are_printed_and_events_logged() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let serving =
        Serving::start(&db, &["--listen", "localhost:0", "--public-url", "https://chat.example.com/"]);
    assert_eq!(serving.value("public"), "https://chat.example.com");
    assert!(serving.printed.contains("  https://chat.example.com/join/"), "{}", serving.printed);
    let origin = serving.value("listening").to_owned();
    assert!(origin.starts_with("http://127.0.0.1:") || origin.starts_with("http://[::1]:"), "{origin}");
    let form = [("username", "nobody@example.com"), ("password", "wrong")];
    let answer =
        reqwest::Client::new().post(format!("{origin}/api/v1/fetch_api_key")).form(&form).send().await;
    assert_eq!(answer.unwrap().status(), 401);
    let own_user = format!("{origin}/api/v1/users/me");
    let wrong_key = Some("0".repeat(32));
    for _ in 0..3 {
        let request =
            reqwest::Client::new().get(&own_user).basic_auth("nobody@example.com", wrong_key.as_ref());
        assert_eq!(request.send().await.unwrap().status(), 401);
    }
    assert_eq!(reqwest::get(&own_user).await.unwrap().status(), 401, "without a key");
    let created = run(&db, &["user", "create", "--email", "ada@example.com", "--full-name", "Ada", "--json"]);
    let created: Value = serde_json::from_slice(&created.stdout).unwrap();
    let password = ["user", "password", "--email", "ada@example.com", "--json"];
    let password: Value = serde_json::from_slice(&run(&db, &password).stdout).unwrap();
    let form = [("username", "ada@example.com"), ("password", password["password"].as_str().unwrap())];
    let client = reqwest::Client::builder().user_agent("curl/8.5.0").build().unwrap();
    let login = client.post(format!("{origin}/accounts/login/")).form(&form).send().await.unwrap();
    assert_eq!(login.status(), 200);
    let sessions = ["user", "session", "list", "--email", "ada@example.com"];
    let listed = String::from_utf8(run(&db, &sessions).stdout).unwrap();
    assert!(listed.contains("  127.0.0.1        curl\n"), "{listed}");
    assert!(run(&db, &["user", "session", "end", "--email", "ada@example.com", "1"]).status.success());
    let listed = String::from_utf8(run(&db, &sessions).stdout).unwrap();
    assert!(listed.starts_with("No sessions.\n"), "{listed}");
    let (id, logged) = (&created["user_id"], serving.stop());
    for expected in [
        &format!(
            "a login action=\"login\" by=\"user\" by_id={id} address=127.0.0.1 subject=\"user\" id={id}"
        ),
        &format!("a password was set action=\"password_set\" by=\"command line\" subject=\"user\" id={id}"),
        "the server has started",
        "no --trusted-proxy",
        "a login failed address=127.0.0.1",
        "a wrong API key address=127.0.0.1",
        &format!(
            "an account was created action=\"account_created\" by=\"command line\" subject=\"user\" id={id}"
        ),
    ] {
        assert!(logged.contains(expected), "{expected}: {logged}");
    }
    assert_eq!(logged.matches("a wrong API key").count(), 1, "one a minute: {logged}");
}

#[tokio::test]
async fn reachable_servers_warn_without_a_public_url() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let logged = Serving::start(&db, &["--listen", "0.0.0.0:0"]).stop();
    assert!(logged.contains("there is no --public-url"), "{logged}");
    assert!(!logged.contains("--metrics"), "{logged}");
    let logged = Serving::start(&db, &["--metrics", "0.0.0.0:0"]).stop();
    assert!(
        logged.contains("other machines can reach the address of --metrics, which needs no login"),
        "{logged}"
    );
    let logged = Serving::start(&db, &["--log", "error"]).stop();
    assert_eq!(logged, "");
}

/// Requests are limited where others can send them.
// conformance: auth-37
#[tokio::test]
async fn requests_are_limited_by_default_where_others_reach_the_server() {
    for (arguments, is_limited) in [
        (&["--listen", "0.0.0.0:0"][..], true),
        (&["--listen", "0.0.0.0:0", "--rate-limit", "off"], false),
        (&["--listen", "127.0.0.1:0"], false),
        (&["--listen", "127.0.0.1:0", "--rate-limit", "on"], true),
        (&["--public-url", "https://chat.example.com"], true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let serving = Serving::start(&folder.path().join("chat.sqlite"), arguments);
        let origin = serving.value("listening").replace("0.0.0.0", "127.0.0.1");
        let answer = reqwest::get(format!("{origin}/api/v1/server_settings")).await.unwrap();
        assert_eq!(answer.headers().contains_key("x-ratelimit-limit"), is_limited, "{arguments:?}");
        serving.stop();
    }
}

/// A server started as root creates files that the owner of the directory can open.
#[cfg(unix)]
#[tokio::test]
async fn files_belong_to_the_owner_of_the_directory() {
    use std::os::unix::fs::{MetadataExt, chown};

    let folder = tempfile::tempdir().unwrap();
    // Only root can give it away, and only then it matters.
    let _refused = chown(folder.path(), Some(12_345), Some(23_456));
    let owner = std::fs::metadata(folder.path()).unwrap();
    let owner = (owner.uid(), owner.gid());
    let db = folder.path().join("chat.sqlite");
    let files = || {
        let mut files: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(Result::unwrap)
            // The socket for commands is removed with the server.
            .filter(|file| file.file_type().unwrap().is_file())
            .map(|file| {
                let metadata = file.metadata().unwrap();
                let name = file.file_name().into_string().unwrap();
                (name, (metadata.uid(), metadata.gid()), metadata.mode() & 0o777)
            })
            .filter(|(name, ..)| name.starts_with("chat.sqlite"))
            .collect();
        files.sort();
        files
    };
    let expected = |names: &[&str]| -> Vec<_> {
        names.iter().map(|name| (format!("chat.sqlite{name}"), owner, 0o600)).collect()
    };
    let serving = Serving::start(&db, &[]);
    assert_eq!(files(), expected(&["", "-shm", "-wal", ".lock"]));
    serving.stop();
    // Existing files keep their owner.
    let _refused = chown(&db, Some(0), Some(0));
    let before = files();
    let listed = run(&db, &["user", "list"]);
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    assert_eq!(files()[0], before[0]);
}

/// Removed messages and files leave room that SQLite keeps in files of older versions.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "makes a file as older versions did")]
async fn a_file_of_which_much_is_unused_is_named() {
    let server = TestServer::start().await;
    let file = server.into_file().await;
    for (free, is_named) in [(2, false), (66, true)] {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("chat.sqlite");
        std::fs::write(&db, &file).unwrap();
        let connection = rusqlite::Connection::open(&db).unwrap();
        let filling = format!(
            "PRAGMA auto_vacuum = none; VACUUM;
             CREATE TABLE past AS
             WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {free})
             SELECT zeroblob(1 << 20) AS content FROM one;
             DROP TABLE past"
        );
        connection.execute_batch(&filling).unwrap();
        drop(connection);
        let serving = Serving::start(&db, &[]);
        let hint = format!(
            "\n  unused     {free} MiB of the file are free and will be used again; to shrink it, stop the\n             \
             server and run: teamchat compact --db {}\n",
            db.display()
        );
        assert_eq!(serving.printed.contains(&hint), is_named, "{free}: {}", serving.printed);
        assert_eq!(serving.printed.contains("unused"), is_named, "{free}: {}", serving.printed);
        serving.stop();
    }
}

/// Only the account that runs the server can connect. HTTP has no equivalent of the commands.
#[cfg(unix)]
#[tokio::test]
async fn commands_reach_a_server_over_a_private_socket() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    use std::os::unix::net::UnixStream;

    let server = TestServer::start().await;
    let path = Database::announced(&server.database()).unwrap().control.unwrap();
    let metadata = std::fs::metadata(&path).unwrap();
    assert!(metadata.file_type().is_socket());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);

    let ask = |line: String| {
        let path = path.clone();
        let answer = tokio::task::spawn_blocking(move || {
            let mut stream = UnixStream::connect(path).unwrap();
            writeln!(stream, "{line}").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        });
        async { serde_json::from_str::<Value>(&answer.await.unwrap()).unwrap() }
    };
    assert_eq!(ask("\"list_users\"".to_owned()).await, json!({"answer": []}));
    let unknown = json!({"create_key": {"email": "eve@example.com", "client": "x"}});
    assert_eq!(ask(unknown.to_string()).await, json!({"error": "No user has the email 'eve@example.com'"}));
    for line in ["", "nonsense", "{\"drop_everything\": {}}"] {
        let answer = ask(line.to_owned()).await;
        assert_eq!(
            answer["error"], "this server does not know the command; is it of another version?",
            "{line}"
        );
    }

    let mut ada = server.member("ada").await;
    let database = server.database();
    let arguments = ["user", "key", "mint", "--email", "ada@example.com", "--json"];
    let minted = tokio::task::spawn_blocking(move || run(&database, &arguments)).await.unwrap();
    let minted: Value = serde_json::from_slice(&minted.stdout).unwrap();
    ada.api_key = minted["api_key"].as_str().map(str::to_owned);
    ada.get("/users/me", ()).await.ok();
    let over_http = ada.request_outside(reqwest::Method::POST, "/control");
    over_http.form(&[("command", "\"list_users\"")]).send().await.error(404, "BAD_REQUEST", "Not found");
}

/// The socket for commands closes before the file does.
#[tokio::test]
async fn commands_wait_for_the_end_of_a_server_that_stops() {
    let mut server = TestServer::start().await;
    let database = server.database();
    let stopping = server.finish().await;
    let lock = std::fs::read_to_string(beside(&database, ".lock")).unwrap();
    assert_eq!(serde_json::from_str::<Announcement>(&lock).unwrap(), Announcement::default());
    let listing = program(&database, &["user", "list", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    tokio::task::spawn_blocking(|| stopping.close()).await.unwrap();
    let listed = listing.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(listed.stdout).unwrap(), "[]\n");
}

/// The other program may run elsewhere, but the address has the port at which the server is.
#[cfg(unix)]
#[tokio::test]
async fn the_address_of_a_webhook_leads_to_the_server_that_runs() {
    for (arguments, origin) in [
        (&[][..], None),
        (&["--listen", "0.0.0.0:0"], None),
        (&["--public-url", "https://chat.example.com"], Some("https://chat.example.com")),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("chat.sqlite");
        let serving = Serving::start(&db, arguments);
        let owner = ["user", "create", "--email", "ada@example.com", "--full-name", "Ada", "--role", "owner"];
        assert!(run(&db, &owner).status.success());
        let bot = ["bot", "create", "--integration", "grafana", "--channel", "general", "--json"];
        let bot: Value = serde_json::from_slice(&run(&db, &bot).stdout).unwrap();
        let listening = serving.value("listening").replace("0.0.0.0", "127.0.0.1");
        let expected = format!("{}/api/v1/external/grafana?api_key=", origin.unwrap_or(&listening));
        assert!(bot["url"].as_str().unwrap().starts_with(&expected), "{bot} begins with {expected}");
        serving.stop();
    }
}

#[tokio::test]
async fn a_socket_that_a_killed_server_left_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    Serving::start(&db, &[]).stop();
    assert!(folder.path().join("chat.sqlite.control").exists());
    let serving = Serving::start(&db, &[]);
    let listed = run(&db, &["user", "list", "--json"]);
    assert_eq!(String::from_utf8(listed.stdout).unwrap(), "[]\n");
    serving.stop();
}

fn words_of(output: &Output) -> (String, String) {
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[tokio::test]
async fn an_unknown_command_is_answered_with_the_known_ones() {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_teamchat")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        words_of(&output).1
    };
    let said = run(&["user", "passwd"]);
    assert!(said.contains("available commands: create, list, unlock, password,"), "{said}");
    let said = run(&["bakcup"]);
    assert!(
        said.contains(
            "available commands: serve, backup, restore, check, compact, health, import, user, audit, bot"
        ),
        "{said}"
    );
    let said = run(&["user", "key", "new"]);
    assert!(said.contains("available commands: mint, list, revoke"), "{said}");
    let said = run(&["serve", "--no-such-flag", "x"]);
    assert!(said.contains("Usage: teamchat serve [OPTIONS]"), "{said}");
}

#[tokio::test]
async fn text_output_names_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let create = ["user", "create", "--email", "ada@example.com", "--full-name", "Ada"];
    let last = format!("In the database {}\n", db.display());
    for arguments in [&create[..], &["user", "list"], &["organization", "reactivate"]] {
        let (said, _) = words_of(&run(&db, arguments));
        assert!(said.ends_with(&last), "{said}");
    }
    let (said, _) = words_of(&run(&db, &["organization", "reactivate"]));
    assert!(said.starts_with("The organization was not deactivated"), "{said}");
    // A relative path is named in full.
    let relative = Command::new(env!("CARGO_BIN_EXE_teamchat"))
        .args(["user", "list", "--db", "chat.sqlite"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let (said, _) = words_of(&relative);
    let real = folder.path().canonicalize().unwrap().join("chat.sqlite");
    assert!(
        said.ends_with(&format!("In the database {}\n", real.display())) || said.ends_with(&last),
        "{said}"
    );
    let bot = [
        "user",
        "create",
        "--email",
        "b-bot@example.com",
        "--full-name",
        "Bot",
        "--bot-owner",
        "ada@example.com",
    ];
    let (said, _) = words_of(&run(&db, &bot));
    assert!(said.contains("show the key of a bot to its owner") && !said.contains("this once"), "{said}");
}

#[cfg(unix)]
#[tokio::test]
async fn closed_standard_output_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let create = ["user", "create", "--email", "ada@example.com", "--full-name", "Ada"];
    assert!(run(&db, &create).status.success());
    for arguments in [
        &["fixtures", "dump"][..],
        &["user", "list"],
        &["user", "list", "--json"],
        &["status", "--watch"],
        &["status", "--watch", "--json"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = program(&db, arguments).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        assert_eq!((output.status.code(), words_of(&output).1.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[tokio::test]
async fn the_health_of_a_server_is_a_code_and_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let port = ReservedPort::new();
    let serving = Serving::start(&db, &["--listen", &port.address().to_string()]);
    let url = serving.value("listening").to_owned();
    let health = |url: &str| {
        Command::new(env!("CARGO_BIN_EXE_teamchat")).args(["health", "--url", url]).output().unwrap()
    };
    let well = health(&url);
    assert_eq!((well.status.code(), words_of(&well)), (Some(0), (String::new(), String::new())));
    #[cfg(unix)]
    {
        std::fs::rename(&db, folder.path().join("elsewhere")).unwrap();
        let ill = health(&url);
        let said = words_of(&ill).1;
        assert_eq!(ill.status.code(), Some(1), "{said}");
        assert!(said.contains("status 503: The database file is gone"), "{said}");
    }
    serving.stop();
    let gone = health(&url);
    let said = words_of(&gone).1;
    assert_eq!(gone.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("{url} does not answer")), "{said}");
    let wrong = health("ftp://chat.example.com");
    assert_eq!(wrong.status.code(), Some(2), "{}", words_of(&wrong).1);
}
