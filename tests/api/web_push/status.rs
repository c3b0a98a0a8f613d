//! Notifications in `teamchat status`.

use super::bouncer::{self, Bouncer, phone};
use super::service::{self, Browser, PushService};
use crate::harness::{START, TestServer};
use serde_json::{Value, json};
use teamchat::commands::Command;

/// The status of a transport, and the warnings about it.
async fn status(server: &TestServer, transport: &str, problem: &str) -> (Value, Vec<String>) {
    let status = server.command(Command::Status).await;
    let warnings = status["warnings"].as_array().unwrap().iter();
    let warnings = warnings.map(|warning| warning.as_str().unwrap().to_owned());
    (status[transport].clone(), warnings.filter(|warning| warning.starts_with(problem)).collect())
}

#[tokio::test]
async fn push_services_that_fail_are_warnings_after_a_quarter_of_an_hour() {
    let (mut service, server) = PushService::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    Browser::subscribed(&server, &ada, &service).await;
    let of = async || status(&server, "web_push", "No push service accepted a notification").await;
    bob.send_direct(&[&ada], "hello").await;
    assert_eq!(service.all(&server).await.len(), 1);
    let mut expected = json!({"waiting": 0, "oldest_waiting": null, "sent": 1, "refused": 0, "expired": 0,
        "failures": 0, "last_success": START, "failing_since": null, "error": null});
    assert_eq!(of().await, (expected.clone(), Vec::new()));

    service.reply([service::Reply::Status(503, ""), service::Reply::Status(502, "")]);
    server.clock.advance(1);
    bob.send_direct(&[&ada], "are you there?").await;
    assert_eq!(service.all(&server).await.len(), 1);
    for (name, value) in [
        ("waiting", json!(1)),
        ("oldest_waiting", json!(START + 1)),
        ("failures", json!(1)),
        ("failing_since", json!(START + 1)),
        ("error", json!("127.0.0.1 answers with the status 503")),
    ] {
        expected[name] = value;
    }
    assert_eq!(of().await, (expected.clone(), Vec::new()));
    server.clock.advance(15 * 60);
    assert_eq!(service.all(&server).await.len(), 1);
    expected["failures"] = json!(2);
    expected["error"] = json!("127.0.0.1 answers with the status 502");
    let (found, warnings) = of().await;
    assert_eq!((found, warnings.len()), (expected.clone(), 1));
    let warning = "127.0.0.1 answers with the status 502. 1 notifications wait; allow this machine HTTPS requests to the \
                   internet, or turn Web Push off with `--web-push off`.";
    assert!(warnings[0].ends_with(warning), "{warnings:?}");

    server.clock.advance(15 * 60);
    assert_eq!(service.all(&server).await.len(), 1);
    for (name, value) in [
        ("waiting", json!(0)),
        ("oldest_waiting", Value::Null),
        ("sent", json!(2)),
        ("last_success", json!(START + 1 + 30 * 60)),
        ("failing_since", Value::Null),
        ("error", Value::Null),
    ] {
        expected[name] = value;
    }
    assert_eq!(of().await, (expected.clone(), Vec::new()));
    // A browser that is gone is no failure of the service.
    service.reply([service::Reply::Status(410, "")]);
    bob.send_direct(&[&ada], "hello?").await;
    assert_eq!(service.all(&server).await.len(), 1);
    expected["refused"] = json!(1);
    assert_eq!(of().await, (expected, Vec::new()));
}

#[tokio::test]
async fn a_bouncer_that_fails_is_a_warning() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    phone(&mut bouncer, &ada, "google").await;
    let of = async || status(&server, "phone_push", "The push bouncer accepted no notification").await;
    bob.send_direct(&[&ada], "hello").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    let (found, warnings) = of().await;
    assert_eq!((&found["sent"], &found["last_success"], warnings.len()), (&json!(1), &json!(START), 0));

    bouncer.always(Some(bouncer::Reply::Status(500, "")));
    bob.send_direct(&[&ada], "are you there?").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    server.clock.advance(15 * 60);
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    let (found, warnings) = of().await;
    assert_eq!(
        (&found["failures"], &found["waiting"], &found["failing_since"]),
        (&json!(2), &json!(1), &json!(START))
    );
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].ends_with("check --push-bouncer, --push-org-id and --push-org-key."), "{warnings:?}");
}

/// Without a bouncer there is nothing to say about phones, and nothing about browsers without Web Push.
#[tokio::test]
async fn transports_that_are_off_have_no_status() {
    let server = TestServer::start().await;
    let found = server.command(Command::Status).await;
    assert_eq!((found["web_push"]["waiting"].as_i64(), &found["phone_push"]), (Some(0), &Value::Null));
    let mut options = PushService::start().options();
    options.web_push.is_off = true;
    let server = TestServer::start_with(options).await;
    assert_eq!(server.command(Command::Status).await["web_push"], Value::Null);
}
