//! An event queue and the events received through it.

use super::{Answer, Client, RUNTIME, matching};
use serde_json::{Value, json};
use std::pin::Pin;
use std::sync::mpsc;
use teamchat::events::{Delivery, Poller, QueueId};
use teamchat::types::{EventId, UserId};

/// A registered queue. Dropping it with events that the test has not read fails the test, because an unexpected event
/// is an error. [`Queue::ignore`] disables this.
#[expect(clippy::struct_field_names, reason = "`queue_id` is the interface's word")]
pub struct Queue {
    client: Client,
    /// The queue's name.
    pub queue_id: String,
    /// The answer of `POST /register`.
    pub state: Value,
    /// The newest acknowledged event.
    pub last_event_id: i64,
    ignored: bool,
}

impl Queue {
    pub(super) fn new(client: Client, state: Value) -> Self {
        let queue_id = state["queue_id"].as_str().expect("register names the queue").to_owned();
        let last_event_id = state["last_event_id"].as_i64().expect("register names the last event");
        Self { client, queue_id, state, last_event_id, ignored: false }
    }

    /// Takes all events so far, the oldest first.
    pub async fn events(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let answer = self.client.get("/events", self.poll(true)).await.ok();
            let page = answer["events"].as_array().expect("a list of events").clone();
            if page.is_empty() {
                return events;
            }
            for event in page {
                let id = event["id"].as_i64().expect("an event has an id");
                assert!(id > self.last_event_id, "event ids grow: {id} after {}", self.last_event_id);
                assert!(event["type"].is_string(), "an event has a type: {event}");
                self.last_event_id = id;
                events.push(event);
            }
        }
    }

    /// Polls without taking anything, so that the queue does not expire.
    pub async fn touch(&self) {
        self.poll_hub().await;
    }

    /// Takes all events so far without HTTP, for tests that look at many queues after each step.
    pub async fn take(&mut self) -> Vec<Value> {
        let mut events: Vec<Value> = Vec::new();
        loop {
            let page = self.poll_hub().await;
            if page.is_empty() {
                return events;
            }
            let page: Value = format!("[{page}]").parse().expect("events are JSON");
            let Value::Array(page) = page else { unreachable!("a list") };
            self.last_event_id =
                page.last().and_then(|event| event["id"].as_i64()).expect("an event has an id");
            events.extend(page);
        }
    }

    /// Polls without waiting and without HTTP. Returns the members of a list of events.
    async fn poll_hub(&self) -> String {
        let app = self.client.app().expect("the server runs");
        let (queue_id, user_id) = (QueueId(self.queue_id.as_str().into()), UserId(self.client.user_id));
        let last = Some(EventId(self.last_event_id));
        let poll = async move {
            let poller = Poller { user_id, quota_owner: user_id, pool: &app.pools.slow_reads };
            app.hub.poll(&queue_id, poller, last, None, &app.clock).await
        };
        match RUNTIME.spawn(poll).await.unwrap() {
            Ok(Delivery::Events(page)) => page,
            other => panic!("a queue of {}: {other:?}", self.client.full_name),
        }
    }

    /// Waits for events as clients do: answers at once if there are any.
    pub async fn wait(&mut self) -> Vec<Value> {
        let answer = self.client.get("/events", self.poll(false)).await.ok();
        let events = answer["events"].as_array().expect("a list of events").clone();
        self.last_event_id = events.last().map_or(self.last_event_id, |event| event["id"].as_i64().unwrap());
        events
    }

    /// A poll that waits on the server.
    pub async fn waiting_poll(&self) -> Pin<Box<impl Future<Output = Answer>>> {
        let poll = || Box::pin(self.client.get("/events", self.poll(false)));
        let (mut one, mut other) = (poll(), poll());
        // The second of two polls ends the first: so one of them waits.
        tokio::select! {
            _ = &mut one => other,
            _ = &mut other => one,
        }
    }

    /// Parameters of `GET /events` that acknowledge the events so far.
    pub fn poll(&self, dont_block: bool) -> Value {
        json!({"queue_id": self.queue_id, "last_event_id": self.last_event_id, "dont_block": dont_block})
    }

    /// Takes all events so far, which must be exactly these, in this order. Ids are left out; the text `"*"` matches
    /// any value. Returns the events, with ids.
    pub async fn expect(&mut self, expected: &[Value]) -> Vec<Value> {
        let events = self.events().await;
        let found: Value = events.iter().map(without_id).collect();
        let differences = matching::differences(&Value::from(expected.to_vec()), &found);
        let who = &self.client.full_name;
        assert!(
            differences.is_empty(),
            "events of {who} differ:\n{}\n\nall of them: {found:#}",
            differences.join("\n")
        );
        events
    }

    /// Nothing came.
    pub async fn expect_nothing(&mut self) {
        self.expect(&[]).await;
    }

    /// Takes all events so far, of exactly these kinds, in this order: `message`, `stream/create`.
    pub async fn expect_kinds(&mut self, expected: &[&str]) -> Vec<Value> {
        let events = self.events().await;
        let kinds: Vec<String> = events.iter().map(kind).collect();
        assert_eq!(kinds, expected, "events of {}: {}", self.client.full_name, json!(events));
        events
    }

    /// Ignores further events of this queue.
    pub fn ignore(&mut self) {
        self.ignored = true;
    }

    /// Returns unread events, without HTTP and without waiting.
    fn unread(&self) -> Option<String> {
        let app = self.client.app()?;
        let queue_id = QueueId(self.queue_id.as_str().into());
        let user_id = UserId(self.client.user_id);
        let last = EventId(self.last_event_id);
        let (sender, receiver) = mpsc::channel();
        RUNTIME.spawn(async move {
            let poller = Poller { user_id, quota_owner: user_id, pool: &app.pools.slow_reads };
            let delivery = app.hub.poll(&queue_id, poller, Some(last), None, &app.clock).await;
            drop(app);
            // The test may have given up already.
            let _gone = sender.send(delivery);
        });
        match receiver.recv().ok()? {
            Ok(Delivery::Events(events)) if !events.is_empty() => Some(events),
            // Deleted or expired queues have nothing to say.
            _ => None,
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.ignored || std::thread::panicking() {
            return;
        }
        if let Some(events) = self.unread() {
            panic!("{} has events that the test has not looked at: [{events}]", self.client.full_name);
        }
    }
}

/// An event's type, with its `op` where it has one.
pub fn kind(event: &Value) -> String {
    let name = event["type"].as_str().unwrap_or_default();
    event["op"].as_str().map_or_else(|| name.to_owned(), |op| format!("{name}/{op}"))
}

fn without_id(event: &Value) -> Value {
    let mut event = event.clone();
    event.as_object_mut().expect("an event is an object").remove("id");
    event
}
