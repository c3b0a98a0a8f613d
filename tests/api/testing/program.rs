//! The program as a test server: startup and cleanup.

use super::{BOT, HAMLET, IAGO, Program, SMALL, command, write};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// The folders of ephemeral databases.
fn folders() -> BTreeSet<String> {
    let temporary = std::env::temp_dir();
    let places = [Path::new("/dev/shm"), temporary.as_path()];
    let entries = places.iter().filter_map(|place| std::fs::read_dir(place).ok()).flatten();
    let names = entries.map(|entry| entry.unwrap().path().display().to_string());
    names.filter(|name| name.contains("/teamchat-")).collect()
}

/// Open files of a process, including unlinked ones.
#[cfg(target_os = "linux")]
fn open_files(process: u32) -> Vec<String> {
    let entries = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let links = entries.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    links.map(|link| link.display().to_string()).collect()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_ephemeral_server_has_no_files_even_while_it_runs() {
    let server = Program::start(SMALL, &[]);
    let databases: Vec<String> =
        open_files(server.child.id()).into_iter().filter(|path| path.contains("chat.sqlite")).collect();
    assert!(!databases.is_empty());
    for path in &databases {
        let path = path.strip_suffix(" (deleted)").unwrap_or_else(|| panic!("{path} is there"));
        assert!(!Path::new(path).exists(), "{path}");
        let folder = Path::new(path).parent().unwrap().display().to_string();
        assert!(!folders().contains(&folder), "{folder}");
    }
    // It works on: reading and writing, many at once.
    let (sent, read) = tokio::join!(
        futures_util::future::join_all((0..40).map(|_| async { server.send("hello").await.unwrap() })),
        futures_util::future::join_all((0..40).map(|_| server.get("/users", HAMLET))),
    );
    assert!(sent.iter().chain(&read).all(|answer| answer["result"] == "success"));
}

#[tokio::test]
async fn the_fixtures_are_there_with_ids_in_order_and_keys_as_given() {
    let server = Program::start(SMALL, &[]);
    assert_eq!(server.ready["url"].as_str().unwrap(), server.url);
    assert_eq!(server.ready["version"], env!("CARGO_PKG_VERSION"));
    let mut ids = Vec::new();
    for (email, key) in [IAGO, HAMLET, BOT] {
        let me = server.get("/users/me", (email, key)).await;
        assert_eq!((&me["result"], &me["email"]), (&json!("success"), &json!(email)), "{me}");
        ids.push(me["user_id"].as_i64().unwrap());
    }
    assert!(ids.is_sorted());
    let messages = server.get("/messages?anchor=newest&num_before=10&num_after=0", IAGO).await;
    let facts: Vec<Value> = messages["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| json!([message["id"], message["sender_email"], message["content"]]))
        .collect();
    let expected = [
        json!([1, "iago@example.com", "<p><strong>hello</strong></p>"]),
        json!([2, "hamlet@example.com", "<p>in private</p>"]),
    ];
    assert_eq!(facts, expected);
    assert_eq!(messages["messages"][0]["timestamp"], 1_767_225_600);
    let channels = server.get("/streams", HAMLET).await;
    let names: Vec<_> =
        channels["streams"].as_array().unwrap().iter().map(|channel| &channel["name"]).collect();
    assert_eq!(names, ["Verona"]);
}

/// Editors and shells write files with a byte order mark, some of them in UTF-16.
#[tokio::test]
async fn fixtures_may_have_a_byte_order_mark() {
    let marked = format!("\u{feff}{SMALL}");
    let utf_16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for fixtures in [marked.into_bytes(), utf_16] {
        let server = Program::start(fixtures, &[]);
        assert_eq!(server.get("/users/me", IAGO).await["full_name"], "Iago");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_ephemeral_server_has_no_files_while_it_loads_fixtures() {
    let folder = tempfile::tempdir().unwrap();
    let groups: Vec<Value> = (0..1000).map(|number| json!({"name": format!("group {number}")})).collect();
    let owner = json!({"email": "a@example.com", "full_name": "A", "role": "owner"});
    let fixtures = write(&folder, json!({"users": [owner], "groups": groups}).to_string());
    let mut program = command();
    program.args(["serve", "--ephemeral", "--listen", "127.0.0.1:0", "--fixtures"]).arg(fixtures);
    let (out, log) = (std::process::Stdio::null(), std::process::Stdio::piped());
    let mut child = program.stdout(out).stderr(log).spawn().unwrap();
    // Its log fills the pipe, so it waits in the middle of the groups.
    let mut line = String::new();
    let mut log = std::io::BufReader::new(child.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut log, &mut line).unwrap();
    let files = open_files(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.contains("a group was created"), "{line}");
    let databases: Vec<&String> = files.iter().filter(|path| path.contains("chat.sqlite")).collect();
    assert!(!databases.is_empty(), "{files:?}");
    assert!(databases.iter().all(|path| path.ends_with(" (deleted)")), "{databases:?}");
}

#[tokio::test]
async fn wrong_fixtures_end_the_program_with_code_2_and_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("{\"users\": [\n\n]", "3: EOF while parsing"),
        ("{\"users\": [\n{\"email\": \"a@example.com\"}]}", "line 2: missing field `full_name`"),
        (
            "{\"users\": [{\"email\": \"a@example.com\", \"full_name\": \"A\"}],\n\
              \"settings\": {\"name\": \"B\"}}",
            "line 2: \"settings\" are those that an owner may change, and none of the \"users\" is one",
        ),
        (
            "{\"users\": [{\"email\": \"a@example.com\", \"full_name\": \"A\", \"role\": \"owner\"}],\n\
              \"channels\": [{\"name\": \"private\", \"private\": true}],\n\
              \"messages\": [\n{\"sender\": \"a@example.com\", \"channel\": \"private\", \"topic\": \"t\", \"content\": \"c\"}]}",
            "line 4: Not authorized to send to channel 'private'",
        ),
        (
            "{\"users\": [{\"email\": \"a@example.com\", \"full_name\": \"A\", \"role\": \"owner\"},\n\
              {\"email\": \"b@example.com\", \"full_name\": \"B\"}],\n\
              \"channels\": [{\"name\": \"private\", \"private\": true}],\n\
              \"messages\": [{\"sender\": \"b@example.com\", \"channel\": \"private\", \"topic\": \"t\", \"content\": \"c\"}]}",
            "line 4: Not authorized to send to channel 'private'",
        ),
        (
            "{\"users\": [{\"email\": \"a@example.com\", \"full_name\": \"A\", \"role\": \"owner\"}],\n\
              \"settings\": {\"name\": \"B\",\n\"nmae\": \"C\"}}",
            "line 3: PATCH /realm has no parameter nmae",
        ),
        (
            "{\"users\": [{\"email\": \"a@example.com\", \"full_name\": \"A\", \"role\": \"owner\",\n\
              \"settings\": {\"color_scheme\": 1,\n\"twenty_four_hour_time\": \"no\"}}]}",
            "line 3: twenty_four_hour_time is not valid JSON",
        ),
        (
            "{\"users\": [{\"email\": \"a@example.com\", \"full_name\": \"A\", \"role\": \"owner\"}],\n\
              \"channels\": [{\"name\": \"a\", \"permissions\": {\n\"can_send_message_group\": \"role:kings\"}}]}",
            "line 3: \"can_send_message_group\": there is no group with the name 'role:kings'",
        ),
    ];
    for (text, expected) in cases {
        let db = folder.path().join("chat.sqlite");
        for database in [vec!["--ephemeral".as_ref()], vec!["--db".as_ref(), db.as_os_str()]] {
            let mut program = command();
            program.args(["serve", "--listen", "127.0.0.1:0", "--fixtures"]).arg(write(&folder, text));
            let ended = program.args(database).output().unwrap();
            let said = String::from_utf8(ended.stderr).unwrap();
            assert_eq!(ended.status.code(), Some(2), "{said}");
            assert!(said.contains("fixtures.json") && said.contains(expected), "{said}");
            assert!(!db.exists(), "nothing is made for it");
        }
    }
}

#[tokio::test]
async fn fixtures_are_for_a_new_file_and_are_written_back() {
    let folder = tempfile::tempdir().unwrap();
    let (db, fixtures) = (folder.path().join("chat.sqlite"), write(&folder, SMALL));
    let serve = |more: &[&str]| {
        let mut program = command();
        program.args(["serve", "--listen", "127.0.0.1:0", "--json"]).args(more);
        program.arg("--db").arg(&db).arg("--fixtures").arg(&fixtures);
        program.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        program
    };
    let mut child = serve(&[]).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line)
        .unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    assert!(ready["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{line}");
    assert_eq!(ready["created"], true, "the database was missing");
    let dump = || command().args(["fixtures", "dump", "--db"]).arg(&db).output().unwrap();
    let running = dump();
    child.kill().unwrap();
    child.wait().unwrap();
    let again = serve(&[]).output().unwrap();
    let said = String::from_utf8(again.stderr).unwrap();
    assert_eq!(again.status.code(), Some(2), "{said}");
    assert!(said.contains("has users already; fixtures are for a new file"), "{said}");
    let stopped = dump();
    assert_eq!(running.stdout, stopped.stdout);
    let written: Value = serde_json::from_slice(&stopped.stdout).unwrap();
    let emails: Vec<_> = written["users"].as_array().unwrap().iter().map(|user| &user["email"]).collect();
    assert_eq!(emails, ["iago@example.com", "hamlet@example.com", "echo-bot@example.com"]);
    assert_eq!(written["users"][2]["api_key"], "echo-key");
    assert_eq!(written["messages"][0]["date"], "2026-01-01T00:00:00Z");
    // The written fixtures can be loaded.
    let server = Program::start(String::from_utf8(stopped.stdout).unwrap(), &[]);
    assert_eq!(server.get("/users/me", BOT).await["full_name"], "Echo");
    let sample = command().args(["fixtures", "sample"]).output().unwrap();
    let sample: Value = serde_json::from_slice(&sample.stdout).unwrap();
    let documented: Value = serde_json::from_str(include_str!("../../../docs/fixtures.json")).unwrap();
    let keys = |fixtures: &Value| -> Vec<Value> {
        let users = fixtures["users"].as_array().unwrap().iter();
        users.map(|user| json!([user["email"], user["api_key"], user["password"]])).collect()
    };
    assert_eq!(keys(&sample), keys(&documented));
    let missing = command().args(["fixtures", "dump", "--db", "missing.sqlite"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    assert!(!Path::new("missing.sqlite").exists());
}

#[tokio::test]
async fn without_the_flag_there_is_no_control() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command()
        .args(["serve", "--ephemeral", "--listen", "127.0.0.1:0", "--json", "--fixtures"])
        .arg(write(&folder, SMALL))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line)
        .unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(ready.as_object().unwrap().keys().collect::<Vec<_>>(), ["url", "urls", "version"]);
    check_no_control_at(ready["url"].as_str().unwrap()).await;
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn the_control_is_at_its_own_address_only() {
    let server = Program::start(SMALL, &[]);
    check_no_control_at(&server.url).await;
    let login = server.http.get(format!("{}/api/v1/dev_list_users", server.url)).send().await.unwrap();
    assert_eq!(login.status().as_u16(), 400, "there is no --dev");
    let refused = server.ask(Method::GET, "/api/v1/users/me", Value::Null).await;
    assert_eq!(refused.0, 404, "the control is not the server");
}

async fn check_no_control_at(url: &str) {
    let http = reqwest::Client::new();
    for (method, path) in [
        (Method::GET, "/requests"),
        (Method::DELETE, "/requests"),
        (Method::GET, "/clock"),
        (Method::PUT, "/clock"),
        (Method::GET, "/faults"),
        (Method::POST, "/faults"),
        (Method::DELETE, "/faults"),
        (Method::POST, "/queues/expire"),
        (Method::PUT, "/level"),
        (Method::DELETE, "/level"),
        (Method::POST, "/reset"),
        (Method::POST, "/restart"),
        (Method::POST, "/act"),
        (Method::GET, "/fixtures"),
    ] {
        for prefix in ["", "/api/v1"] {
            let status =
                http.request(method.clone(), format!("{url}{prefix}{path}")).send().await.unwrap().status();
            assert_eq!(status.as_u16(), 404, "{method} {prefix}{path}");
        }
    }
}
