//! Warnings of space and quotas that run out, and rows that are removed after a time.

use crate::harness::{Client, TestServer};
use crate::uploads::upload;
use serde_json::json;
use teamchat::app::{Options, Overrides};
use teamchat::commands::Command;
use teamchat::scheduler;
use teamchat::server::limit_replicated_log;

/// Seconds after which the space is measured again.
const INTERVAL: i64 = 10 * 60;

/// Lets the time pass after which the space is measured.
async fn measure(server: &TestServer) {
    server.clock.advance(INTERVAL);
    scheduler::settle(server.app()).await;
}

#[tokio::test]
async fn owners_are_warned_before_the_quota_of_files_is_used_up() {
    let options = Options { upload_quota_mib: Some(20), ..Options::default() };
    let server = TestServer::start_with(options).await;
    let (owner, ada) = (server.owner().await, server.administrator("ada").await);
    let ok = "UPDATE upload_state SET space_used = 0";
    let fill = async |mib: i64| {
        server.sql(&format!("UPDATE upload_state SET space_used = {mib} << 20")).await;
        measure(&server).await;
    };
    fill(15).await;
    assert_eq!(owner.notices().await, [""; 0]);
    fill(16).await;
    let warned = owner.notices().await;
    assert_eq!(warned.len(), 1);
    assert!(warned[0].starts_with("Uploaded files take 80 % of their quota; 4 MiB are left."), "{warned:?}");
    // Not again, also after a start, nor while it is about the same.
    let mut server = server;
    server.restart().await;
    measure(&server).await;
    server.sql("UPDATE upload_state SET space_used = 31 << 19").await;
    measure(&server).await;
    server.sql("UPDATE upload_state SET space_used = 16 << 20").await;
    measure(&server).await;
    assert_eq!(owner.notices().await.len(), 1);
    // When it becomes worse, and when it is over and comes back.
    server.sql("UPDATE upload_state SET space_used = 19 << 20").await;
    measure(&server).await;
    assert!(owner.notices().await[1].contains("take 95 % of their quota; 1 MiB"));
    server.sql(ok).await;
    measure(&server).await;
    assert_eq!(owner.notices().await.len(), 2);
    server.sql("UPDATE upload_state SET space_used = 17 << 20").await;
    scheduler::settle(server.app()).await;
    assert_eq!(owner.notices().await.len(), 2, "it is measured every ten minutes");
    measure(&server).await;
    assert!(owner.notices().await[2].contains("take 85 %"));
    owner.patch("/settings", json!({"default_language": "de"})).await.ok();
    server.sql("UPDATE upload_state SET space_used = 20 << 20").await;
    measure(&server).await;
    assert!(
        owner.notices().await[3].starts_with("Hochgeladene Dateien belegen 100 % ihres Kontingents; 0 MiB")
    );
    assert_eq!(ada.notices().await, [""; 0], "only owners are notified");
}

#[tokio::test]
async fn people_are_warned_before_their_own_quota_is_used_up() {
    let options = Options { upload_quota_per_person_mib: Some(20), ..Options::default() };
    let mut server = TestServer::start_with(options).await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let bot = server.bot("helper", &ada).await;
    for client in [&ada, &bot, &owner] {
        upload(client, "file", b"x").await;
    }
    let set = async |server: &TestServer, client: &Client, mib: i64| {
        let files = format!("UPDATE attachment SET size = {mib} << 20 WHERE user_id = {}", client.user_id);
        server.sql(&files).await;
        measure(server).await;
    };
    let notices = async |client: &Client| {
        let mut notices = client.notices().await;
        notices.retain(|text| text.starts_with("Your uploaded files"));
        notices
    };
    let levels = "SELECT value FROM counter WHERE name LIKE 'told_upload_quota_of%' ORDER BY value";
    set(&server, &ada, 8).await;
    set(&server, &bot, 7).await;
    assert_eq!(notices(&ada).await, [""; 0]);
    set(&server, &bot, 8).await;
    let text = "Your uploaded files, with those of your bots, take 80 % of your quota; 4 MiB are left. When it is used up, \
                you cannot upload. You can delete old files in the settings.";
    assert_eq!(notices(&ada).await, [text]);
    set(&server, &bot, 9).await;
    assert_eq!(notices(&ada).await.len(), 1, "it is about the same");
    set(&server, &bot, 11).await;
    assert!(notices(&ada).await[1].contains("take 95 % of your quota; 1 MiB"));
    // When it is over and comes back.
    set(&server, &bot, 1).await;
    assert_eq!(server.column(levels).await, [""; 0]);
    set(&server, &bot, 8).await;
    assert_eq!((notices(&ada).await.len(), notices(&owner).await.len()), (3, 0), "others are not notified");
    set(&server, &owner, 19).await;
    assert!(notices(&owner).await[0].contains("95 %"));
    server.restart().await;
    measure(&server).await;
    assert_eq!(server.column(levels).await, ["80", "95"]);
    assert_eq!((notices(&ada).await.len(), notices(&owner).await.len()), (3, 1), "not again after a start");
}

