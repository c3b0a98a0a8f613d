//! Addresses of channels: what their parts do, and who sends the messages.

use super::{Mailer, address_of, bare, last, mail, newest, send, start};
use crate::uploads::load;
use reqwest::Method;
use serde_json::json;
use teamchat::commands::Command;
use teamchat::domain::groups::system::SystemGroup;
use teamchat::domain::logins::known::LoginSource;
use teamchat::domain::logins::sessions;
use teamchat::types::UserId;

// conformance: channel-71
#[tokio::test]
async fn mails_to_a_channel_are_messages_of_the_gateway() {
    let (server, listener) = start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let stream_id = server.channel("Quay 7 – news", &[&ada, &bob]).await;
    let mut queue = bob.register(json!({"event_types": ["message"]})).await;
    let email = address_of(&ada, stream_id, json!({})).await;
    let (slug, rest) = email.split_once('.').unwrap();
    assert_eq!((slug, rest.split_once('.').unwrap().1), ("quay-7-news", "show-sender@chat.example"));
    // It stays the same, and others have one of their own.
    assert_eq!(address_of(&ada, stream_id, json!({})).await, email);
    assert_ne!(address_of(&bob, stream_id, json!({})).await, email);

    send(listener, &email, &mail("Re: Tide tables", "High at *noon*.\n.dot\n")).await;
    let message = newest(&ada, 1).await.pop().unwrap();
    assert_eq!(message["content"], "From: Ann <ann@example.org>\nHigh at *noon*.\n.dot");
    assert_eq!(message["subject"], "Tide tables");
    assert_eq!(message["sender_email"], "emailgateway@zulip.com");
    assert_eq!(message["stream_id"], stream_id);
    assert_eq!(queue.wait().await[0]["message"]["id"], message["id"]);
}

// conformance: channel-72
#[tokio::test]
async fn options_of_an_address_choose_what_is_kept() {
    let (server, listener) = start().await;
    let ada = server.member("ada").await;
    let stream_id = server.channel("quay", &[&ada]).await;
    let email = bare(&address_of(&ada, stream_id, json!({})).await);
    let token = email.split('@').next().unwrap();
    let text = "new\n-- \nAnn\n\nOn 21 Sep 2026 at 10:00, Bob wrote:\n> old";
    let plain = mail("tides", text);
    let both = "Subject: tides\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n\
                plain\n--b\nContent-Type: text/html\n\n<p>rich <b>text</b></p>\n--b--\n";
    for (options, mail, expected) in [
        ("", plain.as_str(), "new"),
        (".show-sender", &plain, "From: Ann <ann@example.org>\nnew"),
        ("+show-sender", &plain, "From: Ann <ann@example.org>\nnew"),
        (".include-footer", &plain, "new\n-- \nAnn"),
        (".include-quotes.include-footer", &plain, text),
        (".prefer-text", both, "plain"),
        ("", both, "plain"),
        (".prefer-html", both, "rich **text**"),
    ] {
        send(listener, &format!("{token}{options}@chat.example"), mail).await;
        assert_eq!(last(&ada).await, ("tides".to_owned(), expected.to_owned()), "{options}");
    }
    // Case is ignored, and the options may come first; a forwarded mail keeps its quotes.
    send(listener, &format!("Quay.Include-Footer.{}@CHAT.EXAMPLE", token.to_uppercase()), &plain).await;
    assert_eq!(last(&ada).await.1, "new\n-- \nAnn");
    send(listener, &email, &mail("Fwd: tides", "see\n> old")).await;
    assert_eq!(last(&ada).await, ("tides".to_owned(), "see\n> old".to_owned()));
    send(listener, &email, &mail("", "")).await;
    assert_eq!(last(&ada).await, ("Email with no subject".to_owned(), "(No email body)".to_owned()));
}

