//! The content of emails: conversations, subjects, texts, reasons, threads, and what must not be in it.

use crate::channels::channel_with;
use crate::harness::{Client, TestServer};
use crate::mail::mailbox::{Letter, Mailbox, PERIOD, URL};
use crate::mail::sink::MailSink;
use serde_json::json;
use teamchat::scheduler;

/// A server with two people in a channel.
async fn two() -> (Mailbox, TestServer, Client, Client, i64) {
    let (mailbox, server) = Mailbox::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let channel = server.channel("general", &[&ada, &bob]).await;
    (mailbox, server, ada, bob, channel)
}

async fn set(client: &Client, name: &str, value: impl serde::Serialize) {
    client.patch("/settings", json!({name: value})).await.ok();
}

fn subjects(letters: &[Letter]) -> Vec<&str> {
    letters.iter().map(|letter| letter.subject.as_str()).collect()
}

// conformance: missed-9, missed-10
#[tokio::test]
async fn each_conversation_has_a_letter_in_the_order_of_the_newest_messages() {
    let (mailbox, server, ada, bob, channel) = two().await;
    let (cleo, dan) = (server.member("cleo").await, server.member("dan").await);
    bob.send(channel, "lunch", "@**Ada** one").await;
    bob.send_direct(&[&ada], "direct").await;
    cleo.send_direct(&[&ada], "direct").await;
    cleo.send_direct(&[&ada, &bob], "group").await;
    dan.send_direct(&[&ada, &bob, &cleo], "larger group").await;
    bob.send(channel, "dinner", "@**Ada** three").await;
    bob.send(channel, "LUNCH", "@**Ada** two").await;
    let letters = mailbox.later(&server, &ada).await;
    let expected = [
        "DMs with Bob",
        "DMs with Cleo",
        "Group DMs with Bob and Cleo",
        "Group DMs with Bob, Cleo, and Dan",
        "#general > dinner",
        "#general > lunch",
    ];
    assert_eq!(subjects(&letters), expected);
    assert!(letters[5].text.starts_with("Bob:\n> @**Ada** one\n\n> @**Ada** two\n\n"), "{}", letters[5].text);
    assert!(letters[2].text.starts_with("Cleo:\n> group\n"), "{}", letters[2].text);
    assert!(letters[0].text.starts_with("> direct\n"), "{}", letters[0].text);
    let rest = &letters[0].rest;
    assert_eq!(rest["from_name"], "chat.example.com notifications");
    let unsubscribe = rest["unsubscribe"].as_str().unwrap();
    assert!(
        unsubscribe.starts_with(&format!("{URL}/accounts/unsubscribe/missed_messages/")),
        "{unsubscribe}"
    );
}

// conformance: missed-11
#[tokio::test]
async fn letters_show_messages_as_text_and_as_html() {
    let (mailbox, server, ada, bob, channel) = two().await;
    let content =
        "see [this](/user_uploads/1/a.txt), #**general** & :+1:\n```spoiler The end\nThey live\n```";
    let id = bob.send(channel, "a <b>", &format!("@**Ada** {content}")).await;
    let letters = mailbox.later(&server, &ada).await;
    let Letter { text, html, .. } = &letters[0];
    let quoted = format!("Bob:\n> @**Ada** see {URL}/user_uploads/1/a.txt, #**general** & :+1:\n> The end (");
    assert!(text.starts_with(&quoted), "{text}");
    let topic = format!("{URL}/#narrow/channel/{channel}-general/topic/a.20.3Cb.3E/with/{id}");
    assert!(text.contains(&format!("Open the conversation: {topic}")), "{text}");
    assert!(text.contains(&format!("{URL}/#settings/notifications")), "{text}");
    assert!(
        html.contains("<p><b>Bob</b>: @Ada see <a href=\"https://chat.example.com/user_uploads/1/a.txt\">"),
        "{html}"
    );
    assert!(
        html.contains(&format!("<a href=\"{URL}/#narrow/channel/{channel}-general\">#general</a> &amp; 👍")),
        "{html}"
    );
    for part in [text, html] {
        assert!(!part.contains("They live"), "{part}");
    }
    assert!(!html.contains("a <b>") && html.contains("a &lt;b&gt;"), "{html}");
}