#[tokio::test]
async fn the_status_names_five_people_whose_quota_is_almost_used_up() {
    let options = Options { upload_quota_per_person_mib: Some(20), ..Options::default() };
    let server = TestServer::start_with(options).await;
    let people = server.crowd(7).await;
    let named: Vec<String> = (0..5).map(|number| format!("person{number}@example.com (90 %)")).collect();
    for (number, client) in people.iter().enumerate() {
        upload(client, "file", b"x").await;
        server.sql("UPDATE attachment SET size = 18 << 20").await;
        let all = named[..named.len().min(number + 1)].join(", ");
        let more = if number < 5 { String::new() } else { format!(" and {} more", number - 4) };
        let expected =
            format!("The upload quota of {all}{more} is almost used up: ask them to delete old files");
        let warnings = server.command(Command::Status).await["warnings"].to_string();
        assert!(warnings.contains(&expected), "{expected}: {warnings}");
    }
}

#[tokio::test]
async fn members_are_warned_of_their_share_and_administrators_have_none() {
    let options =
        Options { max_file_upload_size_mib: Some(1), upload_quota_mib: Some(80), ..Options::default() };
    let server = TestServer::start_with(options).await;
    let (admin, ada) = (server.administrator("admin").await, server.member("ada").await);
    for client in [&admin, &ada] {
        upload(client, "file", b"x").await;
    }
    server.sql("UPDATE attachment SET size = 18 << 20").await;
    server.sql("UPDATE upload_state SET space_used = 72 << 20").await;
    measure(&server).await;
    let statement = "SELECT name || ' ' || value FROM counter WHERE name LIKE 'told_upload%' ORDER BY name";
    let expected = ["told_upload_quota 80".to_owned(), format!("told_upload_quota_of_{} 80", ada.user_id)];
    assert_eq!(server.column(statement).await, expected);
}

#[tokio::test]
async fn owners_are_warned_of_a_full_disk() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let server = server
        .with_options(Options {
            overrides: Overrides { disk_warning: Some(Overrides::NO_DISK_WARNING), ..Overrides::default() },
            ..Options::default()
        })
        .await;
    measure(&server).await;
    assert_eq!(owner.notices().await, [""; 0]);
    let server = server
        .with_options(Options {
            overrides: Overrides { disk_warning: Some(1), ..Overrides::default() },
            ..Options::default()
        })
        .await;
    scheduler::settle(server.app()).await;
    let warned = owner.notices().await;
    assert!(warned.len() == 1 && warned[0].starts_with("The disk of this server is "), "{warned:?}");
}

#[tokio::test]
async fn scheduled_messages_are_forgotten_a_month_after_they_were_sent() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let link = upload(&ada, "plan.txt", b"plan").await;
    let schedule = async |content: &str, days: i64| {
        let at = server.clock.seconds() + days * 24 * 60 * 60;
        let message = json!({"type": "direct", "to": [ada.user_id], "content": content,
            "scheduled_delivery_timestamp": at});
        ada.post("/scheduled_messages", message).await.ok();
    };
    schedule("soon", 1).await;
    schedule(&format!("with a [file]({link})"), 1).await;
    schedule("late", 40).await;
    let left = async || server.column("SELECT count(*) FROM scheduled_message").await;
    let pass = async |days: i64| {
        server.clock.advance(days * 24 * 60 * 60);
        scheduler::settle(server.app()).await;
    };
    pass(1).await;
    pass(29).await;
    assert_eq!(left().await, ["3"]);
    pass(2).await;
    assert_eq!(left().await, ["1"], "those that were sent are gone");
    pass(8).await;
    let received =
        ada.get("/messages", json!({"anchor": "newest", "num_before": 9, "num_after": 0})).await.ok();
    assert!(
        received["messages"].as_array().unwrap().iter().any(|message| message["content"] == "<p>late</p>")
    );
}