// conformance: channel-55
#[tokio::test]
async fn the_sender_may_be_the_caller_or_a_bot_of_theirs() {
    let (server, listener) = start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let bot = server.bot("helper", &ada).await;
    let stream_id = server.channel("quay", &[&ada, &bob]).await;
    for sender in [ada.user_id, bot.user_id] {
        let email = address_of(&ada, stream_id, json!({"sender_id": sender})).await;
        send(listener, &email, &mail("tides", "text")).await;
        assert_eq!(newest(&bob, 1).await[0]["sender_id"], sender);
    }
    // The bot is given away: its messages are no longer hers to send.
    let email = address_of(&ada, stream_id, json!({"sender_id": bot.user_id})).await;
    server
        .sql(&format!("UPDATE user SET bot_owner_id = {} WHERE user_id = {}", bob.user_id, bot.user_id))
        .await;
    let before = newest(&bob, 1).await[0]["id"].clone();
    send(listener, &email, &mail("tides", "not hers")).await;
    assert_eq!(newest(&bob, 1).await[0]["id"], before);
}

/// An address is a way to act as the bot, as its key is: of the bot of an owner, administrators have neither.
#[tokio::test]
async fn addresses_of_bots_are_for_those_who_may_have_the_key() {
    let (server, listener) = start().await;
    let (olga, adam) = (server.owner().await, server.administrator("adam").await);
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let stream_id = server.channel("quay", &[&olga, &adam, &ada, &guest]).await;
    let only_owners = json!({"can_send_message_group": {"new": SystemGroup::Owners.id()}});
    olga.patch(&format!("/streams/{stream_id}"), only_owners).await.ok();
    let (of_olga, of_ada) = (server.bot("helper", &olga).await, server.bot("other", &ada).await);
    let path = format!("/streams/{stream_id}/email_address");
    let refused = adam.get(&path, json!({"sender_id": of_olga.user_id})).await;
    refused.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
    address_of(&adam, stream_id, json!({"sender_id": of_ada.user_id})).await;

    // Guests do not see the keys of their bots.
    server
        .sql(&format!("UPDATE user SET bot_owner_id = {} WHERE user_id = {}", guest.user_id, of_ada.user_id))
        .await;
    let refused = guest.get(&path, json!({"sender_id": of_ada.user_id})).await;
    refused.error(400, "BAD_REQUEST", "Insufficient permission");

    // An address ends with the right to have one.
    let email = address_of(&olga, stream_id, json!({"sender_id": of_olga.user_id})).await;
    send(listener, &email, &mail("tides", "of an owner")).await;
    assert_eq!(last(&ada).await.1, "From: Ann <ann@example.org>\nof an owner");
    server.sql(&format!("UPDATE channel_email SET asker_id = {}", adam.user_id)).await;
    send(listener, &email, &mail("tides", "of an administrator")).await;
    assert_eq!(last(&ada).await.1, "From: Ann <ann@example.org>\nof an owner");
}

/// True if mails to an address are accepted.
async fn is_known(mailer: &mut Mailer, email: &str) -> bool {
    match mailer.say(&format!("RCPT TO:<{email}>")).await.as_str() {
        "250 2.1.5 OK" => true,
        "550 5.1.1 There is no such address" => false,
        other => panic!("{other}"),
    }
}

/// An address is a right to post that clients do not list, and a thief may have requested it.
#[tokio::test]
async fn addresses_end_with_keys_and_sessions() {
    let (server, listener) = start().await;
    let (olga, ada) = (server.owner().await, server.member("ada").await);
    let stream_id = server.channel("quay", &[&olga, &ada]).await;
    let create = Command::CreateKey { email: ada.email.clone(), client: "test".to_owned() };
    server.command(create).await;
    let source = LoginSource { client: "test".to_owned(), address: listener.ip() };
    let user_id = UserId(ada.user_id);
    server.app().writer.run(move |tx| sessions::begin(tx, user_id, &source)).await.unwrap();
    let listed = ada.get("/users/me/api_keys", ()).await.ok();

    let mut mailer = Mailer::lmtp(listener).await;
    mailer.say("MAIL FROM:<ann@example.org>").await;
    let of_olga = address_of(&olga, stream_id, json!({})).await;
    for (method, path, is_one) in [
        (Method::DELETE, format!("/users/me/api_keys/{}", listed["api_keys"][1]["id"]), true),
        (Method::DELETE, format!("/users/me/sessions/{}", listed["sessions"][0]["id"]), true),
        (Method::POST, "/users/me/api_keys/revoke_others".to_owned(), false),
    ] {
        let email = address_of(&ada, stream_id, json!({"sender_id": ada.user_id})).await;
        let of_gateway = address_of(&ada, stream_id, json!({})).await;
        assert!(is_known(&mut mailer, &email).await && is_known(&mut mailer, &of_gateway).await);
        ada.request(method, &path).send().await.ok();
        assert!(!is_known(&mut mailer, &email).await, "{path}");
        // Others use the addresses of which the gateway is the sender.
        assert_eq!(is_known(&mut mailer, &of_gateway).await, is_one, "{path}");
    }
    let email = address_of(&ada, stream_id, json!({})).await;
    olga.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    olga.post(&format!("/users/{}/reactivate", ada.user_id), ()).await.ok();
    assert!(!is_known(&mut mailer, &email).await, "it does not come back with the account");
    assert!(is_known(&mut mailer, &of_olga).await);
}