// conformance: missed-11
#[tokio::test]
async fn a_mention_is_shown_with_what_was_said_before_it() {
    let (mailbox, server, ada, bob, channel) = two().await;
    bob.send(channel, "lunch", "long ago").await;
    server.clock.advance(16 * 60);
    for number in 0..11 {
        bob.send(channel, "lunch", &format!("before {number}")).await;
    }
    bob.send(channel, "other", "elsewhere").await;
    // The mention lets her follow the topic, so that messages without a decision would be missed as well.
    scheduler::settle(server.app()).await;
    bob.send(channel, "lunch", "@**Ada** what do you think?").await;
    let letters = mailbox.later(&server, &ada).await;
    let text = &letters[0].text;
    assert!(!text.contains("long ago") && !text.contains("elsewhere"), "{text}");
    assert!(
        !text.contains("before 0\n") && text.contains("> before 1\n") && text.contains("> before 10\n"),
        "{text}"
    );
    assert!(text.find("before 10") < text.find("what do you think"), "{text}");

    // In a channel whose history is protected, only what she may read.
    let parameters = json!({"name": "secret", "subscribers": [bob.user_id], "invite_only": true,
        "history_public_to_subscribers": false});
    let secret = channel_with(&bob, parameters).await;
    bob.send(secret, "plans", "before she came").await;
    bob.post(
        "/users/me/subscriptions",
        json!({"subscriptions": [{"name": "secret"}], "principals": [ada.user_id]}),
    )
    .await
    .ok();
    bob.send(secret, "plans", "@**Ada** welcome").await;
    let letters = mailbox.later(&server, &ada).await;
    let plans = letters.iter().find(|letter| letter.subject == "#secret > plans").unwrap();
    assert!(plans.text.contains("welcome") && !plans.text.contains("before she came"), "{}", plans.text);
}

// conformance: missed-11
#[tokio::test]
async fn what_muted_people_said_before_a_mention_is_left_out() {
    let (mailbox, server, ada, bob, channel) = two().await;
    let cleo = server.member("cleo").await;
    ada.post(&format!("/users/me/muted_users/{}", cleo.user_id), ()).await.ok();
    cleo.send(channel, "lunch", "from the muted one").await;
    bob.send(channel, "lunch", "from the other").await;
    scheduler::settle(server.app()).await;
    bob.send(channel, "lunch", "@**Ada** what do you think?").await;
    let letters = mailbox.later(&server, &ada).await;
    let Letter { text, html, .. } = &letters[0];
    assert!(text.contains("> from the other") && text.contains("what do you think"), "{text}");
    for part in [text, html] {
        assert!(!part.contains("muted") && !part.contains("Cleo"), "{part}");
    }
}

#[tokio::test]
async fn letters_that_wait_do_not_go_to_a_former_address() {
    let (_mailbox, server, ada, bob, _) = two().await;
    let owner = server.owner().await;
    bob.send_direct(&[&ada], "hello").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD);
    scheduler::settle(server.app()).await;
    let waiting = "SELECT recipient FROM outgoing_mail WHERE kind = 'missed_messages'";
    assert_eq!(server.column(waiting).await, ["ada@example.com"]);
    owner.patch(&format!("/users/{}", ada.user_id), json!({"new_email": "new@example.com"})).await.ok();
    assert_eq!(server.column(waiting).await, [""; 0]);
}

/// An email is composed before the job that puts it into the queue. The address can change in between.
#[tokio::test]
async fn letters_for_a_former_address_are_composed_again() {
    let (_mailbox, server, ada, bob, _) = two().await;
    bob.send_direct(&[&ada], "hello").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD);
    scheduler::settle(server.app()).await;
    let waiting = "SELECT recipient FROM outgoing_mail WHERE kind = 'missed_messages'";
    assert_eq!(server.column(waiting).await, ["ada@example.com"]);
    // Not by a request, which deletes what waits.
    let new = "new@example.com";
    let user_id = ada.user_id;
    server
        .sql(&format!(
            "UPDATE user SET delivery_email = '{new}', delivery_email_key = '{new}' WHERE user_id = {user_id}"
        ))
        .await;
    server.clock.advance(15 * 60);
    scheduler::settle(server.app()).await;
    assert_eq!(server.column(waiting).await, [new]);
}

