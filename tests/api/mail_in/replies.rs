//! Answers to mails about messages.

use super::{Mailer, PATTERN, address_of, last, mail, newest, options, send, start, start_with};
use crate::harness::{Client, TestServer, overtaken};
use crate::mail::sink::MailSink;
use serde_json::json;
use teamchat::app::Options;
use teamchat::domain::mail_addresses;
use teamchat::scheduler;
use teamchat::types::{MailPattern, MessageId, UserId};

/// The address at which a mail about a message is answered.
async fn reply_address(server: &TestServer, user: &Client, message_id: i64) -> String {
    let (user_id, message_id) = (UserId(user.user_id), MessageId(message_id));
    let pattern: MailPattern = PATTERN.parse().unwrap();
    let job = move |tx: &mut teamchat::store::Tx<'_>| {
        mail_addresses::reply_address(tx, Some(&pattern), user_id, message_id)
    };
    server.app().writer.run(job).await.unwrap().unwrap()
}

// conformance: channel-80
#[tokio::test]
async fn answers_go_to_the_conversation_of_the_message() {
    let (server, listener) = start().await;
    let (ada, bob, eve) =
        (server.member("ada").await, server.member("bob").await, server.member("eve").await);
    let stream_id = server.channel("quay", &[&ada, &bob]).await;
    let in_topic = reply_address(&server, &bob, ada.send(stream_id, "tides", "when?").await).await;
    let in_group = reply_address(&server, &bob, ada.send_direct(&[&bob, &eve], "who?").await).await;
    assert!(in_topic.starts_with("mm") && in_topic.len() == "mm@chat.example".len() + 32, "{in_topic}");

    // Often, and with options that only addresses of channels need.
    for text in ["at noon", "at one"] {
        send(
            listener,
            &in_topic,
            &mail("Re: #quay > other", &format!("{text}\n\nOn 21 Sep, Ada wrote:\n> when?")),
        )
        .await;
        let message = newest(&ada, 1).await.pop().unwrap();
        assert_eq!(
            (&message["subject"], &message["content"], &message["sender_id"]),
            (&json!("tides"), &json!(text), &json!(bob.user_id))
        );
    }
    assert_eq!(server.column("SELECT times_used FROM reply_email ORDER BY message_id").await, ["2", "0"]);
    send(listener, &in_group, &mail("Re: Group DMs", "me")).await;
    let message = newest(&eve, 1).await.pop().unwrap();
    assert_eq!(
        (&message["content"], message["display_recipient"].as_array().unwrap().len()),
        (&json!("me"), 3)
    );

    // The messages moved, and so do the answers.
    let owner = server.owner().await;
    let pier = server.channel("pier", &[&ada, &bob, &owner]).await;
    let first =
        newest(&ada, 10).await.iter().find(|message| message["content"] == "when?").unwrap()["id"].clone();
    owner
        .patch(
            &format!("/messages/{first}"),
            json!({"stream_id": pier, "topic": "moved",
        "propagate_mode": "change_all", "send_notification_to_new_thread": false,
        "send_notification_to_old_thread": false}),
        )
        .await
        .ok();
    send(listener, &in_topic, &mail("Re: #quay > tides", "after the move")).await;
    let message = newest(&ada, 1).await.pop().unwrap();
    assert_eq!((&message["stream_id"], &message["subject"]), (&json!(pier), &json!("moved")));
}

/// A message may move after the mail was read, and before the answer is sent.
#[tokio::test]
async fn answers_go_where_the_message_is_when_they_are_sent() {
    let (server, listener) = start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let stream_id = server.channel("quay", &[&ada, &bob]).await;
    let message_id = ada.send(stream_id, "tides", "when?").await;
    let address = reply_address(&server, &bob, message_id).await;
    let moves = format!("UPDATE message SET subject = 'moved' WHERE id = {message_id}");
    overtaken(server.app(), &moves, send(listener, &address, &mail("Re: tides", "noon"))).await;
    assert_eq!(last(&ada).await, ("moved".to_owned(), "noon".to_owned()));
}

