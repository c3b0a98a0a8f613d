//! Emails about accounts: passwords, sign-up, logins.

use super::{DAY, invitation, log_in, open, proven, settle, start, submit};
use crate::harness::{Answer, TestServer};
use crate::join::{Page, text};
use hyper::Method;
use serde_json::{Value, json};
use teamchat::app::{BackupOptions, Options};
use teamchat::commands::Command;
use teamchat::types::Role;

#[tokio::test]
async fn a_forgotten_password_is_set_by_the_link_in_a_letter() {
    let (server, mut sink) = start().await;
    server.user("ada", Role::Member, None, Some("a password")).await;
    let owner = server.owner().await;
    let gone = server.member("gone").await;
    owner.delete(&format!("/users/{}", gone.user_id), ()).await.ok();
    let path = "/accounts/password/reset/";
    assert!(text(&open(&server, path).await).contains("name=\"email\""));
    let mut answers = Vec::new();
    for email in ["Ada@example.com", "gone@example.com", "nobody@example.com"] {
        let answer = submit(&server, path, json!({"email": email})).await;
        answers.push((answer.status, answer.header("location").to_owned(), answer.bytes.clone()));
    }
    assert_eq!(answers[0].1, "/accounts/password/reset/done/");
    assert_eq!((answers[0].0, &answers[0], &answers[0]), (302, &answers[1], &answers[2]), "no answer tells");
    settle(&server).await;
    let letters = sink.rest();
    let to: Vec<&str> = letters.iter().map(|letter| letter.to.as_str()).collect();
    assert_eq!(to, ["ada@example.com", "gone@example.com", "nobody@example.com"]);
    for letter in &letters {
        assert_eq!(letter.subject(), "Password reset request for Team chat");
        assert!(letter.header("From").contains("Team chat account security"), "{}", letter.header("From"));
    }
    assert!(
        letters[1].text.contains("deactivated") && !letters[1].text.contains("/join/"),
        "{}",
        letters[1].text
    );
    assert!(
        letters[2].text.contains("no account") && !letters[2].text.contains("/join/"),
        "{}",
        letters[2].text
    );

    let link = letters[0].path("/join/password/");
    let page = Page::open(&server, &link).await;
    assert_eq!(page.send(json!({"password": "another one"})).await.status, 200);
    assert_eq!(open(&server, &link).await.status, 404, "it works once");
    assert_eq!(log_in(&server, "ada@example.com", "another one").await, 200);
    assert_eq!(log_in(&server, "ada@example.com", "a password").await, 401);
    assert_eq!(proven(&server).await, ["ada@example.com"]);
}

