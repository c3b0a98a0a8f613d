//! Backups and certificates in `teamchat status` and in the metrics.

use crate::authority::{Authority, DAY, NAME};
use crate::doctor::examine;
use crate::program::{Serving, change_database, command, create_owner, folder_with_database, words};
#[cfg(target_os = "linux")]
use crate::tables;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

/// The status of the server in a folder.
fn status(folder: &Path) -> Value {
    let output = command(&["status", "--json", "--db"]).arg(folder.join("chat.sqlite")).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{:?}", words(&output)))
}

/// The same as text.
fn screen(folder: &Path) -> String {
    words(&command(&["status", "--db"]).arg(folder.join("chat.sqlite")).output().unwrap()).1
}

/// The metrics, once they have a line that begins like this.
pub async fn metrics(serving: &Serving, line: &str) -> String {
    let url = serving.printed.lines().find_map(|line| line.trim().strip_prefix("metrics")).unwrap().trim();
    loop {
        let found = reqwest::get(url).await.unwrap().text().await.unwrap();
        if found.lines().any(|found| found.starts_with(line)) {
            return found;
        }
        tokio::task::yield_now().await;
    }
}

/// The value of a metric with these labels.
pub fn value(metrics: &str, name: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name}: {metrics}")).parse().unwrap()
}

/// A warning that has all of these words.
fn has_warning(status: &Value, parts: &[&str]) -> bool {
    let warnings = status["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap());
    warnings.into_iter().any(|warning| parts.iter().all(|part| warning.contains(part)))
}

#[test]
fn the_status_is_repeated_until_its_end() {
    let folder = folder_with_database();
    let folder = folder.path();
    let mut watch = command(&["status", "--watch", "--json", "--db"]);
    let mut watch = watch.arg(folder.join("chat.sqlite")).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut shown = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!(shown.next().unwrap()["running"], false);
    let serving = Serving::start(folder, &["--listen", "127.0.0.1:0"]);
    let running = shown.find(|status| status["running"] == true).unwrap();
    assert_eq!(running["address"].as_str(), Some(&*serving.origin()));
    watch.kill().unwrap();
    watch.wait().unwrap();
    serving.stop();
}

#[tokio::test]
async fn the_messages_of_the_last_hour_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ada = create_owner(folder);
    let serving = Serving::start(folder, &["--listen", "127.0.0.1:0"]);
    let (url, to) = (format!("{}/api/v1/messages", serving.origin()), format!("[{}]", ada["user_id"]));
    let client = reqwest::Client::new();
    for _ in 0..78 {
        let message = [("type", "direct"), ("to", to.as_str()), ("content", "hello")];
        let request = client.post(&url).basic_auth("ada@example.com", ada["api_key"].as_str());
        assert_eq!(request.form(&message).send().await.unwrap().status(), 200);
    }
    serving.stop();
    let older =
        "UPDATE message SET timestamp = timestamp - 3600 WHERE id <= (SELECT max(id) - ?1 FROM message)";
    for (newer, rate) in [(78, "1.3"), (60, "1.0"), (6, "0.1"), (5, "0.0")] {
        rusqlite::Connection::open(folder.join("chat.sqlite")).unwrap().execute(older, [newer]).unwrap();
        let status = status(folder);
        assert_eq!(status["messages_in_hour"], newer);
        let line =
            format!(", {} in the last day, {rate} a minute in the last hour\n", status["messages_in_day"]);
        assert!(screen(folder).contains(&line), "{line}: {}", screen(folder));
    }
}

