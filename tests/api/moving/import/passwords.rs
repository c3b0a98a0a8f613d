//! Passwords of archives of Zulip.

use super::Import;
use super::archive::{Archive, user, with};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

#[tokio::test]
async fn passwords_are_kept_and_hashed_again_at_login() {
    let import = Import::new("zulip");
    let rounds = std::num::NonZeroU32::new(1000).unwrap();
    let mut hash = [0; 32];
    ring::pbkdf2::derive(ring::pbkdf2::PBKDF2_HMAC_SHA256, rounds, b"salt", b"correct horse", &mut hash);
    let pbkdf2 = format!("pbkdf2_sha256$1000$salt${}", STANDARD.encode(hash));
    let argon2 = teamchat::domain::users::passwords::hash_quickly("battery staple").unwrap();
    let mut archive = Archive::new();
    let people = archive.realm["zerver_userprofile"].as_array_mut().unwrap();
    people[0]["password"] = json!(pbkdf2);
    people[1]["password"] = json!(format!("argon2{argon2}"));
    people[2]["password"] = json!("!unusable");
    people.push(with(user(15, "Eve", 400), json!({"password": "md5$salt$hash"})));
    archive.write(&import);
    let report = import.run(&["--password-links"]);
    let links = report["password_links"].as_array().unwrap();
    let emails: Vec<&str> = links.iter().map(|link| link["email"].as_str().unwrap()).collect();
    assert_eq!(emails, ["cat@example.com", "eve@example.com"]);
    let server = import.serve().await;
    let log_in = async |email: &str, password: &str| {
        let form = json!({"username": email, "password": password});
        server.anonymous().post("/fetch_api_key", form).await.status
    };
    assert_eq!(log_in("ada@example.com", "correct cow").await, 401);
    for (email, password) in [("ada@example.com", "correct horse"), ("bob@example.com", "battery staple")] {
        assert_eq!(log_in(email, password).await, 200, "{email}");
        assert_eq!(log_in(email, password).await, 200, "{email}");
    }
    let stored = server.column("SELECT password_hash FROM user WHERE user_id = 10").await;
    assert!(stored[0].starts_with("$argon2id$v=19$m=19456"), "{stored:?}");
    // The command went by the clock of the machine.
    let expires = server.column("SELECT MIN(expires) FROM password_reset").await;
    server.app().clock.set_wall(expires[0].parse::<i64>().unwrap() - 1);
    let page = server
        .anonymous()
        .request_outside(hyper::Method::GET, links[0]["path"].as_str().unwrap())
        .send()
        .await;
    assert_eq!(page.status, 200);
}