#[tokio::test]
async fn people_without_a_password_get_links_from_the_operator() {
    let (server, mut sink) = start().await;
    let owner = server.user("owner", Role::Owner, None, Some("a password")).await;
    for name in ["ada", "bob", "eve", "gone", "zoe"] {
        server.member(name).await;
    }
    server.bot("helper", &owner).await;
    server
        .sql(
            "UPDATE user SET delivery_email = 'eve@imported.invalid', delivery_email_key = 'eve@imported.invalid'
             WHERE full_name = 'Eve';
             UPDATE user SET delivery_email = 'zoe@', delivery_email_key = 'zoe@' WHERE full_name = 'Zoe'",
        )
        .await;
    let gone = Command::SetActive { email: "gone@example.com".to_owned(), is_active: false };
    server.command(gone).await;
    let create = |all: bool, mail: bool| server.command(Command::CreatePasswordLinks { all, mail });
    let printed = create(false, false).await;
    let emails = |answer: &Value| -> Vec<String> {
        let links = answer["links"].as_array().unwrap().iter();
        links.map(|link| link["email"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(emails(&printed), ["ada@example.com", "bob@example.com", "eve@imported.invalid", "zoe@"]);
    settle(&server).await;
    assert!(sink.rest().is_empty());
    let of_ada = printed["links"][0]["path"].as_str().unwrap();
    let page = Page::open(&server, of_ada).await;
    assert_eq!(page.send(json!({"password": "her password"})).await.status, 200);
    assert_eq!(log_in(&server, "ada@example.com", "her password").await, 200);
    assert!(proven(&server).await.is_empty(), "others may have printed links");

    let mailed = create(false, true).await;
    assert_eq!(mailed["links"][0], json!({"email": "bob@example.com"}));
    assert_eq!(emails(&mailed), ["bob@example.com", "eve@imported.invalid", "zoe@"]);
    for index in [1, 2] {
        let path = mailed["links"][index]["path"].as_str().unwrap();
        assert_eq!(open(&server, path).await.status, 200, "no email can reach her");
    }
    settle(&server).await;
    let letters = sink.rest();
    assert_eq!((letters.len(), letters[0].to.as_str()), (1, "bob@example.com"));
    assert_eq!(letters[0].subject(), "Set a password for Team chat");
    let earlier = printed["links"][1]["path"].as_str().unwrap();
    assert_eq!(open(&server, earlier).await.status, 404);
    let page = Page::open(&server, &letters[0].path("/join/password/")).await;
    assert_eq!(page.send(json!({"password": "his password"})).await.status, 200);
    assert_eq!(log_in(&server, "bob@example.com", "his password").await, 200);
    assert_eq!(proven(&server).await, ["bob@example.com"]);

    let all = create(true, false).await;
    let expected =
        ["owner@example.com", "ada@example.com", "bob@example.com", "eve@imported.invalid", "zoe@"];
    assert_eq!(emails(&all), expected);
}

#[tokio::test]
async fn links_for_passwords_are_mailed_by_servers_that_send_mail() {
    let server = TestServer::start().await;
    server.owner().await;
    let command = Command::CreatePasswordLinks { all: false, mail: true };
    let refusal = teamchat::commands::run(server.app(), command).await.unwrap_err();
    assert_eq!(refusal.msg(), "this server sends no mail: start it with --smtp-url and --mail-from");
    assert_eq!(server.column("SELECT count(*) FROM password_reset").await, ["0"]);
}

#[tokio::test]
async fn links_for_passwords_end_with_the_day_and_with_the_account() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    let ada = server.user("ada", Role::Member, None, Some("a password")).await;
    let ask = async || {
        submit(&server, "/accounts/password/reset/", json!({"email": "ada@example.com"})).await.status
    };
    assert_eq!(ask().await, 302);
    let first = sink.next().await.path("/join/password/");
    assert_eq!(ask().await, 302);
    let second = sink.next().await.path("/join/password/");
    assert_eq!((open(&server, &first).await.status, open(&server, &second).await.status), (404, 200));
    assert_eq!(ask().await, 429, "two in an hour");
    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    assert_eq!(open(&server, &second).await.status, 404);
    owner.post(&format!("/users/{}/reactivate", ada.user_id), ()).await.ok();
    server.clock.advance(60 * 60);
    assert_eq!(ask().await, 302);
    let third = sink.next().await.path("/join/password/");
    owner.patch(&format!("/users/{}", ada.user_id), json!({"new_email": "new@example.com"})).await.ok();
    assert_eq!(open(&server, &third).await.status, 404, "it came to the former address");
    let reset = submit(&server, "/accounts/password/reset/", json!({"email": "new@example.com"})).await;
    assert_eq!(reset.status, 302);
    let fourth = sink.next().await.path("/join/password/");
    assert_eq!(open(&server, &fourth).await.status, 200);
    server.clock.advance(DAY);
    assert_eq!(open(&server, &fourth).await.status, 404);
}

#[tokio::test]
async fn links_for_passwords_work_only_while_people_log_in_with_passwords() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    let ada = server.user("ada", Role::Member, None, Some("a password")).await;
    let made = owner.post(&format!("/users/{}/password_reset", ada.user_id), ()).await.ok();
    let page = Page::open(&server, made["password_reset_link"].as_str().unwrap()).await;
    server.set_realm_setting("password_auth_enabled", json!(false)).await;
    assert_eq!(page.send(json!({"password": "another one"})).await.status, 404);
    server.set_realm_setting("password_auth_enabled", json!(true)).await;
    submit(&server, "/accounts/password/reset/", json!({"email": "ada@example.com"})).await;
    let link = sink.next().await.path("/join/password/");
    let page = Page::open(&server, &link).await;
    server.set_realm_setting("password_auth_enabled", json!(false)).await;
    assert_eq!(open(&server, &link).await.status, 404);
    assert_eq!(page.send(json!({"password": "another one"})).await.status, 404);
    assert_eq!(server.column("SELECT count(*) FROM session").await, ["0"]);
}

// conformance: auth-56
#[tokio::test]
async fn reusable_links_prove_no_address_while_people_do_not_log_in_with_passwords() {
    let (server, mut sink) = start().await;
    let made = server.owner().await.post("/invites/multiuse", json!({})).await.ok();
    let key = made["invite_link"].as_str().unwrap().split('/').nth_back(1).unwrap().to_owned();
    let (link, page) = (format!("/join/{key}/"), format!("/register/?invite={key}"));
    assert_eq!((open(&server, &link).await.status, open(&server, &page).await.status), (302, 200));
    server.set_realm_setting("password_auth_enabled", json!(false)).await;
    assert_eq!((open(&server, &link).await.status, open(&server, &page).await.status), (404, 404));
    let fields = json!({"email": "new@example.com", "invite": key});
    assert_eq!(submit(&server, "/register/", fields).await.status, 404);
    settle(&server).await;
    assert_eq!(sink.rest().len(), 0);
}

#[tokio::test]
async fn five_letters_a_day_come_from_one_address() {
    let (server, mut sink) = start().await;
    let find =
        async |emails: &str| submit(&server, "/accounts/find/", json!({"emails": emails})).await.status;
    assert_eq!(find("a@example.com, b@example.com, A@example.com").await, 200);
    assert_eq!(find("c@example.com,d@example.com,e@example.com,f@example.com").await, 429);
    let reset = submit(&server, "/accounts/password/reset/", json!({"email": "a@example.com"})).await;
    assert_eq!(reset.status, 429);
    settle(&server).await;
    assert_eq!(sink.rest().len(), 2);
    server.clock.advance(DAY);
    assert_eq!(find("c@example.com").await, 200);
}

#[tokio::test]
async fn two_letters_of_a_kind_go_to_an_address_in_an_hour() {
    for (path, field) in [("/accounts/find/", "emails"), ("/register/", "email")] {
        let (server, mut sink) = start().await;
        server.owner().await.patch("/realm", json!({"invite_required": false})).await.ok();
        let ask = async |email: &str| submit(&server, path, json!({field: email})).await.status;
        for email in ["a@example.com", "A@example.com"] {
            assert!([200, 302].contains(&ask(email).await), "{path}");
        }
        assert_eq!(ask("a@example.com").await, 429, "{path}");
        assert!([200, 302].contains(&ask("b@example.com").await), "{path}");
        settle(&server).await;
        assert_eq!(sink.rest().last().unwrap().to, "b@example.com", "{path}");
        server.clock.advance(60 * 60);
        assert!([200, 302].contains(&ask("a@example.com").await), "{path}");
    }
}

#[tokio::test]
async fn each_address_learns_for_itself_whether_it_has_an_account() {
    let (server, mut sink) = start().await;
    server.member("ada").await;
    let answer =
        submit(&server, "/accounts/find/", json!({"emails": "ada@example.com,\nnobody@example.com"})).await;
    assert_eq!(answer.status, 200);
    let (found, none) = (sink.next().await, sink.next().await);
    assert_eq!((found.to.as_str(), none.to.as_str()), ("ada@example.com", "nobody@example.com"));
    assert_eq!(found.subject(), "Your account in Team chat");
    assert_eq!(none.subject(), "No account found in Team chat");
    assert!(!none.text.contains("ada@example.com") && !found.text.contains("nobody"), "{}", none.text);
    for emails in [
        "",
        "no address",
        "a@b.example,",
        &(0..11).map(|n| format!("p{n}@example.com")).collect::<Vec<_>>().join(","),
    ] {
        let status = submit(&server, "/accounts/find/", json!({"emails": emails})).await.status;
        assert_eq!(status, if emails.contains("b.example") { 200 } else { 400 }, "{emails}");
    }
}

#[tokio::test]
async fn a_deactivated_organization_does_not_say_who_has_an_account() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    owner.post("/realm/deactivate", json!({"deletion_delay_days": null})).await.ok();
    settle(&server).await;
    sink.rest();
    let emails = json!({"emails": "owner@example.com,nobody@example.com"});
    assert_eq!(submit(&server, "/accounts/find/", emails).await.status, 200);
    settle(&server).await;
    assert!(sink.rest().is_empty());
}

