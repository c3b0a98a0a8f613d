//! Services that the server does not have.

use crate::harness::TestServer;
use hyper::Method;
use serde_json::json;

#[tokio::test]
async fn device_tokens_are_taken_and_not_kept() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bot = server.bot("robot", &ada).await;
    for path in ["/users/me/android_gcm_reg_id", "/users/me/apns_device_token"] {
        for method in [Method::POST, Method::DELETE] {
            let send = async |token: &str| {
                ada.request(method.clone(), path).form(json!({"token": token, "appid": "x"})).send().await
            };
            send("c0ffee").await.ok();
            send("").await.error(400, "BAD_REQUEST", "Empty or invalid length token");
            send(&"a".repeat(4097)).await.error(400, "BAD_REQUEST", "Empty or invalid length token");
            if path.contains("apns") {
                send("not hex").await.error(400, "BAD_REQUEST", "Invalid APNS token");
            }
            if path.contains("apns") && method == Method::POST {
                let missing = ada.post(path, json!({"token": "c0ffee"})).await;
                missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'appid' argument");
                let invalid = ada.post(path, json!({"token": "c0ffee", "appid": "a b"})).await;
                invalid.error(400, "BAD_REQUEST", "Invalid app ID");
            }
            let refused = bot.request(method.clone(), path).form(json!({"token": "c0ffee"})).send().await;
            refused.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");
        }
    }
}

#[tokio::test]
async fn unconfigured_services_return_published_errors() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let push = "Server is not configured to use push notification service.";
    for path in ["/mobile_push/register", "/mobile_push/e2ee/test_notification"] {
        ada.post(path, ()).await.error(400, "PUSH_SERVICE_NOT_CONFIGURED", push);
    }
    ada.post("/mobile_push/test_notification", ()).await.ok();
    ada.post("/mobile_push/test_notification", json!({"token": "x"})).await.error(
        400,
        "INVALID_PUSH_DEVICE_TOKEN",
        "Device not recognized",
    );
    let cases = [
        (Method::GET, "/calls/bigbluebutton/create", "BigBlueButton is not configured."),
        (Method::POST, "/calls/zoom/create", "Zoom credentials have not been configured"),
        (Method::GET, "/messages/summary", "AI features are not enabled on this server."),
    ];
    for (method, path, msg) in cases {
        ada.request(method, path).send().await.error(400, "BAD_REQUEST", msg);
    }
    ada.post("/zcommand", json!({"command": "/ping"})).await.ok();
    ada.post("/zcommand", json!({"command": "/sing"})).await.error(
        400,
        "BAD_REQUEST",
        "No such command: sing",
    );
    let msg = "There should be a leading slash in the zcommand.";
    ada.post("/zcommand", json!({"command": "ping"})).await.error(400, "BAD_REQUEST", msg);
}