// conformance: missed-10
#[tokio::test]
async fn subjects_name_resolved_and_empty_topics_and_the_organization() {
    let (mailbox, server, ada, bob, channel) = two().await;
    bob.send(channel, "✔ lunch", "@**Ada** done").await;
    let letters = mailbox.later(&server, &ada).await;
    assert_eq!(subjects(&letters), ["[resolved] #general > lunch"]);
    let resolved = letters[0].references.clone();
    bob.send(channel, "lunch", "@**Ada** not yet").await;
    let letters = mailbox.later(&server, &ada).await;
    assert_eq!(letters[0].references, resolved, "it stays in its thread");
    bob.send(channel, "", "@**Ada** empty").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["#general > general chat"]);
    set(&ada, "default_language", "de").await;
    bob.send(channel, "", "@**Ada** empty").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["#general > Allgemeines"]);
    bob.send(channel, "✔ lunch", "@**Ada** done").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["[erledigt] #general > lunch"]);
    set(&ada, "default_language", "en").await;
    server.set_realm_setting("name", json!("Example")).await;
    set(&ada, "realm_name_in_email_notifications_policy", 2).await;
    bob.send_direct(&[&ada], "hello").await;
    assert_eq!(mailbox.subjects(&server, &ada).await, ["DMs with Bob [Example]"]);
    for policy in [1, 3] {
        set(&ada, "realm_name_in_email_notifications_policy", policy).await;
        bob.send_direct(&[&ada], "hello").await;
        assert_eq!(mailbox.subjects(&server, &ada).await, ["DMs with Bob"], "{policy}");
    }
}

// conformance: missed-12
#[tokio::test]
async fn letters_say_why_they_were_sent() {
    let (mailbox, server, ada, bob, channel) = two().await;
    set(&ada, "automatically_follow_topics_where_mentioned", false).await;
    let make_group = |name: &'static str, members: Vec<i64>| {
        let group = json!({"name": name, "description": "", "members": members});
        let bob = &bob;
        async move { drop(bob.post("/user_groups/create", group).await.ok()) }
    };
    make_group("crew", vec![ada.user_id, bob.user_id]).await;
    make_group("pilots", vec![ada.user_id]).await;
    let follow = json!({"stream_id": channel, "topic": "followed", "visibility_policy": 3});
    ada.post("/user_topics", follow).await.ok();
    bob.send(channel, "mine", "anyone?").await;
    ada.send(channel, "mine", "here").await;
    for (topic, content, reason) in [
        ("a", "@*crew* and @*pilots*", "because the group @pilots was mentioned"),
        ("a", "@*crew* and @**Ada**", "because you were mentioned"),
        ("a", "@**all**", "because everyone in #general was mentioned"),
        ("mine", "@**topic**", "because all participants of the topic were mentioned"),
        ("followed", "@**all**", "because everyone was mentioned in a topic that you follow"),
        ("followed", "plain", "because you follow the topic"),
    ] {
        bob.send(channel, topic, content).await;
        let letters = mailbox.later(&server, &ada).await;
        assert!(letters.len() == 1 && letters[0].text.contains(reason), "{content}: {letters:?}");
    }
    set(&ada, "enable_stream_email_notifications", true).await;
    bob.send(channel, "a", "plain").await;
    let letters = mailbox.later(&server, &ada).await;
    assert!(letters[0].text.contains("because you chose email for all messages in #general"), "{letters:?}");
    bob.send_direct(&[&ada], "hello").await;
    let letters = mailbox.later(&server, &ada).await;
    assert!(!letters[0].text.contains("because"), "{letters:?}");
}

// conformance: missed-13
#[tokio::test]
async fn hidden_content_is_nowhere() {
    let (mailbox, server, ada, bob, channel) = two().await;
    let cleo = server.member("cleo").await;
    for (whose, sentence) in [("organization", "This organization hides"), ("own", "Your settings hide")] {
        let is_allowed = json!(whose == "own");
        server.set_realm_setting("message_content_allowed_in_email_notifications", is_allowed).await;
        set(&ada, "message_content_in_email_notifications", whose != "own").await;
        bob.send(channel, "plans", "earlier words").await;
        bob.send(channel, "plans", "@**Ada** secret words").await;
        bob.send_direct(&[&ada], "secret words").await;
        cleo.send_direct(&[&ada, &bob], "secret words").await;
        let letters = mailbox.later(&server, &ada).await;
        assert_eq!(subjects(&letters), ["New messages"; 3], "{whose}");
        for letter in &letters {
            assert!(letter.text.contains(sentence), "{whose}: {}", letter.text);
            let all = format!("{} {} {} {}", letter.text, letter.html, letter.references, letter.rest);
            for hidden in ["words", "Bob", "Cleo", "general", "plans", "narrow"] {
                assert!(!all.contains(hidden), "{whose}: {hidden} is in {all}");
            }
        }
    }
}