#[tokio::test]
async fn people_sign_up_with_a_proven_address_where_the_organization_is_open() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    for (is_required, status) in [(true, 404), (false, 200)] {
        owner.patch("/realm", json!({"invite_required": is_required})).await.ok();
        assert_eq!(open(&server, "/register/").await.status, status);
        let settings = server.anonymous().get("/server_settings", ()).await.ok();
        assert_eq!(settings["realm_sign_up_enabled"], !is_required);
    }
    for email in ["no address", "x@yopmail.com"] {
        let answer = submit(&server, "/register/", json!({"email": email})).await;
        assert_eq!(answer.status, 400, "{email}");
    }
    let answer = submit(&server, "/register/", json!({"email": "new@example.com"})).await;
    assert_eq!(
        (answer.status, answer.header("location")),
        (302, "/accounts/send_confirm/?email=new%40example.com")
    );
    assert!(
        text(&open(&server, "/accounts/send_confirm/?email=new%40example.com").await)
            .contains("new@example.com")
    );
    let first = sink.next().await;
    assert_eq!(
        (first.to.as_str(), first.subject().as_str()),
        ("new@example.com", "Activate your account in Team chat")
    );
    submit(&server, "/accounts/home/", json!({"email": "NEW@example.com"})).await;
    let second = sink.next().await;
    let follow = async |path: &str| open(&server, path).await.header("location").to_owned();
    let (former, link) = (follow(&first.path("do_confirm")).await, follow(&second.path("do_confirm")).await);
    assert_eq!(open(&server, &former).await.status, 404, "it was replaced");
    assert_eq!(open(&server, "/accounts/do_confirm/short").await.status, 404);
    assert_eq!(owner.get("/invites", ()).await.ok()["invites"], json!([]));

    let page = Page::open(&server, &link).await;
    let fields = json!({"full_name": "New", "email": "other@example.com", "password": "correct horse"});
    assert_eq!(page.send(fields).await.status, 200);
    assert_eq!(
        server.column("SELECT delivery_email FROM user WHERE full_name = 'New'").await,
        ["NEW@example.com"]
    );
    assert_eq!(proven(&server).await, ["NEW@example.com"]);
    assert_eq!(sink.next().await.subject(), "Team chat: Your new account details");
    assert_eq!(open(&server, &link).await.status, 404, "it works once");

    // An address with an account gets no link, and the page does not tell.
    server.clock.advance(60 * 60);
    let answer = submit(&server, "/register/", json!({"email": "new@example.com"})).await;
    assert_eq!(answer.status, 302);
    assert_eq!(sink.next().await.subject(), "Your account in Team chat");
}