#[tokio::test]
async fn invitations_are_forgotten_a_month_after_their_end() {
    const DAY: i64 = 24 * 60 * 60;
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let link = async |minutes: Option<i64>| {
        let invite = json!({"invite_expires_in_minutes": minutes, "stream_ids": []});
        owner.post("/invites/multiuse", invite).await.ok();
        server.column("SELECT max(invite_id) FROM invite").await.remove(0)
    };
    let (expiring, lasting, revoked) = (link(Some(24 * 60)).await, link(None).await, link(None).await);
    owner.delete(&format!("/invites/multiuse/{revoked}"), ()).await.ok();
    let left = async || server.column("SELECT invite_id FROM invite ORDER BY invite_id").await;
    let pass = async |seconds: i64| {
        server.clock.advance(seconds);
        scheduler::settle(server.app()).await;
    };
    pass(DAY).await;
    pass(29 * DAY).await;
    let msg = "Invitation has already been revoked";
    owner.delete(&format!("/invites/multiuse/{revoked}"), ()).await.error(400, "BAD_REQUEST", msg);
    pass(INTERVAL).await;
    assert_eq!(left().await, [expiring.clone(), lasting.clone()]);
    pass(DAY).await;
    assert_eq!(left().await, [lasting]);
}

#[tokio::test]
async fn budgets_of_notices_are_removed_after_a_day() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    owner.patch(&format!("/users/{}", ada.user_id), json!({"role": 300})).await.ok();
    let left = async || server.column("SELECT count FROM notice_budget").await;
    measure(&server).await;
    assert_eq!(left().await, ["1"]);
    server.clock.advance(24 * 60 * 60);
    measure(&server).await;
    measure(&server).await;
    assert_eq!(left().await, [""; 0]);
}

/// Backups that hang and fail.
#[cfg(unix)]
mod backups {
    use crate::harness::{START, TestServer};
    use crate::program::run;
    use reqwest::Method;
    use serde_json::json;
    use std::path::Path;
    use std::process::Command as Program;
    use teamchat::app::{BackupOptions, Options};
    use teamchat::commands::Command;
    use teamchat::domain::backups::name_of;
    use teamchat::scheduler;
    use teamchat::types::timestamp;

    const HOUR: i64 = 60 * 60;

    fn at(seconds: i64) -> String {
        timestamp(seconds).to_string()
    }