// conformance: channel-81
#[tokio::test]
async fn refusals_are_reported_by_the_notification_bot() {
    let (server, listener) = start().await;
    let owner = server.owner().await;
    let bob = server.member("bob").await;
    let stream_id = crate::channels::channel(&owner, "quay").await;
    let address = reply_address(&server, &bob, owner.send(stream_id, "tides", "when?").await).await;
    let private = server.private_channel("hidden", &[&owner]).await;
    let hidden = reply_address(&server, &bob, owner.send(private, "plans", "now").await).await;
    let only_owner = json!({"new": {"direct_members": [owner.user_id], "direct_subgroups": []}});
    owner.patch(&format!("/streams/{stream_id}"), json!({"can_send_message_group": only_owner})).await.ok();
    let before = newest(&owner, 1).await;
    send(listener, &address, &mail("Re: #quay > tides", "noon")).await;
    send(listener, &hidden, &mail("Re: plans", "what?")).await;
    assert_eq!(newest(&owner, 1).await[0]["id"], before[0]["id"]);
    assert_eq!(
        bob.notices().await,
        [
            "Error sending message to channel #**quay** via message notification email reply: \
             You do not have permission to post in this channel."
                .to_owned(),
            format!(
                "Error sending message via message notification email reply: Channel with ID '{private}' does not exist"
            ),
        ]
    );
}

// conformance: channel-82
#[tokio::test]
async fn answers_need_an_active_account_and_the_message() {
    let (server, listener) = start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let stream_id = server.channel("quay", &[&owner, &ada, &bob]).await;
    let message_id = owner.send(stream_id, "tides", "when?").await;
    let of_ada = reply_address(&server, &ada, message_id).await;
    let of_bob = reply_address(&server, &bob, message_id).await;
    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    let mut mailer = Mailer::lmtp(listener).await;
    mailer.say("MAIL FROM:<ann@example.org>").await;
    assert_eq!(mailer.say(&format!("RCPT TO:<{of_ada}>")).await, "550 5.1.1 There is no such address");
    assert_eq!(mailer.say(&format!("RCPT TO:<{of_bob}>")).await, "250 2.1.5 OK");
    // The message is deleted while the mail is on its way, and before the next one.
    owner.delete(&format!("/messages/{message_id}"), ()).await.ok();
    assert!(mailer.say("DATA").await.starts_with("354 "));
    assert_eq!(mailer.say("Subject: Re: x\r\n\r\nnoon\r\n.").await, "250 2.0.0 OK");
    mailer.say("MAIL FROM:<ann@example.org>").await;
    assert_eq!(mailer.say(&format!("RCPT TO:<{of_bob}>")).await, "550 5.1.1 There is no such address");
    assert_eq!(server.column("SELECT count(*) FROM message WHERE content = 'noon'").await, ["0"]);
    assert_eq!(server.column("SELECT count(*) FROM reply_email").await, ["0"]);
}

// conformance: channel-82
#[tokio::test]
async fn answers_do_not_come_from_a_former_address() {
    let (server, listener) = start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let message_id = ada.send_direct(&[&bob], "who?").await;
    let of_ada = reply_address(&server, &ada, message_id).await;
    let of_bob = reply_address(&server, &bob, message_id).await;
    let mut begun = Mailer::lmtp(listener).await;
    begun.begin_mail(&of_bob).await;
    owner.patch(&format!("/users/{}", bob.user_id), json!({"new_email": "new@example.com"})).await.ok();
    assert_eq!(begun.say("Subject: Re: x\r\n\r\nme\r\n.").await, "250 2.0.0 OK");
    assert_eq!(server.column("SELECT count(*) FROM message WHERE content = 'me'").await, ["0"]);
    let mut mailer = Mailer::lmtp(listener).await;
    mailer.say("MAIL FROM:<bob@example.com>").await;
    assert_eq!(mailer.say(&format!("RCPT TO:<{of_bob}>")).await, "550 5.1.1 There is no such address");
    assert_eq!(mailer.say(&format!("RCPT TO:<{of_ada}>")).await, "250 2.1.5 OK");
}

#[tokio::test]
async fn programs_do_not_answer() {
    let (server, listener) = start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let stream_id = server.channel("quay", &[&ada, &bob]).await;
    let address = reply_address(&server, &bob, ada.send(stream_id, "tides", "when?").await).await;
    for header in [
        "Auto-Submitted: auto-replied",
        "Auto-Submitted: auto-generated",
        "Precedence: bulk",
        "List-Id: <ships.example.org>",
        "Reply-To: <mm0@chat.example>",
    ] {
        send(listener, &address, &format!("{header}\nSubject: Re: x\n\nI am away")).await;
        assert_eq!(last(&ada).await.1, "when?", "{header}");
    }
}

#[tokio::test]
async fn answers_count_as_requests_of_their_author() {
    let (server, listener) = start_with(Options { rate_limit: true, ..options() }).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let address = reply_address(&server, &bob, ada.send_direct(&[&bob], "who?").await).await;
    let mut mailer = Mailer::lmtp(listener).await;
    for _ in 0..199 {
        bob.get("/users/me", ()).await.ok();
    }
    assert_eq!(mailer.mail(&address, &mail("Re: x", "me")).await, "250 2.0.0 OK");
    let refusal = mailer.mail(&address, &mail("Re: x", "me")).await;
    assert_eq!(refusal, "451 4.7.1 Too many mails: try again later");
    // The other one is not concerned.
    bob.get("/users/me", ()).await.error(429, "RATE_LIMIT_HIT", "API usage exceeded rate limit");
    ada.get("/users/me", ()).await.ok();
}