#[tokio::test]
async fn backups_are_shown_while_the_server_runs_and_after_it() {
    let folder = folder_with_database();
    let folder = folder.path();
    let none = status(folder);
    assert_eq!((&none["backups"]["last_success"], &none["warnings"]), (&Value::Null, &json!([])));
    assert!(
        screen(folder).contains("  backup     none; `serve --backup-to DIR` makes them"),
        "{}",
        screen(folder)
    );

    let to = folder.join("backups");
    std::fs::create_dir(&to).unwrap();
    let flags =
        ["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--backup-every", "2h", "--backup-to"];
    let serving = Serving::start(folder, &[&flags[..], &[to.to_str().unwrap()]].concat());
    let last = "teamchat_backup_last_success_timestamp_seconds";
    let figures = metrics(&serving, last).await;
    let running = loop {
        // The figures are set before the entry of the audit log is written.
        let running = status(folder);
        if !running["backups"]["last_success"].is_null() {
            break running;
        }
    };
    let made = &running["backups"]["last_success"];
    let file = std::fs::metadata(to.join(made["name"].as_str().unwrap())).unwrap();
    assert_eq!(made["bytes"].as_u64(), Some(file.len()));
    assert_eq!(running["backup_folder"].as_str(), to.to_str());
    let time = made["time"].as_i64().unwrap();
    assert_eq!(running["backups"]["next_due"].as_i64(), Some(time + 2 * 60 * 60));
    assert_eq!(running["warnings"], json!([]));
    for (name, expected) in [
        (last, made["time"].as_f64().unwrap()),
        ("teamchat_backup_last_size_bytes", made["bytes"].as_f64().unwrap()),
        ("teamchat_backup_last_duration_seconds", made["milliseconds"].as_f64().unwrap() / 1000.0),
        ("teamchat_backup_interval_seconds", 7200.0),
        ("teamchat_backup_failed", 0.0),
        ("teamchat_backup_failures_total", 0.0),
    ] {
        assert!((value(&figures, name) - expected).abs() < 1e-6, "{name}: {figures}");
    }
    let shown = screen(folder);
    assert!(shown.contains(" s, next at 20"), "{shown}");
    serving.stop();
    let stopped = status(folder);
    assert_eq!(&stopped["backups"]["last_success"], made);
    assert_eq!((&stopped["backups"]["next_due"], &stopped["backup_folder"]), (&Value::Null, &Value::Null));

    // A backup of the command is the last one, too.
    let manual = folder.join("manual.zst");
    let mut backup = command(&["backup", "--db"]);
    assert!(backup.arg(folder.join("chat.sqlite")).arg(&manual).output().unwrap().status.success());
    assert_eq!(status(folder)["backups"]["last_success"]["name"].as_str(), manual.to_str());
}

#[tokio::test]
async fn a_failed_backup_is_a_warning() {
    let folder = folder_with_database();
    let folder = folder.path();
    // Nothing can be written to this one.
    let flags = ["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--backup-to", "/proc"];
    let serving = Serving::start(folder, &flags);
    let figures = metrics(&serving, "teamchat_backup_failed 1").await;
    assert!(value(&figures, "teamchat_backup_failures_total") >= 1.0, "{figures}");
    let running = status(folder);
    assert!(
        has_warning(
            &running,
            &["The backup failed at 20", "/proc: the disk has 0 MiB left", "`teamchat backup`"]
        ),
        "{running}"
    );
    assert!(screen(folder).contains("  backup     failed at 20"));
    serving.stop();
    let serving = Serving::start(folder, &["--listen", "127.0.0.1:0"]);
    assert!(has_warning(&status(folder), &["The last scheduled backup failed", "--backup-to"]));
    serving.stop();
}

#[tokio::test]
async fn the_end_of_the_certificate_is_shown() {
    let folder = folder_with_database();
    let folder = folder.path();
    let authority = Authority::new();
    // Some authorities issue certificates for two days. A new one of them has not ended soon.
    for (age, days, warns) in [(1, 90, false), (80, 90, true), (1, 2, false)] {
        let files = authority.issue_from(folder, &[NAME], SystemTime::now() - DAY * age, days);
        let flags = [&["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"][..], &files.flags()].concat();
        let serving = Serving::start(folder, &flags);
        let name = "teamchat_certificate_end_timestamp_seconds";
        let left = value(&metrics(&serving, name).await, name)
            - SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        assert!((left / 86_400.0 - f64::from(days - age)).abs() < 0.1, "{left}");
        // The alert rule compares it with the time.
        let name = "teamchat_certificate_warning_timestamp_seconds";
        let from = value(&metrics(&serving, name).await, name);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        assert_eq!(now >= from, warns, "{from}");
        let missing = "teamchat_certificate_missing";
        assert!(value(&metrics(&serving, missing).await, missing).abs() < 1e-6);
        let status = status(folder);
        assert_eq!(
            has_warning(
                &status,
                &["The certificate ends at 20", "replace the files of --tls-cert and --tls-key"]
            ),
            warns,
            "{status}"
        );
        serving.stop();
    }
}