    /// The line about backups of `teamchat status`, and the warnings about them.
    async fn backup_status(server: &TestServer) -> (String, Vec<String>) {
        let output = run(&server.database(), &["status"]);
        let printed = String::from_utf8(output.stdout).unwrap();
        let line = printed.lines().find_map(|line| line.strip_prefix("  backup     "));
        let status = server.command(Command::Status).await;
        let warnings = status["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap());
        let warnings = warnings.filter(|warning| warning.contains("backup")).map(str::to_owned).collect();
        (line.unwrap_or_else(|| panic!("{printed}")).to_owned(), warnings)
    }

    /// Makes a pipe. Reading it waits until [`release`] opens it.
    fn make_pipe(path: &Path) {
        assert!(Program::new("mkfifo").arg(path).status().unwrap().success());
    }

    fn release(pipe: &Path) {
        std::fs::File::options().write(true).open(pipe).unwrap();
    }

    /// As in a folder of another machine that does not respond.
    #[tokio::test]
    async fn backups_that_hang_and_fail_are_in_the_status_and_sent_to_owners() {
        let server = TestServer::start().await;
        let owner = server.owner().await;
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("backups");
        std::fs::create_dir(&to).unwrap();
        let pipe = to.join(format!("{}.copy", name_of(START, false)));
        make_pipe(&pipe);
        let backups =
            BackupOptions { folder: to.clone(), every: HOUR, keep: "7d".to_owned(), recipients: Vec::new() };
        let server = server.with_options(Options { backups: Some(backups), ..Options::default() }).await;
        let pass = |seconds: i64| {
            server.clock.advance(seconds);
            scheduler::wake(server.app());
        };
        let nth_notice = async |count: usize| {
            loop {
                let sent = owner.notices().await;
                if sent.len() >= count {
                    assert_eq!(sent.len(), count, "{sent:?}");
                    return sent[count - 1].clone();
                }
            }
        };
        let overdue = |last: &str, running: &str| {
            let to = to.display();
            format!(
                "The last scheduled backup is overdue: no backup was made since {last}{running}. Check whether {to} responds, and \
                 look into the log."
            )
        };
        let succeeded = "The backup of this server succeeded again.";

        while server.app().backups.status().running_since.is_none() {
            tokio::task::yield_now().await;
        }
        let running = format!("running since {}", at(START));
        assert_eq!(backup_status(&server).await, (running.clone(), Vec::new()));
        pass(2 * HOUR + 1);
        assert!(nth_notice(1).await.starts_with("The backup of this server is overdue."));
        let health = server.anonymous().request_outside(Method::GET, "/health").send().await.ok();
        assert_eq!(health["warnings"], json!(["There was no backup for a long time."]));
        let expected = overdue(&at(START), &format!(", and one has been {running}"));
        assert_eq!(backup_status(&server).await, (running, vec![expected]));
        release(&pipe);
        assert_eq!(nth_notice(2).await, succeeded);
        // The next one is due at once.
        let (last, due) = (START + 2 * HOUR + 1, START + 3 * HOUR + 1);
        while server.app().backups.status().next_due != Some(due) {
            tokio::task::yield_now().await;
        }
        let (line, warnings) = backup_status(&server).await;
        let expected = format!(" s, next at {}", at(due));
        assert!(line.starts_with(&at(last)) && line.ends_with(&expected), "{line}");
        assert!(warnings.is_empty(), "{warnings:?}");

        let away = folder.path().join("away");
        std::fs::rename(&to, &away).unwrap();
        pass(HOUR);
        assert!(nth_notice(3).await.starts_with("The backup of this server failed: `"));
        let (line, warnings) = backup_status(&server).await;
        let expected = format!(" s, failed at {}, next at {}", at(due), at(due + 600));
        assert!(line.starts_with(&at(last)) && line.ends_with(&expected), "{line}");
        assert!(warnings.len() == 1 && warnings[0].starts_with("The backup failed at "), "{warnings:?}");
        std::fs::rename(&away, &to).unwrap();
        pass(600);
        assert_eq!(nth_notice(4).await, succeeded);

        // The folder hangs before a backup begins.
        let mut files = std::fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().path());
        let index = files.find(|path| path.extension().is_some_and(|ending| ending == "json")).unwrap();
        std::fs::remove_file(&index).unwrap();
        make_pipe(&index);
        pass(2 * HOUR + 1);
        assert!(nth_notice(5).await.starts_with("The backup of this server is overdue."));
        assert_eq!(backup_status(&server).await.1, [overdue(&at(due + 600), "")]);
        release(&index);
        assert_eq!(nth_notice(6).await, succeeded);
    }

    /// A backup that was made while the clock was ahead does not count. Otherwise each wakeup of the tasks would make another one, and a
    /// rule that keeps few would remove it again.
    #[tokio::test]
    async fn a_clock_that_was_ahead_causes_no_further_backups() {
        for (keep, keeps_first) in [("7d", true), ("1d", false)] {
            let server = TestServer::start().await;
            let folder = tempfile::tempdir().unwrap();
            let backups = BackupOptions {
                folder: folder.path().to_owned(),
                every: HOUR,
                keep: keep.to_owned(),
                recipients: Vec::new(),
            };
            let server = server.with_options(Options { backups: Some(backups), ..Options::default() }).await;
            let has_made = async |time: i64| {
                scheduler::settle(server.app()).await;
                folder.path().join(name_of(time, false)).exists()
            };
            assert!(has_made(START).await);
            let ahead = START + 365 * 24 * HOUR;
            server.clock.set_wall(ahead);
            assert!(has_made(ahead).await);
            server.clock.set_wall(START + 60);
            assert_eq!(has_made(START + 60).await, !keeps_first, "{keep}");
            server.clock.advance(60);
            assert!(!has_made(START + 120).await, "{keep}");
            server.clock.advance(HOUR);
            assert!(has_made(START + 120 + HOUR).await, "{keep}");
            assert!(has_made(ahead).await, "{keep}: it stays until its time comes");
            assert!(!server.app().is_backup_overdue());
        }
    }