#[tokio::test]
async fn addresses_that_may_not_join_are_refused_at_every_door() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    owner.patch("/realm", json!({"invite_required": false})).await.ok();
    let made = owner.post("/invites/multiuse", json!({})).await.ok();
    let key = made["invite_link"].as_str().unwrap().split('/').nth_back(1).unwrap().to_owned();
    submit(&server, "/register/", json!({"email": "early@example.com"})).await;
    let link = open(&server, &sink.next().await.path("do_confirm")).await.header("location").to_owned();

    owner.post("/realm/domains", json!({"domain": "example.org", "allow_subdomains": false})).await.ok();
    owner.patch("/realm", json!({"emails_restricted_to_domains": true})).await.ok();
    let refused = |answer: &Answer, email: &str| {
        let words = format!("Email '{email}' not allowed in this organization");
        assert!(answer.status == 400 && text(answer).contains(&words), "{answer}");
    };
    for fields in [json!({"email": "new@example.com"}), json!({"email": "new@example.com", "invite": key})] {
        refused(&submit(&server, "/register/", fields).await, "new@example.com");
    }
    let fields = json!({"full_name": "Early", "password": "correct horse"});
    refused(&Page::open(&server, &link).await.send(fields).await, "early@example.com");
    assert_eq!(submit(&server, "/register/", json!({"email": "new@example.org"})).await.status, 302);
    assert_eq!(sink.next().await.to, "new@example.org");

    owner.patch("/realm", json!({"emails_restricted_to_domains": false})).await.ok();
    let msg = "Some emails did not validate, so we didn't send any invitations.";
    let answer = owner.post("/invites", invitation("x@yopmail.com")).await;
    let errors = json!([["x@yopmail.com", "Please use your real email address.", false]]);
    assert_eq!(answer.error(400, "INVITATION_FAILED", msg)["errors"], errors);
    let person = json!({"email": "x@yopmail.com", "password": "correct horse", "full_name": "X"});
    let msg = "Disposable email addresses are not allowed in this organization";
    owner.post("/users", person).await.error(400, "BAD_REQUEST", msg);
    let register = async |email: &str| submit(&server, "/register/", json!({"email": email})).await.status;
    for email in ["x@yopmail.com", "x@ｙopmail.com", "x@yopmail。com"] {
        assert_eq!(register(email).await, 400, "{email}");
    }
    // A restriction to no domains changes nothing.
    owner.delete("/realm/domains/example.org", ()).await.ok();
    owner.patch("/realm", json!({"emails_restricted_to_domains": true})).await.ok();
    assert_eq!(register("x@yopmail.com").await, 400);
    owner.patch("/realm", json!({"disallow_disposable_email_addresses": false})).await.ok();
    assert_eq!(register("x@yopmail.com").await, 302);
    assert_eq!(sink.next().await.to, "x@yopmail.com");
}

