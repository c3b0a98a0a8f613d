//! Exports that administrators ask for. The archives themselves: `moving/export`.

use crate::harness::{Client, START, TestServer};
use crate::moving::export::archive::Archive;
use crate::moving::export::checker::{assert_sound, hex};
use hyper::Method;
use serde_json::{Value, json};
use teamchat::app::{Options, Overrides};
use teamchat::scheduler;

async fn settled(server: &TestServer) {
    scheduler::settle(server.app()).await;
}

async fn list(client: &Client) -> Vec<Value> {
    client.get("/export/realm", ()).await.ok()["exports"].as_array().unwrap().clone()
}

/// The path of an archive, for clients of the harness.
fn path_of(export: &Value) -> String {
    let url = export["export_url"].as_str().unwrap();
    let at = url.find("/user_avatars/exports/1/").unwrap();
    url[at..].to_owned()
}

// conformance: export-1, export-2, export-5, export-6, export-7, export-8
#[tokio::test]
async fn an_export_is_asked_for_announced_and_downloaded() {
    let server = TestServer::start().await;
    let (owner, adam, ada) =
        (server.owner().await, server.administrator("adam").await, server.member("ada").await);
    let harbour = server.channel("harbour", &[&owner, &ada]).await;
    let sent = ada.send(harbour, "boats", "ahoy").await;
    let direct = ada.send_direct(&[&adam], "secret").await;
    adam.patch("/settings", json!({"default_language": "de"})).await.ok();

    let types = json!({"event_types": ["realm_export"]});
    let (mut of_owner, mut of_ada) = (owner.register(types.clone()).await, ada.register(types).await);
    let started = adam.post("/export/realm", ()).await.ok();
    settled(&server).await;
    let mut record = json!({
        "id": 1, "acting_user_id": adam.user_id, "export_time": START, "export_type": 1, "export_url": null,
        "pending": true, "failed_timestamp": null, "deleted_timestamp": null,
    });
    assert_eq!(started["id"], 1);
    let exports = list(&adam).await;
    let url = exports[0]["export_url"].clone();
    let asked = json!({"type": "realm_export", "exports": [record]});
    record["pending"] = false.into();
    record["export_url"] = url.clone();
    assert_eq!(exports, [record.clone()]);
    of_owner.expect(&[asked, json!({"type": "realm_export", "exports": [record]})]).await;
    of_ada.expect_nothing().await;

    let notice = adam.notices().await.pop().unwrap();
    let link = "[Exporte ansehen und herunterladen](/#organization/data-exports-admin)";
    assert_eq!(notice, format!("Dein Datenexport ist fertig. {link}."));

    // Without a login, whole and in parts.
    let path = path_of(&exports[0]);
    assert!(path.ends_with(".tar.gz") && path.len() > 60, "{path}");
    let download = async |range: Option<&str>| {
        let request = reqwest::Client::new().get(format!("http://{}{path}", server.address()));
        let request = match range {
            Some(range) => request.header("Range", range),
            None => request,
        };
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.bytes().await.unwrap())
    };
    let (status, whole) = download(None).await;
    assert_eq!(status, 200);
    let (status, part) = download(Some("bytes=10-19")).await;
    assert_eq!((status, &part[..]), (206, &whole[10..20]));
    assert_eq!(download(Some("bytes=99999999-")).await.0, 416);
    let archive = Archive::read(&whole);
    assert_sound(&archive);
    assert_eq!(archive.row("zerver_message", sent)["content"], "ahoy");
    assert!(archive.table("zerver_message").iter().all(|message| message["id"] != direct));
    let digest = hex(&<sha2::Sha256 as sha2::Digest>::digest(&whole));
    assert_eq!(server.column("SELECT sha256 FROM realm_export").await, [digest]);

    let refused = "Must be an organization administrator";
    for (method, path) in
        [(Method::GET, "/export/realm"), (Method::POST, "/export/realm"), (Method::DELETE, "/export/realm/1")]
    {
        ada.request(method, path).send().await.error(400, "UNAUTHORIZED_PRINCIPAL", refused);
    }
    for wrong in [0, 3] {
        let msg = "Invalid export_type: Value error, Not in the list of possible values";
        owner.post("/export/realm", json!({"export_type": wrong})).await.error(400, "BAD_REQUEST", msg);
    }
}

// conformance: export-6, export-8, export-9
#[tokio::test]
async fn archives_are_deleted_by_administrators_and_after_a_week() {
    let server = TestServer::start().await;
    let (owner, adam) = (server.owner().await, server.administrator("adam").await);
    owner.post("/export/realm", ()).await.ok();
    owner.post("/export/realm", ()).await.ok();
    settled(&server).await;
    let exports = list(&owner).await;
    let gone = path_of(&exports[0]);
    server.clock.advance(60);
    adam.delete("/export/realm/1", ()).await.ok();
    let after = list(&owner).await;
    assert_eq!((&after[0]["export_url"], &after[0]["deleted_timestamp"]), (&Value::Null, &json!(START + 60)));
    assert_eq!(after[1], exports[1]);
    let get = async |path: &str| {
        let url = format!("http://{}{path}", server.address());
        reqwest::get(url).await.unwrap().status().as_u16()
    };
    assert_eq!(get(&gone).await, 404);
    assert_eq!(get(&path_of(&exports[1])).await, 200);
    assert_eq!(get("/user_avatars/exports/1/abc/zulip-export-1.tar.gz").await, 404);

    let refused = async |id: i64, msg: &str| {
        owner.delete(&format!("/export/realm/{id}"), ()).await.error(400, "BAD_REQUEST", msg);
    };
    refused(1, "Export already deleted").await;
    refused(7, "Invalid data export ID").await;
    server
        .sql(
            "INSERT INTO realm_export (id, type, acting_user_id, origin, date_requested, date_started)
        SELECT 3, 1, acting_user_id, origin, 1, 1 FROM realm_export WHERE id = 1",
        )
        .await;
    refused(3, "Export still in progress").await;
    server.sql("UPDATE realm_export SET date_failed = 2 WHERE id = 3").await;
    refused(3, "Export failed, nothing to delete").await;

    server.clock.advance(7 * 24 * 60 * 60);
    settled(&server).await;
    let last = list(&owner).await;
    assert_eq!(last[1]["export_url"], Value::Null);
    assert!(last[1]["deleted_timestamp"].is_i64());
    settled(&server).await;
    assert_eq!(server.column("SELECT count(*) FROM upload_piece").await, ["0"]);
}

