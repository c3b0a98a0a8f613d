//! A bot written with `reqwest`, and the faults it has to survive: a rate limit, an expired queue, a dropped
//! connection, a restart of the server.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use teamchat::testing::{
    Channel, Fault, Fixtures, Pattern, RecordedRequest, RequestFilter, Restart, TestServer, User,
};

const BOT: &str = "echo-bot@example.com";
const HAMLET: &str = "hamlet@example.com";

/// Answers each message that mentions "echo" with the same text.
struct EchoBot {
    http: reqwest::Client,
    site: String,
    api_key: String,
}

impl EchoBot {
    async fn run(self) {
        loop {
            let queue = self.call(Method::POST, "/register", &json!({"event_types": "[\"message\"]"})).await;
            let Some(queue_id) = queue["queue_id"].as_str() else { continue };
            let mut last = queue["last_event_id"].clone();
            loop {
                let poll = json!({"queue_id": queue_id, "last_event_id": last});
                let answer = self.call(Method::GET, "/events", &poll).await;
                if answer["code"] == "BAD_EVENT_QUEUE_ID" {
                    break;
                }
                for event in answer["events"].as_array().into_iter().flatten() {
                    last = event["id"].clone();
                    self.handle(&event["message"]).await;
                }
            }
        }
    }

    async fn handle(&self, message: &Value) {
        let content = message["content"].as_str().unwrap_or_default();
        if message["sender_email"] == BOT || !content.contains("echo") {
            return;
        }
        let text = content.replace("<p>", "").replace("</p>", "");
        let form = json!({"type": "channel", "to": message["stream_id"], "topic": message["subject"], "content": text});
        self.call(Method::POST, "/messages", &form).await;
    }

    /// Tries until the server answers.
    async fn call(&self, method: Method, path: &str, parameters: &Value) -> Value {
        loop {
            let url = format!("{}/api/v1{path}", self.site);
            let request = self.http.request(method.clone(), url).basic_auth(BOT, Some(&self.api_key));
            let request =
                if method == Method::GET { request.query(parameters) } else { request.form(parameters) };
            let Ok(response) = request.send().await else {
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            };
            let status = response.status();
            let Ok(answer) = response.json::<Value>().await else { continue };
            if status == StatusCode::TOO_MANY_REQUESTS {
                let seconds = answer["retry-after"].as_f64().unwrap_or(1.0);
                tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
                continue;
            }
            return answer;
        }
    }
}

async fn server() -> TestServer {
    let fixtures = Fixtures::new()
        .user(User::member(HAMLET, "Hamlet"))
        .user(User::bot(BOT, "Echo", HAMLET))
        .channel(Channel::public("Verona").subscriber(HAMLET).subscriber(BOT));
    TestServer::start(fixtures).await.unwrap()
}

fn of_bot(path: &str) -> RequestFilter {
    RequestFilter {
        user: Some(BOT.to_owned()),
        path: Some(Pattern(path.to_owned())),
        ..RequestFilter::default()
    }
}

/// Waits until the bot has asked so often.
async fn seen(server: &TestServer, filter: RequestFilter, count: usize) -> Vec<RecordedRequest> {
    let list = server.wait_for_requests(filter, count, Duration::from_secs(60)).await.unwrap();
    assert!(list.len() >= count, "{list:?}");
    list
}

#[tokio::test]
async fn bots_survive_faults() {
    let server = server().await;
    let bot = EchoBot {
        http: reqwest::Client::new(),
        site: server.url(),
        api_key: server.api_key(BOT).unwrap().to_owned(),
    };
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(bot.run());
    let waiting = || RequestFilter { pending: true, ..of_bot("/events") };
    seen(&server, waiting(), 1).await;

    // The bot answers, even after a rate limit.
    let limit = Fault::status(429).path("/messages").user(BOT).header("Retry-After", "0.01").times(2);
    server.fault(limit).await.unwrap();
    server.send_to_channel(HAMLET, "Verona", "t", "echo one").await.unwrap();
    let sent = seen(&server, of_bot("/messages"), 3).await;
    assert_eq!(
        sent.iter().map(|request| request.status).collect::<Vec<_>>(),
        [Some(429), Some(429), Some(200)]
    );
    assert!(sent.iter().all(|request| request.form["content"] == "echo one"));
    server.fault(Fault::status(500).path("/mesages")).await.unwrap();
    let left = server.faults().await.unwrap();
    assert_eq!(left.iter().map(|fault| fault.fired).collect::<Vec<_>>(), [0], "the other one is done");

    // Its queue has expired: it registers again.
    server.clear_requests().await.unwrap();
    assert_eq!(server.expire_queues(Some(BOT)).await.unwrap(), 1);
    seen(&server, of_bot("/register"), 1).await;
    server.send_to_channel(HAMLET, "Verona", "t", "echo two").await.unwrap();
    seen(&server, of_bot("/messages"), 1).await;

    // The answer to a poll is cut in half: it asks again for the same event.
    server.clear_requests().await.unwrap();
    server.fault(Fault::half_answer().path("/events")).await.unwrap();
    server.send_to_channel(HAMLET, "Verona", "t", "echo three").await.unwrap();
    server.send_to_channel(HAMLET, "Verona", "t", "echo four").await.unwrap();
    seen(&server, of_bot("/messages"), 2).await;

    // The server restarts: the queue survives.
    server.clear_requests().await.unwrap();
    server.restart(Restart { abrupt: true, down: 0.05 }).await.unwrap();
    server.send_to_channel(HAMLET, "Verona", "t", "echo five").await.unwrap();
    seen(&server, of_bot("/messages"), 1).await;
    assert_eq!(server.find_requests(of_bot("/register")).await.unwrap(), []);
}