#[tokio::test]
async fn links_of_people_who_sign_up_end_with_the_day_and_when_the_organization_closes() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    owner.patch("/realm", json!({"invite_required": false})).await.ok();
    submit(&server, "/register/", json!({"email": "new@example.com"})).await;
    let link = open(&server, &sink.next().await.path("do_confirm")).await.header("location").to_owned();
    assert_eq!(open(&server, &link).await.status, 200);
    owner.patch("/realm", json!({"invite_required": true})).await.ok();
    assert_eq!(open(&server, &link).await.status, 404);
    owner.patch("/realm", json!({"invite_required": false})).await.ok();
    assert_eq!(open(&server, &link).await.status, 200);
    server.clock.advance(DAY);
    assert_eq!(open(&server, &link).await.status, 404);
}

#[tokio::test]
async fn people_with_a_reusable_link_prove_their_addresses() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    let made = owner.post("/invites/multiuse", json!({"invite_as": 600})).await.ok();
    let link = made["invite_link"]
        .as_str()
        .unwrap()
        .strip_prefix(&format!("http://{}", server.address()))
        .unwrap()
        .to_owned();
    let answer = open(&server, &link).await;
    let form = answer.header("location").to_owned();
    assert_eq!((answer.status, form.starts_with("/register/?invite=")), (302, true), "{form}");
    assert_eq!(open(&server, &form).await.status, 200);
    let key = form.strip_prefix("/register/?invite=").unwrap();
    let answer = submit(&server, "/register/", json!({"email": "new@example.com", "invite": key})).await;
    assert_eq!(answer.status, 302);
    let link = open(&server, &sink.next().await.path("do_confirm")).await.header("location").to_owned();
    let page = Page::open(&server, &link).await;
    assert_eq!(
        page.send(json!({"full_name": "New", "email": "", "password": "correct horse"})).await.status,
        200
    );
    assert_eq!(
        server.column("SELECT role FROM user WHERE delivery_email = 'new@example.com'").await,
        ["600"]
    );
    owner.delete(&format!("/invites/multiuse/{}", 1), ()).await.ok();
    assert_eq!(open(&server, &form).await.status, 404);
}