// conformance: missed-14
#[tokio::test]
async fn guests_do_not_learn_names() {
    let (mailbox, server) = Mailbox::with_server().await;
    let (bob, gina) = (server.member("bob").await, server.guest("gina").await);
    let channel = server.channel("general", &[&gina]).await;
    server.restrict_guests().await;
    bob.send(channel, "x", "@**Gina** hello").await;
    let letters = mailbox.later(&server, &gina).await;
    assert_eq!(subjects(&letters), ["#general > x"]);
    let all = format!("{} {} {}", letters[0].text, letters[0].html, letters[0].rest);
    assert!(all.contains("Unknown user") && !all.contains("Bob"), "{all}");
}

// conformance: missed-15
#[tokio::test]
async fn threads_are_of_one_person_and_one_conversation() {
    let (mailbox, server, ada, bob, channel) = two().await;
    let dan = server.member("dan").await;
    let thread = async |topic: &str| {
        bob.send(channel, topic, "@**Ada** hello").await;
        mailbox.later(&server, &ada).await.remove(0).references
    };
    let lunch = thread("lunch").await;
    assert!(lunch.starts_with('<') && lunch.ends_with("@example.com>"), "{lunch}");
    assert_eq!(thread("Lunch").await, lunch);
    assert_ne!(thread("dinner").await, lunch);
    dan.send_direct(&[&ada, &bob], "hello").await;
    let of_bob = mailbox.later(&server, &bob).await;
    dan.send_direct(&[&ada, &bob], "hello").await;
    let of_ada = mailbox.later(&server, &ada).await;
    assert_ne!(of_ada[0].references, of_bob[0].references);
}

// conformance: missed-15
#[tokio::test]
async fn no_name_adds_a_header() {
    let mut sink = MailSink::start();
    let server = TestServer::start_with(sink.options()).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let name = "'Bob' || char(13, 10) || 'Bcc: eve@example.com' || char(13, 10, 13, 10) || 'é'";
    server.sql(&format!("UPDATE user SET full_name = {name} WHERE user_id = {}", bob.user_id)).await;
    bob.send_direct(&[&ada], "hello").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD);
    scheduler::settle(server.app()).await;
    let letters = sink.rest();
    assert_eq!(letters.len(), 1);
    let letter = &letters[0];
    assert_eq!((letter.to.as_str(), letter.header("Bcc").as_str()), ("ada@example.com", ""));
    assert_eq!(letter.header("List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    assert_eq!(letter.header("References"), letter.header("In-Reply-To"));
    assert!(letter.header("References").ends_with("@example.com>"), "{:?}", letter.headers);
    assert!(letter.text.contains("> hello") && letter.html.contains("<p>hello</p>"), "{letter:?}");
}

// conformance: missed-9
#[tokio::test]
async fn many_conversations_share_the_last_letter() {
    let (mailbox, server, ada, bob, channel) = two().await;
    for number in 0..52 {
        bob.send(channel, &format!("topic {number}"), "@**Ada** hello").await;
    }
    let letters = mailbox.later(&server, &ada).await;
    assert_eq!(letters.len(), 51);
    assert_eq!(letters[0].subject, "New messages");
    assert!(letters[0].text.starts_with("2 new messages in other conversations"), "{}", letters[0].text);
    assert_eq!(
        (letters[1].subject.as_str(), letters[50].subject.as_str()),
        ("#general > topic 2", "#general > topic 51")
    );
    assert_eq!(server.column("SELECT count(*) FROM missed_batch").await, ["0"]);
}

#[tokio::test]
async fn a_long_letter_ends_with_a_number() {
    let (mailbox, server, ada, bob, _) = two().await;
    for number in 0..25 {
        bob.send_direct(&[&ada], &format!("{number} {}", "long ".repeat(1900))).await;
    }
    let letters = mailbox.later(&server, &ada).await;
    let text = &letters[0].text;
    assert!(text.contains("> 0 long") && !text.contains("> 24 long"), "the first ones are shown");
    let shown = text.matches("long long").count() / 949;
    assert!(text.contains(&format!("{} more messages", 25 - shown)), "{shown}");
    assert!(text.len() < 300_000);
}