// conformance: export-3
#[tokio::test]
async fn exports_are_limited_to_five_a_week() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    for _ in 0..5 {
        owner.post("/export/realm", ()).await.ok();
    }
    owner.post("/export/realm", ()).await.error(400, "BAD_REQUEST", "Exceeded rate limit.");
    settled(&server).await;
    owner.delete("/export/realm/1", ()).await.ok();
    owner.post("/export/realm", ()).await.error(400, "BAD_REQUEST", "Exceeded rate limit.");
    server.clock.advance(7 * 24 * 60 * 60 + 1);
    assert_eq!(owner.post("/export/realm", ()).await.ok()["id"], 6);
}

// conformance: export-11
#[tokio::test]
async fn large_organizations_are_exported() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    server.sql("UPDATE upload_state SET space_used = 21 << 30").await;
    assert_eq!(owner.post("/export/realm", ()).await.ok()["id"], 1);
    settled(&server).await;
}

// conformance: export-2, export-4
#[tokio::test]
async fn an_owner_has_to_be_able_to_log_in_after_the_import() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    ada.patch("/settings", json!({"allow_private_data_export": true})).await.ok();
    let note = ada.send_direct(&[&ada], "private").await;
    let with_consent = json!({"export_type": 2});
    let msg = "Make sure at least one Organization Owner is consenting to the export or contact the operator of this server \
               for help.";
    owner.post("/export/realm", with_consent.clone()).await.error(400, "BAD_REQUEST", msg);
    owner
        .patch("/settings", json!({"allow_private_data_export": true, "email_address_visibility": 4}))
        .await
        .ok();
    owner.post("/export/realm", with_consent).await.ok();
    let msg = "Make sure at least one Organization Owner allows other Administrators to see their email address or contact \
               the operator of this server for help";
    owner.post("/export/realm", ()).await.error(400, "BAD_REQUEST", msg);
    settled(&server).await;
    let exports = list(&owner).await;
    assert_eq!(exports[0]["export_type"], 2);
    let url = format!("http://{}{}", server.address(), path_of(&exports[0]));
    let archive = Archive::read(&reqwest::get(url).await.unwrap().bytes().await.unwrap());
    assert_sound(&archive);
    assert_eq!(archive.row("zerver_message", note)["content"], "private");
}

// conformance: export-6, export-10
#[tokio::test]
async fn exports_fail_without_space_and_with_a_stop() {
    // More than any disk has.
    let server = TestServer::start_with(Options {
        overrides: Overrides { disk_reserve_mib: Some(1 << 40), ..Overrides::default() },
        ..Options::default()
    })
    .await;
    let owner = server.owner().await;
    let mut queue = owner.register(json!({"event_types": ["realm_export"]})).await;
    server
        .sql(
            "INSERT INTO realm_export (type, acting_user_id, origin, date_requested)
        SELECT 1, max(user_id), 'http://localhost', 1 FROM user",
        )
        .await;
    settled(&server).await;
    let failed = list(&owner).await;
    assert_eq!(failed[0]["failed_timestamp"], START);
    assert_eq!(failed[0]["pending"], false);
    queue.expect(&[json!({"type": "realm_export", "exports": failed})]).await;

    let mut server = TestServer::start().await;
    let owner = server.owner().await;
    server
        .sql(
            "INSERT INTO realm_export (type, acting_user_id, origin, date_requested, date_started)
        SELECT 1, max(user_id), 'http://localhost', 1, 1 FROM user",
        )
        .await;
    server.restart().await;
    let interrupted = list(&owner).await;
    assert_eq!(
        (&interrupted[0]["failed_timestamp"], &interrupted[0]["pending"]),
        (&json!(START), &json!(false))
    );
}

/// The last job can fail too, for example on a full disk.
#[tokio::test]
async fn an_archive_that_cannot_be_stored_is_a_failed_export() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let broken = "CREATE TRIGGER broken BEFORE UPDATE OF content_id ON realm_export";
    server.sql(&format!("{broken} BEGIN SELECT RAISE(FAIL, 'broken'); END")).await;
    owner.post("/export/realm", ()).await.ok();
    settled(&server).await;
    let failed = list(&owner).await;
    assert_eq!((&failed[0]["failed_timestamp"], &failed[0]["pending"]), (&json!(START), &json!(false)));
    let msg = "Export failed, nothing to delete";
    owner.delete("/export/realm/1", ()).await.error(400, "BAD_REQUEST", msg);
    // The archive is deleted like an upload that was not finished.
    server.clock.advance(10 * 60);
    settled(&server).await;
    assert_eq!(server.column("SELECT count(*) FROM upload_piece").await, ["0"]);
}