#[tokio::test]
async fn links_of_people_who_prove_their_addresses_end_with_the_reusable_link() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    let made = owner.post("/invites/multiuse", json!({"invite_expires_in_minutes": 60})).await.ok();
    let key = made["invite_link"].as_str().unwrap().rsplit('/').find(|part| part.len() == 24).unwrap();
    let answer = submit(&server, "/register/", json!({"email": "new@example.com", "invite": key})).await;
    assert_eq!(answer.status, 302);
    let link = open(&server, &sink.next().await.path("do_confirm")).await.header("location").to_owned();
    server.clock.advance(60 * 60 - 1);
    assert_eq!(open(&server, &link).await.status, 200);
    server.clock.advance(1);
    assert_eq!(open(&server, &link).await.status, 404);
}

#[tokio::test]
async fn logins_are_reported_unless_the_person_does_not_want_it() {
    let (server, mut sink) = start().await;
    let ada = server.user("ada", Role::Member, None, Some("a password")).await;
    server.sql("UPDATE user SET timezone = 'Europe/Berlin' WHERE email = 'ada@example.com'").await;
    assert_eq!(log_in(&server, "ada@example.com", "a password").await, 200);
    settle(&server).await;
    assert!(sink.rest().is_empty(), "the account is new");
    server.clock.advance(60);
    assert_eq!(log_in(&server, "ada@example.com", "a password").await, 200);
    let letter = sink.next().await;
    assert_eq!(letter.to, "ada@example.com");
    assert!(letter.subject().starts_with("New login from "), "{}", letter.subject());
    for part in ["127.0.0.1", "2026-09-21 16:14 (CEST)", "/accounts/password/reset/"] {
        assert!(letter.text.contains(part), "{part}: {}", letter.text);
    }
    let link = letter.header("List-Unsubscribe");
    assert_eq!(letter.header("List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    let path =
        link.trim_start_matches('<').trim_end_matches('>').strip_prefix(super::URL).unwrap().to_owned();

    // Opening the link changes nothing; a mail program posts to it, without cookies.
    let mut queue = ada.register(json!({"event_types": ["user_settings"]})).await;
    assert!(text(&open(&server, &path).await).contains("<form"));
    for _ in 0..2 {
        let answer = submit(&server, &path, json!({"List-Unsubscribe": "One-Click"})).await;
        assert_eq!(answer.status, 200, "{answer}");
    }
    queue.expect(&[json!({"type": "user_settings", "op": "update", "property": "enable_login_emails", "value": false})]).await;
    assert_eq!(log_in(&server, "ada@example.com", "a password").await, 200);
    settle(&server).await;
    assert!(sink.rest().is_empty());
    for wrong in ["/accounts/unsubscribe/login/aaaaaaaaaaaaaaaaaaaaaaaa", &path.replace("login", "other")] {
        // Anyone can send many of these, so they are not jobs of the writer.
        let jobs = server.app().writer.metrics().jobs.get();
        let answer = server.anonymous().request_outside(Method::POST, wrong).send().await;
        assert!(text(&answer).contains("does not work"), "{wrong}");
        assert_eq!(server.app().writer.metrics().jobs.get(), jobs, "{wrong}");
    }
}

#[tokio::test]
async fn people_are_notified_that_their_account_was_created_or_deactivated() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    owner
        .post("/users", json!({"email": "ada@example.com", "full_name": "Ada", "password": "a password"}))
        .await
        .ok();
    assert_eq!(sink.next().await.to, "ada@example.com");
    server
        .command(Command::CreateUser {
            email: "bob@example.com".to_owned(),
            full_name: "Bob".to_owned(),
            role: Role::Member,
            bot_owner: None,
            password: None,
        })
        .await;
    let created = sink.next().await;
    assert_eq!(
        (created.to.as_str(), created.subject().as_str()),
        ("bob@example.com", "Team chat: Your new account details")
    );
    let ids =
        server.column("SELECT user_id FROM user WHERE full_name IN ('Ada', 'Bob') ORDER BY full_name").await;
    let comment = json!({"deactivation_notification_comment": " Good-bye <b> "});
    owner.delete(&format!("/users/{}", ids[0]), comment).await.ok();
    let letter = sink.next().await;
    assert_eq!(
        (letter.to.as_str(), letter.header("To").as_str()),
        ("ada@example.com", "Ada <ada@example.com>")
    );
    assert_eq!(letter.subject(), "Notification of account deactivation on Team chat");
    assert!(
        letter.text.ends_with("\nGood-bye <b>") && letter.html.contains("Good-bye &lt;b&gt;"),
        "{}",
        letter.text
    );
    owner.delete(&format!("/users/{}", ids[1]), ()).await.ok();
    settle(&server).await;
    assert!(sink.rest().is_empty(), "no comment, no letter");
}

#[tokio::test]
async fn owners_are_notified_that_the_organization_was_deactivated() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    server.user("other", Role::Owner, None, None).await;
    server.administrator("ada").await;
    owner.post("/realm/deactivate", json!({"deletion_delay_days": null})).await.ok();
    settle(&server).await;
    let letters = sink.rest();
    let mut to: Vec<&str> = letters.iter().map(|letter| letter.to.as_str()).collect();
    to.sort_unstable();
    assert_eq!(to, ["other@example.com", "owner@example.com"]);
    assert_eq!(letters[0].subject(), "Your organization Team chat has been deactivated");
    assert!(letters[0].text.contains("deactivated by Owner"), "{}", letters[0].text);
}