/// A session can last for half an hour after its recipients were looked up.
#[tokio::test]
async fn an_address_that_ends_takes_no_mail_that_has_begun() {
    let (server, listener) = start().await;
    let ada = server.member("ada").await;
    let stream_id = server.channel("quay", &[&ada]).await;
    let email = address_of(&ada, stream_id, json!({"sender_id": ada.user_id})).await;
    let mut mailer = Mailer::lmtp(listener).await;
    mailer.begin_mail(&email).await;
    ada.post("/users/me/api_keys/revoke_others", ()).await.ok();
    assert_eq!(mailer.say("Subject: tides\r\n\r\nlate\r\n.").await, "250 2.0.0 OK");
    assert_eq!(server.column("SELECT count(*) FROM message WHERE subject = 'tides'").await, ["0"]);
}

/// Other people and programs may use the addresses.
#[tokio::test]
async fn a_notice_says_that_addresses_ended() {
    let (server, _listener) = start().await;
    let mut ada = server.member("ada").await;
    let stream_id = server.channel("quay", &[&ada]).await;
    for has_address in [false, true] {
        if has_address {
            address_of(&ada, stream_id, json!({})).await;
        }
        let answer = ada.post("/users/me/api_key/regenerate", ()).await.ok();
        ada.api_key = Some(answer["api_key"].as_str().unwrap().to_owned());
        let notice = ada.notices().await.pop().unwrap();
        assert!(notice.contains("All other devices and programs were logged out."), "{notice}");
        assert_eq!(
            notice.contains("Your email addresses of channels no longer work."),
            has_address,
            "{notice}"
        );
    }
}

/// The previous owner could post as the bot.
#[tokio::test]
async fn addresses_of_a_bot_end_with_its_key() {
    let (server, listener) = start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let stream_id = server.channel("quay", &[&ada, &bob]).await;
    let mut mailer = Mailer::lmtp(listener).await;
    mailer.say("MAIL FROM:<ann@example.org>").await;
    for (name, method, path, change) in [
        ("given", Method::PATCH, "", json!({"bot_owner_id": bob.user_id})),
        ("renewed", Method::POST, "/api_key/regenerate", json!({})),
    ] {
        let bot = server.bot(name, &ada).await;
        let email = address_of(&bot, stream_id, json!({"sender_id": bot.user_id})).await;
        assert!(is_known(&mut mailer, &email).await);
        ada.request(method, &format!("/bots/{}{path}", bot.user_id)).form(change).send().await.ok();
        assert!(!is_known(&mut mailer, &email).await, "{name}");
    }
}