/// The page about monitoring lists each metric that a server serves, once, and no other.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_page_lists_all_metrics() {
    /// Metrics that follow the first delivery.
    const LATER: [&str; 2] =
        ["teamchat_mail_last_success_timestamp_seconds", "teamchat_push_last_success_timestamp_seconds"];
    let folder = folder_with_database();
    let folder = folder.path();
    let waiting = "INSERT INTO outgoing_mail (kind, recipient, letter, created, expires, next_try)
         VALUES ('digest', 'ada@example.com', '{}', 0, 4000000000, 4000000000);
         INSERT INTO push_subscription (id, user_id, shows_content, origin)
         SELECT 1, user_id, 0, '' FROM user WHERE delivery_email = 'ada@example.com';
         INSERT INTO push_notification (subscription_id, tag, message_ids, queued, next_try)
         VALUES (1, 'a', x'', 0, 4000000000)";
    change_database(folder, waiting);
    let certificate = Authority::new().issue(folder, &[NAME], 90);
    let to = folder.join("backups");
    std::fs::create_dir(&to).unwrap();
    let addresses =
        ["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--backup-to", to.to_str().unwrap()];
    let mail = ["--smtp-url", "smtp://127.0.0.1:9?tls=none", "--mail-from", "chat@example.com"];
    let push =
        ["--push-bouncer", "http://127.0.0.1:9", "--push-org-id", "an id", "--push-org-key", "a secret"];
    let serving = Serving::start(folder, &[&addresses[..], &mail, &push, &certificate.flags()].concat());
    let served = metrics(&serving, "teamchat_backup_last_success_timestamp_seconds").await;
    serving.stop();
    let families = served.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let mut expected: Vec<&str> = families.chain(LATER).collect();
    expected.sort_unstable();
    let page = include_str!("../../docs/monitoring.md");
    let rows = tables::rows(page, "| Metrics | Description |");
    let mut listed: Vec<&str> = rows.flat_map(|cells| tables::names(cells[0])).collect();
    listed.sort_unstable();
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn quotas_of_uploads_are_warnings_and_metrics() {
    let folder = folder_with_database();
    let folder = folder.path();
    let used = |mib: u32| {
        let connection = rusqlite::Connection::open(folder.join("chat.sqlite")).unwrap();
        let sql = "UPDATE upload_state SET space_used = ?1 << 20;
            INSERT INTO upload_content (content_id) VALUES (1) ON CONFLICT DO NOTHING;
            INSERT INTO attachment (id, user_id, path_id, name, content_type, size, create_time, content_id)
            SELECT 1, user_id, 'a', 'a', 'b', 0, 0, 1 FROM user WHERE delivery_email = 'ada@example.com'
            ON CONFLICT DO NOTHING;
            UPDATE attachment SET size = ?1 << 20;";
        for statement in sql.split_inclusive(';') {
            let mut statement = connection.prepare(statement).unwrap();
            let parameters = vec![mib; statement.parameter_count()];
            statement.execute(rusqlite::params_from_iter(parameters)).unwrap();
        }
    };
    let serve = |person: &str| {
        let flags = ["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--upload-quota-mib", "100"];
        Serving::start(folder, &[&flags[..], &["--upload-quota-per-person-mib", person]].concat())
    };
    let all = "Uploaded files take 80 % of their quota: ask people to delete old files, or raise --upload-quota-mib.";
    let own = "The upload quota of ada@example.com (88 %) is almost used up: ask them to delete old files, or raise \
               --upload-quota-per-person-mib.";
    for (mib, person, warnings) in
        [(79, "100", json!([])), (79, "90", json!([own.replace("88", "87")])), (80, "90", json!([all, own]))]
    {
        used(mib);
        let serving = serve(person);
        assert_eq!(status(folder)["warnings"], warnings, "{mib} of {person}");
        let figures = metrics(&serving, "teamchat_upload_quota_bytes").await;
        assert!((value(&figures, "teamchat_upload_quota_bytes") - 104_857_600.0).abs() < 1e-6);
        assert!((value(&figures, "teamchat_uploads_bytes") - f64::from(mib << 20)).abs() < 1e-6);
        serving.stop();
    }
    examine(folder, &["--upload-quota-mib", "100"]).expect("warning", "uploads", &["80 MiB of 100 MiB"]);
    examine(folder, &[]).expect("ok", "uploads", &["80 MiB of 10240 MiB"]);
}