#[tokio::test]
async fn owners_are_notified_once_that_backups_fail() {
    const HOUR: i64 = 60 * 60;
    const RETRY: i64 = 10 * 60;
    let (server, mut sink) = start().await;
    server.owner().await;
    server.administrator("ada").await;
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("backups");
    let backups =
        BackupOptions { folder: folder.clone(), every: HOUR, keep: "7d".to_owned(), recipients: Vec::new() };
    let server = server.with_options(Options { backups: Some(backups), ..sink.options() }).await;
    settle(&server).await;
    let letters = sink.rest();
    assert_eq!(letters.len(), 1, "{letters:?}");
    assert_eq!(
        (letters[0].to.as_str(), letters[0].subject().as_str()),
        ("owner@example.com", "The backup of Team chat failed")
    );
    let error = server.app().backups.status().failure.unwrap().error;
    let sentence = format!("The backup of this server failed: {error}. ");
    assert!(letters[0].text.starts_with(&sentence), "{}", letters[0].text);
    server.clock.advance(RETRY);
    settle(&server).await;
    assert_eq!(server.app().backups.status().failures, 2);
    assert!(sink.rest().is_empty(), "the owner knows");
    std::fs::create_dir(&folder).unwrap();
    server.clock.advance(RETRY);
    settle(&server).await;
    assert!(server.app().backups.status().last_success.is_some());
    std::fs::remove_dir_all(&folder).unwrap();
    server.clock.advance(HOUR);
    settle(&server).await;
    let subjects: Vec<String> = sink.rest().into_iter().map(|letter| letter.subject()).collect();
    assert_eq!(subjects, ["The backup of Team chat failed"], "another failure");
}