    #[tokio::test]
    async fn owners_are_warned_of_backups_that_no_restore_accepts() {
        let server = TestServer::start().await;
        let owner = server.owner().await;
        server.sql("CREATE INDEX costly ON client (hex(name))").await;
        let folder = tempfile::tempdir().unwrap();
        let backups = BackupOptions {
            folder: folder.path().to_owned(),
            every: HOUR,
            keep: "7d".to_owned(),
            recipients: Vec::new(),
        };
        let server = server.with_options(Options { backups: Some(backups), ..Options::default() }).await;
        scheduler::settle(server.app()).await;
        let notices = owner.notices().await;
        let expected =
            "The backup of this server cannot be restored: `the index costly is not of this program`. ";
        assert!(notices.len() == 1 && notices[0].starts_with(expected), "{notices:?}");
        for (sql, count) in [("SELECT 1", 1), ("DROP INDEX costly", 2), ("SELECT 1", 2)] {
            server.sql(sql).await;
            server.clock.advance(HOUR);
            scheduler::settle(server.app()).await;
            assert_eq!(owner.notices().await.len(), count, "{sql}");
        }
        assert_eq!(owner.notices().await[1], "The backup of this server succeeded again.");
    }
}

#[tokio::test]
async fn the_growth_of_the_last_30_days_says_how_long_the_disk_lasts() {
    const DAY: i64 = 24 * 60 * 60;
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let send = async |copies: u32| {
        let id = ada.send_direct(&[&ada], &"long ".repeat(1000)).await;
        server.add_copies(id, copies).await;
    };
    let status = async || server.command(Command::Status).await;
    send(2000).await;
    let new = status().await;
    assert_eq!(new["messages_in_30_days"], new["newest_message_id"], "all are new");
    server.clock.advance(10 * DAY);
    assert_eq!(status().await["days"], 10, "the organization is that old");
    server.clock.advance(30 * DAY);
    let still = status().await;
    assert_eq!((&still["days"], &still["messages_in_30_days"]), (&json!(30), &json!(0)));
    assert_eq!((&still["growth_bytes_per_day"], &still["days_until_disk_full"]), (&json!(0), &json!(null)));
    send(999).await;
    let grown = status().await;
    assert_eq!(grown["messages_in_30_days"], 1000);
    let number = |name: &str| grown[name].as_i64().unwrap();
    let of_messages = number("database_bytes") - number("unused_bytes") - number("upload_bytes") - (2 << 20);
    let growth = 1000 * (of_messages / number("newest_message_id")) / 30;
    assert!(growth > 0, "{grown}");
    assert_eq!(number("growth_bytes_per_day"), growth);
    assert_eq!(number("days_until_disk_full"), number("disk_free_bytes") / growth);
}

/// Without a program that replicates it, the log does not fill the disk.
#[cfg(unix)]
#[tokio::test]
async fn a_log_that_another_program_replicates_is_emptied_from_a_gib_on() {
    let server = TestServer::start_with(Options { is_replicated: true, ..Options::default() }).await;
    let ada = server.member("ada").await;
    let log = server.database().with_extension("sqlite-wal");
    let size = || std::fs::metadata(&log).unwrap().len();
    let send = async || {
        let message = json!({"type": "direct", "to": [ada.user_id], "content": "hello"});
        ada.post("/messages", message).await.ok();
    };
    send().await;
    let before = size();
    limit_replicated_log(server.app()).await;
    send().await;
    assert!(size() > before, "a log that is emptied starts from its beginning");
    // Zeros at its end are no part of it, and take no space.
    std::fs::File::options().write(true).open(&log).unwrap().set_len((1 << 30) + 1).unwrap();
    // A read that goes on puts it off.
    while size() > 16 << 20 {
        limit_replicated_log(server.app()).await;
        send().await;
    }
}