// conformance: channel-73
#[tokio::test]
async fn messages_need_the_permissions_of_the_one_who_asked() {
    let (server, listener) = start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    let open = crate::channels::channel(&owner, "open").await;
    let email = bare(&address_of(&ada, open, json!({})).await);
    let archived = crate::channels::channel(&owner, "old").await;
    let archived_email = address_of(&ada, archived, json!({})).await;
    let general = server.channel("general only", &[&owner]).await;
    let general_email = bare(&address_of(&ada, general, json!({})).await);
    let private = crate::channels::private_channel(&owner, "private").await;
    owner
        .post(
            "/users/me/subscriptions",
            json!({"subscriptions": [{"name": "private"}],
        "principals": [ada.user_id]}),
        )
        .await
        .ok();
    let private_email = address_of(&ada, private, json!({})).await;
    send(listener, &email, &mail("tides", "allowed")).await;
    assert_eq!(last(&owner).await.1, "allowed".to_owned());

    let nobody = json!({"can_send_message_group": json!({"new": {"direct_members": [owner.user_id],
        "direct_subgroups": []}})});
    owner.patch(&format!("/streams/{open}"), nobody).await.ok();
    owner.delete(&format!("/streams/{archived}"), ()).await.ok();
    owner
        .delete(
            "/users/me/subscriptions",
            json!({"subscriptions": ["private"],
        "principals": [ada.user_id]}),
        )
        .await
        .ok();
    let count = "SELECT count(*) FROM message";
    let before = server.column(count).await;
    for email in [&email, &archived_email, &private_email] {
        // They are dropped: a refusal would reach the named sender.
        send(listener, email, &mail("tides", "refused")).await;
    }
    assert_eq!(server.column(count).await, before);

    // Where there is only one topic, it takes all mails.
    owner.patch(&format!("/streams/{general}"), json!({"topics_policy": "empty_topic_only"})).await.ok();
    send(listener, &general_email, &mail("tides", "general")).await;
    assert_eq!(last(&owner).await, (String::new(), "general".to_owned()));

    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    let mut mailer = Mailer::lmtp(listener).await;
    mailer.say("MAIL FROM:<ann@example.org>").await;
    for email in [&email, &general_email] {
        assert_eq!(mailer.say(&format!("RCPT TO:<{email}>")).await, "550 5.1.1 There is no such address");
    }
}

// conformance: channel-74
#[tokio::test]
async fn attachments_are_files_of_the_message() {
    let (server, listener) = start().await;
    let (ada, eve) = (server.member("ada").await, server.member("eve").await);
    let stream_id = server.private_channel("quay", &[&ada]).await;
    let email = bare(&address_of(&ada, stream_id, json!({})).await);
    let with_files = "Subject: files\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nlook\n--b\n\
        Content-Type: text/plain; name=\"../../etc/pass]wd\"\nContent-Disposition: attachment\n\
        Content-Transfer-Encoding: base64\n\naGVsbG8=\n--b\nContent-Type: message/rfc822\n\nSubject: inner\n\nx\n--b--\n";
    send(listener, &email, with_files).await;
    let (_, content) = last(&ada).await;
    let lines: Vec<&str> = content.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[1]), (4, "look", ""), "{content}");
    assert!(lines[2].starts_with("[passwd](/user_uploads/") && lines[2].ends_with("/passwd)"), "{content}");
    assert!(lines[3].starts_with("[message.eml](/user_uploads/"), "{content}");
    let url = lines[2].split_once('(').unwrap().1.trim_end_matches(')');
    let file = load(&ada, url).await;
    assert_eq!((file.status, file.bytes.as_slice()), (200, &b"hello"[..]));
    assert_eq!(load(&eve, url).await.status, 403);
}

#[tokio::test]
async fn strangers_reach_no_names_and_mention_only_whom_the_asker_may() {
    let (server, listener) = start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let crowd = server.crowd(20).await;
    let stream_id = server.channel("quay", &crowd.iter().chain([&ada, &bob]).collect::<Vec<_>>()).await;
    server.private_channel("secret", &[&ada]).await;
    server.set_realm_group("can_mention_many_users_group", SystemGroup::Nobody).await;
    let email = bare(&address_of(&ada, stream_id, json!({})).await);
    send(listener, &email, &mail("tides", "@**all** see #**secret** and @**Bob**")).await;
    let message = newest(&bob, 1).await.pop().unwrap();
    assert_eq!(message["content"], "@_**all** see #**secret** and @_**Bob**");
    let shown = bob.message(message["id"].as_i64().unwrap()).await;
    assert!(!shown["content"].as_str().unwrap().contains("data-stream-id"), "{shown}");
    // The renderer omits some characters.
    send(listener, &email, &mail("tides", "@\u{1}**all** again")).await;
    assert_eq!(newest(&bob, 1).await.pop().unwrap()["content"], "@_**all** again");
    send(listener, &email, &mail("tides", "hello @**Bob**")).await;
    let message = newest(&bob, 1).await.pop().unwrap();
    assert!(message["flags"].as_array().unwrap().contains(&json!("mentioned")), "{message}");
}