/// The emails about messages that a person missed, once their time has come: `Reply-To`, `List-Id` and the text.
async fn missed(server: &TestServer, sink: &mut MailSink, person: &Client) -> Vec<(String, String, String)> {
    scheduler::settle(server.app()).await;
    server.clock.advance(120);
    scheduler::settle(server.app()).await;
    let letters = sink.rest().into_iter().filter(|letter| letter.to == person.email);
    letters.map(|letter| (letter.header("Reply-To"), letter.header("List-Id"), letter.text)).collect()
}

// conformance: missed-17
#[tokio::test]
async fn letters_about_missed_messages_are_answered() {
    let mut sink = MailSink::start();
    let (server, listener) = start_with(Options { mail: sink.options().mail, ..options() }).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let stream_id = server.channel("quay", &[&ada, &bob]).await;
    ada.send(stream_id, "tides", "@**Bob** when?").await;
    ada.send(stream_id, "tides", "@**Bob** today?").await;
    let letters = missed(&server, &mut sink, &bob).await;
    assert_eq!(letters.len(), 1, "{letters:?}");
    let (address, list, text) = &letters[0];
    assert!(address.starts_with("mm") && address.ends_with("@chat.example"), "{address}");
    assert!(
        text.contains("You can reply to this email. Your reply is posted in the conversation."),
        "{text}"
    );
    send(listener, address, &mail("Re: #quay > tides", "at noon")).await;
    let message = newest(&ada, 1).await.pop().unwrap();
    assert_eq!(
        (&message["subject"], &message["content"], &message["sender_id"]),
        (&json!("tides"), &json!("at noon"), &json!(bob.user_id))
    );
    let newest_missed = "SELECT max(id) FROM message WHERE content LIKE '@**Bob** today%'";
    let answered = server.column("SELECT message_id FROM reply_email").await;
    assert_eq!(answered, server.column(newest_missed).await);

    // An email that comes back to a channel is no message.
    let channel = address_of(&ada, stream_id, json!({})).await;
    send(listener, &channel, &format!("List-Id: {list}\nSubject: loop\n\nx")).await;
    assert_eq!(last(&ada).await.1, "at noon");

    // Beyond 50 conversations, the email that the rest share belongs to none.
    for number in 0..51 {
        ada.send(stream_id, &format!("topic {number}"), "@**Bob** hello").await;
    }
    let letters = missed(&server, &mut sink, &bob).await;
    let shared: Vec<_> = letters.iter().filter(|(address, ..)| address == "chat@example.com").collect();
    assert_eq!((letters.len(), shared.len()), (51, 1));
    assert!(shared[0].2.contains("Replies to this email are not read."), "{}", shared[0].2);
}

// conformance: missed-17
#[tokio::test]
async fn letters_are_not_answered_where_no_mail_is_received() {
    let mut sink = MailSink::start();
    let server = TestServer::start_with(sink.options()).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    ada.send_direct(&[&bob], "hello").await;
    let letters = missed(&server, &mut sink, &bob).await;
    let (address, _, text) = &letters[0];
    assert_eq!(address, "chat@example.com");
    assert!(text.contains("Replies to this email are not read. Please reply in the chat."), "{text}");
}

// conformance: channel-82
#[tokio::test]
async fn answers_need_a_message_that_their_author_may_read() {
    let (server, listener) = start().await;
    let owner = server.owner().await;
    let bob = server.member("bob").await;
    let stream_id = server.private_channel("quay", &[&owner]).await;
    let message_id = owner.send(stream_id, "tides", "before Bob came").await;
    let invite = json!({"subscriptions": [{"name": "quay"}], "principals": [bob.user_id]});
    owner.post("/users/me/subscriptions", invite).await.ok();
    let address = reply_address(&server, &bob, message_id).await;
    let before = newest(&owner, 1).await;
    send(listener, &address, &mail("Re: #quay > tides", "noon")).await;
    assert_eq!(newest(&owner, 1).await[0]["id"], before[0]["id"]);
    assert_eq!(
        bob.notices().await.pop().unwrap(),
        "Error sending message to channel #**quay** via message notification email reply: Invalid message(s)"
    );
    assert_eq!(server.column("SELECT times_used FROM reply_email").await, ["0"]);
}
