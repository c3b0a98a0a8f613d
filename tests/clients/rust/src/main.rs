//! The client crate `zulip-api` against a server: a bot reports a build, and its owner reads, answers and tidies up.
//!
//! `rust.py` creates the users, the channel, the configuration files and the state that `register` must return.
//!
//! ```text
//! teamchat-zulip-api BOT_ZULIPRC EMAIL PASSWORD OTHER_ZULIPRC...
//! ```
//!
//! Prints one line for each step. The exit code is 0 only if all of them passed.

use std::error::Error;
use std::fmt::Debug;
use std::process::ExitCode;

use serde_json::Value;
use zulip_api::api::{ApiKey, User};
use zulip_api::client::Client;
use zulip_api::filter::{Anchor, Narrow, Operand, Operator};
use zulip_api::response::{ApiResult, ErrorCode, Response};
use zulip_api::{
    ContentType, DisplayRecipient, Flag, Message, MessageTo, MessageType, Operation, PropagateMode,
    ReactionType, ReportType, Role, Subscription, delete_message, edit_message, emoji_reaction,
    fetch_api_key, get_file_temporary_url, get_message, get_message_history, get_messages, get_read_receipts,
    jwt, mark_stream_as_read, mark_topic_as_read, matches_narrow, register, render, report_message,
    send_message, update_message_flags, update_message_flags_narrow, upload_file,
};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The channel created by `rust.py`, and its messages.
const CHANNEL: &str = "builds";
const TOPIC: &str = "release";
const REPORT: &str = "Build 7 **passed**";
const CORRECTION: &str = "Build 7 **failed**";
const LOG: &str = "compiling\nlinking: out of memory\n";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [zuliprc, email, password, others @ ..] = arguments.as_slice() else {
        eprintln!("usage: teamchat-zulip-api BOT_ZULIPRC EMAIL PASSWORD OTHER_ZULIPRC...");
        return ExitCode::FAILURE;
    };
    let mut steps = Steps { failed: false };
    if converse(&mut steps, zuliprc, email, password, others).await.is_none() || steps.failed {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// All steps. `None` if a step failed whose result the next ones need.
async fn converse(
    steps: &mut Steps,
    zuliprc: &str,
    email: &str,
    password: &str,
    others: &[String],
) -> Option<()> {
    let bot = steps.step("a bot reads its zuliprc, and knows who it is", bot(zuliprc).await)?;
    let owner =
        steps.step("a person logs in with email and password", log_in(&bot, email, password).await)?;
    steps.step("the errors have the published codes", errors(&bot).await);
    let queue =
        steps.step("register: the whole state has the client's types", state(&owner, others).await)?;

    let report = steps.step("the bot reports to a channel by name", send_report(&bot).await)?;
    let (id, channel) = (report.id(), report.stream_id()?);
    let sent = send_elsewhere(&bot, channel, email).await;
    let (other, direct) = steps.step("it writes by id of the channel, and in private", sent)?;
    steps.step("a narrow over given messages marks what was found", matches(&owner, id, other).await);
    steps.step("it edits and moves its report; the history has both", edit(&bot, &owner, id).await);
    steps.step("the person reacts and takes one back", react(&owner, &bot, id).await);
    steps.step("the person stars a message, by id and by narrow", star(&owner, &[id, other]).await);
    let sent = [id, other, direct];
    steps.step("what is unread shrinks by narrow, topic, channel and all", read(&owner, channel, sent).await);
    steps.step("the bot sees who has read its report", receipts(&bot, &owner, id).await);
    steps.step("markdown is rendered as in messages", rendering(&owner).await);
    steps.step("a file is uploaded, linked, and read at its temporary address", files(&bot, &owner).await);
    steps.step("a message is reported to the moderators", report_to_moderators(&owner, id).await);
    steps.step("a message is deleted, and gone", delete(&bot, other).await);
    steps.step("the queue of the person has heard of all this, in order", events(&owner, &queue, sent).await)
}

/// Prints each step in a line, and records failures.
struct Steps {
    failed: bool,
}

impl Steps {
    fn step<T>(&mut self, text: &str, outcome: Outcome<T>) -> Option<T> {
        match outcome {
            Ok(result) => {
                println!("ok      {text}");
                Some(result)
            }
            Err(error) => {
                self.failed = true;
                println!("FAILED  {text}\n        {error}");
                None
            }
        }
    }
}

fn expect<T: PartialEq + Debug>(what: &str, actual: T, expected: T) -> Outcome {
    if actual == expected {
        return Ok(());
    }
    Err(format!("{what} is {actual:?}, expected {expected:?}").into())
}

/// The answer, if it is a success without ignored parameters.
fn succeeded<R: Response>(answer: R) -> Outcome<R> {
    expect(answer.msg(), answer.result(), ApiResult::Success)?;
    expect("ignored_parameters_unsupported", answer.ignored_parameters_unsupported(), None)?;
    Ok(answer)
}

fn failed<R: Response>(answer: R, code: ErrorCode, msg: &str) -> Outcome {
    expect("the error", (answer.result(), answer.code(), answer.msg()), (ApiResult::Error, Some(code), msg))
}

/// Requests a path below `/api/v1` for which the client has no types.
async fn call(client: &Client, path: &str) -> Outcome<Value> {
    Ok(serde_json::from_str(&client.load_page(&format!("api/v1/{path}")).await?)?)
}

fn to_channel() -> send_message::Request {
    send_message::Request::new()
        .with_msg_type(MessageType::Channel)
        .with_to(MessageTo::channel_name(CHANNEL))
        .with_topic(TOPIC)
}

async fn send(client: &Client, message: &send_message::Request) -> Outcome<u64> {
    succeeded(client.send_message(message).await?)?.id().ok_or_else(|| "the message has no id".into())
}

async fn load(client: &Client, id: u64) -> Outcome<Message> {
    let request = get_message::Request::new().with_message_id(id).with_apply_markdown(false);
    let answer = succeeded(client.get_message(&request).await?)?;
    answer.message().cloned().ok_or_else(|| "the answer has no message".into())
}

/// The newest messages, the oldest first.
async fn newest(client: &Client) -> Outcome<Vec<Message>> {
    let request =
        get_messages::Request::new().with_anchor(Anchor::Newest).with_num_before(100).with_num_after(0);
    Ok(client.get_messages(&request).await?.messages().to_vec())
}

async fn bot(zuliprc: &str) -> Outcome<Client> {
    let bot = Client::from_zuliprc(zuliprc)?;
    let me = call(&bot, "users/me").await?;
    expect("the bot", (me["full_name"].as_str(), me["is_bot"].as_bool()), (Some("Build Bot"), Some(true)))?;
    Ok(bot)
}

/// The client signs the request too, as for servers that ask for it. This one has no use for the signature and says so.
async fn log_in(anyone: &Client, email: &str, password: &str) -> Outcome<Client> {
    let key = jwt::EncodingKey::from_secret(b"unused");
    let request = |password: &str| {
        let (email, password) = (fetch_api_key::Email::new(email), fetch_api_key::Password::new(password));
        fetch_api_key::Request::create(jwt::Algorithm::HS256, &key, &email, &password)
    };
    // The client does not know the code of this error, and shows it as text that it could not read.
    let refused = anyone.fetch_api_key(&request("wrong")?).await.err().map(|error| error.to_string());
    expect("a wrong password", refused.is_some_and(|text| text.contains("AUTHENTICATION_FAILED")), true)?;

    let answer = anyone.fetch_api_key(&request(password)?).await?;
    expect("the result", (answer.result(), answer.email()), (ApiResult::Success, Some(email)))?;
    expect("ignored", answer.ignored_parameters_unsupported(), Some(["token".to_owned()].as_slice()))?;
    let api_key = answer.api_key().ok_or("no api_key")?;
    let client = Client::new(anyone.base_url().parse()?, User::from(email), ApiKey::from(api_key))?;
    let me = call(&client, "users/me").await?;
    expect("the person", me["user_id"].as_i64(), answer.user_id())?;
    Ok(client)
}

async fn errors(bot: &Client) -> Outcome {
    let anonymous = Client::new(
        bot.base_url().parse()?,
        User::from("nobody@chat.example"),
        ApiKey::from("x".repeat(32)),
    )?;
    let refused = anonymous.send_message(&to_channel().with_content("hello")).await?;
    failed(refused, ErrorCode::InvalidApiKey, "Invalid API key")?;

    let nowhere = to_channel().with_to(MessageTo::channel_name("nowhere")).with_content("hello");
    let refused = bot.send_message(&nowhere).await?;
    failed(refused, ErrorCode::StreamDoesNotExist, "Channel 'nowhere' does not exist")?;

    let refused = bot.get_message(&get_message::Request::new().with_message_id(1_000_000)).await?;
    failed(refused, ErrorCode::BadRequest, "Invalid message(s)")?;

    let narrow = [Narrow::create(Operator::Is, Operand::text("purple"))];
    let request = matches_narrow::Request::new().with_msg_ids([1].as_slice()).with_narrow(narrow.as_slice());
    let refused = bot.matches_narrow(&request).await?;
    failed(refused, ErrorCode::BadNarrow, "Invalid narrow operator: unknown 'is' operand purple")
}

/// The client sends its parameters as JSON, which holds none here as on the published server: everything comes, in the
/// form for clients without capabilities. Returns the id of the owner's queue.
async fn state(owner: &Client, others: &[String]) -> Outcome<String> {
    for zuliprc in others {
        let client = Client::from_zuliprc(zuliprc)?;
        let state = client
            .register(&register::Request::new())
            .await
            .map_err(|error| format!("{zuliprc}: {error}"))?;
        expect(zuliprc, succeeded(state)?.queue_id().is_some(), true)?;
    }
    let state = succeeded(owner.register(&register::Request::new()).await?)?;
    let level = call(owner, "server_settings").await?["zulip_feature_level"].as_i64();
    expect("zulip_feature_level", state.zulip_feature_level(), level)?;
    expect("the caller", (state.full_name(), state.is_owner()), (Some("Olga Owner"), Some(true)))?;
    let users = state.realm_users().unwrap_or_default().iter();
    let people =
        users.filter(|user| user.is_bot() == Some(false)).map(|user| (user.full_name(), user.role()));
    let expected = vec![
        (Some("Olga Owner"), Some(Role::OrganizationOwner)),
        (Some("Jonas Member"), Some(Role::Member)),
        (Some("Mona Moderator"), Some(Role::OrganizationModerator)),
        (Some("Gil Guest"), Some(Role::Guest)),
    ];
    expect("realm_users", people.collect(), expected)?;
    let names =
        |list: &[Subscription]| -> Vec<_> { list.iter().map(|one| one.name().map(String::from)).collect() };
    let channels = ["builds", "general", "moderation"].map(|name| Some(name.to_owned()));
    expect("subscriptions", names(state.subscriptions().unwrap_or_default()), channels.to_vec())?;
    expect("unsubscribed", names(state.unsubscribed().unwrap_or_default()), vec![Some("left".to_owned())])?;
    let unread = state.unread_msgs().ok_or("no unread_msgs")?;
    let topics = unread.streams().unwrap_or_default().iter().map(|stream| stream.topic());
    expect("unread topics", topics.collect(), vec![Some("news")])?;
    expect("alert_words", state.alert_words(), Some(["deploy".to_owned()].as_slice()))?;
    let parts = [
        ("drafts", state.drafts().map(<[_]>::len), 3),
        ("saved_snippets", state.saved_snippets().map(<[_]>::len), 1),
        ("scheduled_messages", state.scheduled_messages().map(<[_]>::len), 2),
        ("reminders", state.reminders().map(<[_]>::len), 1),
        ("navigation_views", state.navigation_views().map(<[_]>::len), 2),
        ("channel_folders", state.channel_folders().map(<[_]>::len), 1),
        ("realm_default_stream_groups", state.realm_default_stream_groups().map(<[_]>::len), 1),
        ("realm_domains", state.realm_domains().map(<[_]>::len), 1),
        ("realm_playgrounds", state.realm_playgrounds().map(<[_]>::len), 1),
        ("custom_profile_fields", state.custom_profile_fields().map(<[_]>::len), 4),
        ("realm_emoji", state.realm_emoji().map(|emoji| emoji.len()), 1),
        ("user_status", state.user_status().map(|status| status.len()), 2),
        ("muted_users", state.muted_users().map(<[_]>::len), 1),
        ("user_topics", state.user_topics().map(<[_]>::len), 2),
        ("realm_bots", state.realm_bots().map(<[_]>::len), 2),
    ];
    for (name, count, expected) in parts {
        expect(name, count, Some(expected))?;
    }
    state.queue_id().map(String::from).ok_or_else(|| "no queue_id".into())
}

async fn send_report(bot: &Client) -> Outcome<Message> {
    let id = send(bot, &to_channel().with_content(REPORT)).await?;
    let message = load(bot, id).await?;
    expect("the content", (message.content(), message.content_type()), (REPORT, ContentType::Markdown))?;
    expect("the topic", (message.subject(), message.msg_type()), (TOPIC, MessageType::Stream))?;
    expect("display_recipient", message.display_recipient(), &DisplayRecipient::channel(CHANNEL))?;
    expect("the sender", message.sender_full_name(), "Build Bot")?;
    expect("the client", message.client(), "ZulipRust")?;
    expect("the flags", message.flags(), &[])?;

    let html = get_message::Request::new().with_message_id(id).with_apply_markdown(true);
    let answer = succeeded(bot.get_message(&html).await?)?;
    let html = answer.message().map(|message| (message.content(), message.content_type()));
    expect("as HTML", html, Some(("<p>Build 7 <strong>passed</strong></p>", ContentType::Html)))?;
    Ok(message)
}

/// The client cannot put a list of people into a form; one email address as text it can.
async fn send_elsewhere(bot: &Client, channel: u64, email: &str) -> Outcome<(u64, u64)> {
    let link = to_channel()
        .with_to(MessageTo::channel_id(channel))
        .with_topic("links")
        .with_content("http://ci.example/7");
    let link = send(bot, &link).await?;
    let direct = send_message::Request::new()
        .with_msg_type(MessageType::Direct)
        .with_to(MessageTo::channel_name(email));
    let direct = send(bot, &direct.with_content("look at build 7")).await?;

    let found = newest(bot).await?;
    let ids: Vec<u64> = found.iter().map(Message::id).collect();
    expect("the newest messages", &ids[ids.len().saturating_sub(2)..], &[link, direct])?;
    let message = load(bot, direct).await?;
    expect("the type", (message.msg_type(), message.stream_id()), (MessageType::Private, None))?;
    let people = message.display_recipient().as_user()?.iter().map(|user| user.full_name());
    expect("display_recipient", people.collect(), vec!["Olga Owner", "Build Bot"])?;
    Ok((link, direct))
}

async fn matches(owner: &Client, report: u64, link: u64) -> Outcome {
    let narrow = [
        Narrow::create(Operator::Channel, Operand::text(CHANNEL)),
        Narrow::create(Operator::Has, Operand::text("link")),
    ];
    let request =
        matches_narrow::Request::new().with_msg_ids([report, link].as_slice()).with_narrow(narrow.as_slice());
    let answer = succeeded(owner.matches_narrow(&request).await?)?;
    let found =
        answer.messages().into_iter().flatten().map(|(id, found)| (id.as_str(), found.match_subject()));
    expect("what matches", found.collect(), vec![(link.to_string().as_str(), "links")])
}

async fn edit(bot: &Client, owner: &Client, id: u64) -> Outcome {
    let request = edit_message::Request::new()
        .with_message_id(id)
        .with_content(CORRECTION)
        .with_topic("broken")
        .with_propagate_mode(PropagateMode::ChangeOne)
        .with_send_notification_to_old_thread(false)
        .with_send_notification_to_new_thread(false);
    let answer = succeeded(bot.edit_message(&request).await?)?;
    expect("detached_uploads", answer.detached_uploads().map(<[_]>::len), Some(0))?;

    let message = load(owner, id).await?;
    expect("the message", (message.content(), message.subject()), (CORRECTION, "broken"))?;
    expect("last_edit_timestamp", message.last_edit_timestamp() >= Some(message.timestamp()), true)?;
    let edits = message.edit_history().unwrap_or_default();
    let edits = edits.iter().map(|edit| (edit.prev_content(), edit.prev_topic(), edit.topic()));
    expect("edit_history", edits.collect(), vec![(Some(REPORT), Some(TOPIC), Some("broken"))])?;

    let request = get_message_history::Request::new().with_message_id(id);
    let answer = succeeded(owner.get_message_history(&request).await?)?;
    let history = answer.message_history().unwrap_or_default().iter();
    let history = history.map(|version| (version.content(), version.topic(), version.prev_topic()));
    expect("the history", history.collect(), vec![(REPORT, TOPIC, None), (CORRECTION, "broken", Some(TOPIC))])
}

async fn react(owner: &Client, bot: &Client, id: u64) -> Outcome {
    let tada = emoji_reaction::Request::new().with_message_id(id).with_emoji_name("tada");
    let octopus = tada.clone().with_emoji_name("octopus");
    succeeded(owner.add_reaction(&tada).await?)?;
    succeeded(owner.add_reaction(&octopus).await?)?;
    succeeded(owner.remove_reaction(&tada).await?)?;
    let message = load(bot, id).await?;
    let reactions =
        message.reactions().iter().map(|one| (one.emoji_name(), one.emoji_code(), one.reaction_type()));
    expect("the reactions", reactions.collect(), vec![("octopus", "1f419", ReactionType::UnicodeEmoji)])
}

async fn flags(client: &Client, id: u64) -> Outcome<Vec<Flag>> {
    Ok(load(client, id).await?.flags().to_vec())
}

async fn star(owner: &Client, ids: &[u64; 2]) -> Outcome {
    let star = update_message_flags::Request::new().with_flag(Flag::Starred);
    let add = star.clone().with_op(Operation::Add).with_messages(ids.as_slice());
    let answer = succeeded(owner.update_message_flags(&add).await?)?;
    expect("messages", answer.messages(), Some(ids.as_slice()))?;
    expect("the flags", flags(owner, ids[0]).await?, vec![Flag::Starred])?;

    let remove = in_narrow(ids[1], Narrow::create(Operator::Is, Operand::text("starred")))
        .with_op(Operation::Remove)
        .with_flag(Flag::Starred);
    let answer = succeeded(owner.update_message_flags_narrow(&remove).await?)?;
    let counts = (answer.processed_count(), answer.updated_count(), answer.last_processed_id());
    expect("the counts", counts, (Some(1), Some(1), Some(ids[1])))?;
    expect(
        "the flags",
        (flags(owner, ids[0]).await?, flags(owner, ids[1]).await?),
        (vec![Flag::Starred], vec![]),
    )
}

/// One message, if it is in a narrow.
fn in_narrow(id: u64, narrow: Narrow) -> update_message_flags_narrow::Request {
    update_message_flags_narrow::Request::new()
        .with_anchor(Anchor::MessageId(id))
        .with_include_anchor(true)
        .with_narrow(vec![narrow])
}

async fn unread(client: &Client, among: [u64; 3]) -> Outcome<Vec<u64>> {
    let messages = newest(client).await?.into_iter();
    let unread =
        messages.filter(|message| among.contains(&message.id()) && !message.flags().contains(&Flag::Read));
    Ok(unread.map(|message| message.id()).collect())
}

async fn read(owner: &Client, channel: u64, sent: [u64; 3]) -> Outcome {
    let [report, link, direct] = sent;
    expect("unread at first", unread(owner, sent).await?, sent.to_vec())?;
    let request = in_narrow(report, Narrow::create(Operator::Topic, Operand::text("broken")))
        .with_op(Operation::Add)
        .with_flag(Flag::Read);
    let answer = succeeded(owner.update_message_flags_narrow(&request).await?)?;
    expect("updated_count", answer.updated_count(), Some(1))?;
    expect("after a narrow", unread(owner, sent).await?, vec![link, direct])?;

    let request = mark_topic_as_read::Request::new().with_stream_id(channel).with_topic_name("links");
    succeeded(owner.mark_topic_as_read(&request).await?)?;
    expect("after a topic", unread(owner, sent).await?, vec![direct])?;

    let unread_again = update_message_flags::Request::new()
        .with_messages([report].as_slice())
        .with_op(Operation::Remove)
        .with_flag(Flag::Read);
    succeeded(owner.update_message_flags(&unread_again).await?)?;
    expect("unread again", unread(owner, sent).await?, vec![report, direct])?;
    succeeded(
        owner.mark_stream_as_read(&mark_stream_as_read::Request::new().with_stream_id(channel)).await?,
    )?;
    expect("after a channel", unread(owner, sent).await?, vec![direct])?;

    expect("complete", succeeded(owner.mark_all_as_read().await?)?.complete(), Some(true))?;
    expect("after all", unread(owner, sent).await?, vec![])
}

async fn receipts(bot: &Client, owner: &Client, id: u64) -> Outcome {
    let reader = call(owner, "users/me").await?["user_id"].as_u64().ok_or("no user_id")?;
    let answer =
        succeeded(bot.get_read_receipts(&get_read_receipts::Request::new().with_message_id(id)).await?)?;
    expect("user_ids", answer.user_ids(), Some([reader].as_slice()))
}

async fn rendering(owner: &Client) -> Outcome {
    let answer = succeeded(owner.render(&render::Request::new().with_content("*see* #**builds**")).await?)?;
    let html = answer.rendered().unwrap_or_default();
    expect("emphasis", html.starts_with("<p><em>see</em> <a class=\"stream\""), true)
}

async fn files(bot: &Client, owner: &Client) -> Outcome {
    let path = std::env::temp_dir().join(format!("build-{}.log", std::process::id()));
    std::fs::write(&path, LOG)?;
    let request = upload_file::Request::new().with_file_path(path.to_string_lossy());
    let uploaded = bot.upload_file(&request).await;
    std::fs::remove_file(&path)?;
    let uploaded = uploaded?;
    let (name, url) = (uploaded.filename().unwrap_or_default(), uploaded.url().unwrap_or_default());
    expect("filename", Some(name), path.file_name().and_then(|name| name.to_str()))?;
    expect("uri", uploaded.uri(), Some(url))?;
    let id = send(bot, &to_channel().with_content(format!("[{name}]({url})"))).await?;

    let request = get_file_temporary_url::Request::new()
        .with_realm_id(uploaded.realm_id()?)
        .with_filename(uploaded.filename_path()?);
    let temporary = succeeded(owner.get_file_temporary_url(&request).await?)?;
    let anonymous = Client::new(owner.base_url().parse()?, User::new(), ApiKey::new())?;
    let content = anonymous.load_page(temporary.url().unwrap_or_default().trim_start_matches('/')).await?;
    expect("the file", content.as_str(), LOG)?;
    expect("the file with a login", owner.load_page(url.trim_start_matches('/')).await?.as_str(), LOG)?;

    // Taking the link away leaves a file that nothing refers to.
    let request = edit_message::Request::new().with_message_id(id).with_content("the log is gone");
    let answer = succeeded(bot.edit_message(&request).await?)?;
    let detached =
        answer.detached_uploads().unwrap_or_default().iter().map(|file| (file.name(), file.size()));
    expect("detached_uploads", detached.collect(), vec![(Some(name), Some(LOG.len() as u64))])
}

async fn report_to_moderators(owner: &Client, id: u64) -> Outcome {
    let request = report_message::Request::new()
        .with_message_id(id)
        .with_report_type(ReportType::Other)
        .with_description("It never passes");
    succeeded(owner.report_message(&request).await?)?;
    Ok(())
}

async fn delete(bot: &Client, id: u64) -> Outcome {
    succeeded(bot.delete_message(&delete_message::Request::new().with_message_id(id)).await?)?;
    let answer = bot.get_message(&get_message::Request::new().with_message_id(id)).await?;
    failed(answer, ErrorCode::BadRequest, "Invalid message(s)")
}

/// The events since `register`, read as a page: the client has no call and no types for them.
async fn events(owner: &Client, queue: &str, sent: [u64; 3]) -> Outcome {
    let answer = call(owner, &format!("events?queue_id={queue}&last_event_id=-1&dont_block=true")).await?;
    let events = answer["events"].as_array().ok_or("no events")?;
    let [report, link, direct] = sent;
    let flags = |op: &str, flag: &str, ids: &[u64]| format!("{op} {flag} {ids:?}");
    // That of the message that was deleted meanwhile is not delivered.
    let expected = [
        format!("message {report}"),
        format!("message {direct}"),
        format!("update_message {report}"),
        format!("reaction add tada {report}"),
        format!("reaction add octopus {report}"),
        format!("reaction remove tada {report}"),
        flags("add", "starred", &[report, link]),
        flags("remove", "starred", &[link]),
        flags("add", "read", &[report]),
        flags("add", "read", &[link]),
        flags("remove", "read", &[report]),
    ];
    expect("the first events", events.iter().map(summary).take(expected.len()).collect(), expected.to_vec())?;
    expect("the last event", events.last().map(summary), Some(format!("delete_message {link}")))
}

/// An event in a few words.
fn summary(event: &Value) -> String {
    let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
    match event["type"].as_str() {
        Some("message") => format!("message {}", event["message"]["id"]),
        Some("reaction") => {
            format!("reaction {} {} {}", text("op"), text("emoji_name"), event["message_id"])
        }
        Some("update_message_flags") => {
            let ids = event["messages"].as_array().into_iter().flatten().filter_map(Value::as_u64);
            format!("{} {} {:?}", text("op"), text("flag"), ids.collect::<Vec<_>>())
        }
        _ => format!("{} {}", text("type"), event["message_id"]),
    }
}