#[test]
fn sizes_of_parts_add_up_to_the_file() {
    let folder = folder_with_database();
    let folder = folder.path();
    let db = folder.join("chat.sqlite");
    let measure = |flags: &[&str]| {
        words(&command(&["status", "--sizes"]).args(flags).arg("--db").arg(&db).output().unwrap())
    };
    let (code, printed, said) = measure(&["--json"]);
    assert_eq!(code, 0, "{said}");
    let measured: Value = serde_json::from_str(&printed).unwrap();
    let parts = ["messages", "search", "events", "files", "other", "unused"];
    let sizes = measured["sizes"].as_object().unwrap();
    assert_eq!(sizes.keys().collect::<Vec<_>>(), parts);
    let sum: u64 = sizes.values().map(|size| size.as_u64().unwrap()).sum();
    let file = std::fs::metadata(&db).unwrap().len();
    assert!((file - 4 * 4096..=file).contains(&sum), "{sum} of {file}: {printed}");
    assert_eq!(measured["days_until_disk_full"], Value::Null, "a new organization does not grow");
    // Beside a server, too.
    let serving = Serving::start(folder, &["--listen", "127.0.0.1:0"]);
    let (_, printed, _) = measure(&[]);
    assert!(printed.contains("\n  parts      messages ") && printed.contains(", search index "), "{printed}");
    serving.stop();
    assert_eq!(status(folder)["sizes"], Value::Null);
    assert_eq!(measure(&["--watch"]).0, 2);
}

/// The warnings that begin like this.
#[track_caller]
fn expect_warning(folder: &Path, expected: &str) {
    let status = status(folder);
    let warnings = status["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning.as_str().unwrap().starts_with(expected)), "{status}");
}

#[test]
fn a_closed_organization_and_a_log_in_use_are_warnings() {
    let folder = folder_with_database();
    let folder = folder.path();
    let db = folder.join("chat.sqlite");
    // Zeros are no log. Nothing of it is read.
    std::fs::File::create(folder.join("chat.sqlite-wal")).unwrap().set_len(300 << 20).unwrap();
    expect_warning(
        folder,
        "The write-ahead log of the database has 300 MiB: another program, such as a backup that hangs,",
    );
    let close = ["organization", "deactivate", "--yes", "--db"];
    assert!(command(&close).arg(&db).output().unwrap().status.success());
    expect_warning(folder, "The organization is deactivated: run `teamchat organization reactivate`.");
}

#[test]
fn a_disk_that_files_will_fill_is_a_warning() {
    let folder = folder_with_database();
    let folder = folder.path();
    // More than any disk has, in each of the last 10 days.
    change_database(
        folder,
        "UPDATE user SET date_joined = unixepoch() - 10 * 86400 - 3600 WHERE NOT is_system_bot;
         INSERT INTO upload_content (content_id) VALUES (1);
         INSERT INTO attachment (id, user_id, path_id, name, content_type, size, create_time, content_id)
         SELECT 1, user_id, 'a', 'a', 'b', 1 << 60, unixepoch() - 3600, 1 FROM user WHERE delivery_email = 'ada@example.com'",
    );
    let expected =
        "The disk will be full in less than a day, at the growth of the last 10 days: free some space, ";
    expect_warning(folder, expected);
    assert!(screen(folder).contains(" free, enough for 0 days at "), "{}", screen(folder));
}

#[test]
fn letters_that_are_dropped_are_a_warning() {
    let folder = folder_with_database();
    let folder = folder.path();
    change_database(
        folder,
        "WITH RECURSIVE letter (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM letter WHERE number < 15000)
         INSERT INTO outgoing_mail (kind, recipient, letter, created, expires, next_try)
         SELECT 'digest', 'ada@example.com', '{}', 0, 4000000000, 4000000000 FROM letter",
    );
    let flags =
        ["--listen", "127.0.0.1:0", "--smtp-url", "smtp://127.0.0.1:9", "--mail-from", "chat@example.com"];
    let serving = Serving::start(folder, &flags);
    expect_warning(
        folder,
        "15000 emails are waiting, and new emails are dropped: use a mail server that accepts more",
    );
    serving.stop();
}

/// A pipe keeps its reader waiting, as a folder of another machine that does not respond.
#[cfg(unix)]
#[test]
fn a_server_stops_while_the_folder_of_backups_hangs() {
    let folder = folder_with_database();
    let folder = folder.path();
    let to = folder.join("backups");
    std::fs::create_dir(&to).unwrap();
    let connection = rusqlite::Connection::open(folder.join("chat.sqlite")).unwrap();
    let uuid: String = connection.query_row("SELECT uuid FROM realm", [], |row| row.get(0)).unwrap();
    drop(connection);
    let list = to.join(format!(".teamchat-backups-{uuid}.json"));
    assert!(std::process::Command::new("mkfifo").arg(&list).status().unwrap().success());
    let serving = Serving::start(folder, &["--listen", "127.0.0.1:0", "--backup-to", to.to_str().unwrap()]);
    // Opens when the server reads the list.
    let held = std::fs::File::options().write(true).open(&list).unwrap();
    assert!(screen(folder).contains("  backup     none yet\n"), "{}", screen(folder));
    serving.stop();
    drop(held);
}
