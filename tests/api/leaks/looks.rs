//! Checks of all GET requests: their answers contain exactly the data that the rules allow.

use super::listen::capabilities;
use super::rules::{Place, words};
use super::{File, Simulation, ids_in};
use crate::harness::Registered;
use crate::harness::access::Person;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use teamchat::http::Route;

/// Parts of paths that the simulation has no values for. Their routes have tests of their own.
const NOT_FILLED: [&str; 5] = ["{path...}", "{key}", "{token}", "{hash}", "{filename...}"];

/// Routes that never succeed here, with the reason.
const NOT_ASKED: [(&str, &str); 6] = [
    ("/api/v1/events", "every step of the simulation polls"),
    ("/api/v1/dev_list_users", "only servers for development have it"),
    ("/api/v1/calls/bigbluebutton/create", "no provider of calls is configured"),
    ("/api/v1/messages/summary", "nothing that summarizes is configured"),
    ("/public/{channel}", "the same page for all: tests/api/visitors/pages.rs"),
    ("/public/{channel}/{topic}", "the same page for all: tests/api/visitors/pages.rs"),
];

/// Members that events cannot keep current: values derived from messages that arrived by a move or became the user's
/// own; topic policies of archived channels, which the state omits; values that change daily; and earlier subscriptions
/// to a channel that was lost and found again, which `streams` lists in either case.
const NOT_KEPT: [&str; 10] = [
    "presences",
    "unsubscribed",
    "never_subscribed",
    "stream_weekly_traffic",
    "messages",
    "unread_msgs",
    "starred_messages",
    "recent_private_conversations",
    "user_topics",
    "muted_topics",
];

impl Simulation {
    /// Compares all readable data with the rules.
    pub async fn look_at_everything(&mut self) {
        for person in 0..self.people.len() {
            if !self.rules.is_active(person) {
                let answer = self.people[person].get("/users/me", ()).await;
                self.assert_same(
                    &answer["msg"],
                    &"Account is deactivated".into(),
                    &format!("{person}: {answer}"),
                );
                continue;
            }
            self.look_at_channels(person).await;
            self.look_at_messages(person).await;
            self.look_at_state(person).await;
            self.look_at_files(person).await;
            self.look_at_every_route(person).await;
        }
        self.compare_states().await;
        self.look_from_outside().await;
        self.look_without_account().await;
    }

    /// Compares what visitors read with the web-public channels that are in use.
    async fn look_without_account(&self) {
        let visitor = self.server.anonymous().in_browser(None);
        let get = async |path: String, parameters: Value| {
            let answer = visitor.get(&path, parameters).await;
            for word in words(&answer.json.to_string()) {
                let secret = self.rules.secrets.get(&word);
                let why = format!("a visitor read {word} ({secret:?}) in {path}: {answer}");
                self.assert_same(self.rules.is_public_word(&word), true, &why);
            }
            answer
        };
        let public = self.rules.public_messages();
        let places: Vec<usize> = (0..self.rules.channels.len()).collect();
        let is_open = places.iter().any(|place| self.rules.is_public(*place));
        let narrow = json!([["channels", "web-public"]]);
        let parameters = json!({"anchor": "newest", "num_before": 5000, "num_after": 0, "narrow": narrow});
        let found = get("/messages".to_owned(), parameters).await;
        self.assert_same(found.status, if is_open { 200 } else { 401 }, &format!("visitors: {found}"));
        let ids = ids_in(&found.json["messages"], &["id"]).into_iter();
        let found = ids.filter(|id| self.rules.messages.contains_key(id)).collect();
        self.assert_same(found, public.clone(), "the messages that visitors read");
        for id in self.rules.messages.keys().rev().take(15) {
            let answer = get(format!("/messages/{id}"), json!({})).await;
            let expected = if public.contains(id) { 200 } else { 401 };
            self.assert_same(answer.status, expected, &format!("message {id} for a visitor: {answer}"));
        }
        for place in places {
            let stream_id = self.rules.channels[place].stream_id;
            let answer = get(format!("/users/me/{stream_id}/topics"), json!({})).await;
            let reads = self.rules.is_public(place);
            self.assert_same(
                answer.status == 200,
                reads,
                &format!("topics of {place} for a visitor: {answer}"),
            );
        }
        get("/users".to_owned(), json!({})).await;
        let state = visitor.post("/register", json!({"client_capabilities": capabilities()})).await;
        self.assert_same(state.status == 200, is_open, &format!("the state of a visitor: {state}"));
        for word in words(&state.json.to_string()) {
            let why = format!("a visitor registered and read {word}: {state}");
            self.assert_same(self.rules.is_public_word(&word), true, &why);
        }
        let files = self.server.anonymous();
        for File { url, message, .. } in &self.files {
            let answer = files.request_outside(Method::GET, url).send().await;
            let reads = message.is_some_and(|id| public.contains(&id));
            self.assert_same(answer.status == 200, reads, &format!("{url} for a visitor: {answer}"));
        }
    }

    async fn look_at_channels(&self, person: Person) {
        let client = &self.people[person];
        let all = json!({"include_all": true, "exclude_archived": false});
        let listed = client.get("/streams", all).await.ok();
        self.check_words(person, &self.rules, &listed);
        let found: BTreeSet<i64> = ids_in(&listed, &["stream_id"]).into_iter().collect();
        let places = 0..self.rules.channels.len();
        let in_sight = places.clone().filter(|place| self.rules.knows(person, *place));
        let expected = in_sight.map(|place| self.rules.channels[place].stream_id).collect();
        self.assert_same(found, expected, &format!("the channels that {person} knows"));
        for place in places {
            let stream_id = self.rules.channels[place].stream_id;
            let knows = self.rules.knows(person, place);
            let channel = client.get(&format!("/streams/{stream_id}"), ()).await;
            self.assert_same(
                channel.status == 200,
                knows,
                &format!("channel {place} for {person}: {channel}"),
            );
            let members = client.get(&format!("/streams/{stream_id}/members"), ()).await;
            let allowed = knows || members.status != 200;
            self.assert_same(allowed, true, &format!("subscribers of {place} for {person}: {members}"));
            let topics = client.get(&format!("/users/me/{stream_id}/topics"), ()).await;
            let reads = self.rules.reads(person, place);
            self.assert_same(
                topics.status == 200,
                reads,
                &format!("topics of {place} for {person}: {topics}"),
            );
            let seen = self.rules.seen_in(person, place, None);
            let expected = seen.iter().map(|id| self.rules.messages[id].topic.clone()).collect();
            self.assert_same(
                words(&topics.json.to_string()),
                expected,
                &format!("topics of {place} for {person}"),
            );
        }
    }

    async fn look_at_messages(&self, person: Person) {
        let client = &self.people[person];
        for (place, channel) in self.rules.channels.iter().enumerate() {
            let found = self.fetch(person, json!([["channel", channel.name]])).await;
            let expected = self.rules.seen_in(person, place, None);
            self.assert_same(found, expected, &format!("messages of channel {place} for {person}"));
        }
        let everything = self.fetch(person, json!([])).await;
        let unseen: Vec<i64> = everything.into_iter().filter(|id| !self.rules.sees(person, *id)).collect();
        self.assert_same(unseen, Vec::new(), &format!("the combined feed of {person}"));
        let direct = self.fetch(person, json!([["is", "dm"]])).await;
        let between = self.rules.messages.iter().filter(|(id, message)| {
            matches!(message.place, Place::Direct(_)) && self.rules.sees(person, **id)
        });
        self.assert_same(
            direct,
            between.map(|(id, _)| *id).collect(),
            &format!("direct messages of {person}"),
        );
        for (id, message) in self.rules.messages.iter().rev().take(15) {
            let sees = self.rules.sees(person, *id);
            for path in [
                format!("/messages/{id}"),
                format!("/messages/{id}/history"),
                format!("/messages/{id}/read_receipts"),
            ] {
                let answer = client.get(&path, ()).await;
                self.assert_same(answer.status == 200, sees, &format!("{path} for {person}: {answer}"));
                self.check_words(person, &self.rules, &answer.json);
            }
            let narrow = json!([["search", message.content]]);
            let found = self.fetch(person, narrow).await;
            let unseen = found.into_iter().any(|id| !self.rules.sees(person, id));
            self.assert_same(unseen, false, &format!("{person} found {}", message.content));
        }
    }

    /// The ids of all messages of a narrow that people sent.
    async fn fetch(&self, person: Person, narrow: Value) -> BTreeSet<i64> {
        let parameters = json!({"anchor": "newest", "num_before": 5000, "num_after": 0, "narrow": narrow});
        let answer = self.people[person].get("/messages", parameters).await.ok();
        self.check_words(person, &self.rules, &answer);
        let messages = answer["messages"].as_array().unwrap();
        let ids = messages.iter().map(|message| message["id"].as_i64().unwrap());
        ids.filter(|id| self.rules.messages.contains_key(id)).collect()
    }

    async fn look_at_state(&self, person: Person) {
        let parameters = json!({"client_capabilities": capabilities(), "include_subscribers": true});
        let mut state = self.people[person].post("/register", parameters).await.ok();
        // A reminder quotes the message at the time of its creation.
        for list in ["user_topics", "muted_topics", "reminders"] {
            let own = words(&state.as_object_mut().unwrap().remove(list).unwrap().to_string());
            let unheard: Vec<_> = own.difference(&self.read[person]).collect();
            self.assert_same(unheard, Vec::new(), &format!("{list} of {person}"));
        }
        for (name, part) in state.as_object().unwrap() {
            self.check_words(person, &self.rules, &json!({name.as_str(): part}));
        }
        let lists = ["streams", "subscriptions", "unsubscribed", "never_subscribed"];
        let found: BTreeSet<i64> =
            lists.iter().flat_map(|list| ids_in(&state[*list], &["stream_id"])).collect();
        let known = (0..self.rules.channels.len()).filter(|place| self.rules.knows(person, *place));
        let expected = known.map(|place| self.rules.channels[place].stream_id).collect();
        self.assert_same(found, expected, &format!("the channels in the state of {person}"));
        let unread: BTreeSet<i64> =
            ids_in(&state["unread_msgs"], &["unread_message_ids"]).into_iter().collect();
        let unseen =
            unread.iter().any(|id| self.rules.messages.contains_key(id) && !self.rules.sees(person, *id));
        self.assert_same(unseen, false, &format!("what is unread to {person}"));
    }

    /// Files can be loaded by users who can see a message that links to them. A file without links may have been
    /// deleted by its owner.
    async fn look_at_files(&self, person: Person) {
        for File { url, owner, message } in self.files.iter().rev().take(8) {
            let sees = message.is_some_and(|id| self.rules.sees(person, id));
            let answer = self.people[person].request_outside(Method::GET, url).send().await;
            if sees || *owner != person {
                self.assert_same(answer.status == 200, sees, &format!("{url} for {person}: {answer}"));
            }
        }
    }

    /// No `GET` route returns a word that its caller may not know. The routes are those of the router, so new ones are
    /// included.
    async fn look_at_every_route(&mut self, person: Person) {
        for route in teamchat::api::routes().into_iter().filter(is_asked) {
            let path = route.full_path();
            let mut all = vec![path.clone()];
            for (part, values) in self.values_of_parts() {
                if path.contains(part) {
                    let filled = |path: &String| -> Vec<String> {
                        values.iter().map(|value| path.replace(part, &value.to_string())).collect()
                    };
                    all = all.iter().flat_map(filled).collect();
                }
            }
            for filled in all {
                let parameters = self.parameters_of(person, &path);
                let request = self.people[person].request_outside(Method::GET, &filled);
                let answer = request.query(parameters).send().await;
                let text = String::from_utf8_lossy(&answer.bytes);
                if path == "/api/v1/reminders" {
                    let unheard: Vec<_> = words(&text).difference(&self.read[person]).cloned().collect();
                    self.assert_same(unheard, Vec::new(), &format!("reminders of {person}"));
                } else {
                    self.check_words(person, &self.rules, &text.as_ref().into());
                }
                if answer.status < 400 {
                    self.answered.insert(path.clone());
                }
            }
        }
    }

    /// Some values of each part of a path.
    fn values_of_parts(&mut self) -> Vec<(&'static str, Vec<i64>)> {
        let streams: Vec<i64> = self.rules.channels.iter().map(|channel| channel.stream_id).collect();
        let messages: Vec<i64> = self.rules.messages.keys().copied().collect();
        let users: Vec<i64> = self.people.iter().map(|client| client.user_id).collect();
        let two_of = |rng: &mut crate::harness::Rng, list: &[i64]| {
            [rng.pick(list), rng.pick(list)].into_iter().flatten().collect::<Vec<i64>>()
        };
        let user = two_of(&mut self.rng, &users);
        vec![
            ("{stream_id}", two_of(&mut self.rng, &streams)),
            ("{message_id}", two_of(&mut self.rng, &messages)),
            ("{user_id}", user.clone()),
            ("{user_id_or_email}", user),
            ("{bot_id}", vec![*users.last().unwrap()]),
            ("{user_group_id}", two_of(&mut self.rng, &self.groups)),
            ("{realm_id}", vec![1]),
        ]
    }

    /// Parameters for a request with a large answer.
    fn parameters_of(&mut self, person: Person, path: &str) -> Value {
        let known: Vec<usize> =
            (0..self.rules.channels.len()).filter(|place| self.rules.knows(person, *place)).collect();
        let place = self.rng.pick(&known).unwrap_or(0);
        match path {
            "/api/v1/messages" => {
                json!({"anchor": "newest", "num_before": 1000, "num_after": 0, "narrow": [["search", "zq"]]})
            }
            "/api/v1/messages/matches_narrow" => {
                let ids: Vec<i64> = self.rules.messages.keys().copied().collect();
                json!({"msg_ids": ids, "narrow": [["has", "link"]]})
            }
            // The refusal repeats the name.
            "/api/v1/get_stream_id" if !known.is_empty() => {
                json!({"stream": self.rules.channels[place].name})
            }
            "/api/v1/realm/logo" => json!({"night": false}),
            "/api/v1/streams" => json!({"include_all": true, "exclude_archived": false}),
            "/api/v1/users/me/subscriptions" => json!({"include_subscribers": true}),
            "/api/v1/users" => json!({"include_custom_profile_fields": true}),
            _ => json!({}),
        }
    }

    /// Compares the state updated by events with a new registration.
    async fn compare_states(&mut self) {
        for (_, registered) in std::mem::take(&mut self.registered) {
            for registration in registered {
                registration.check_without(&NOT_KEPT).await;
            }
        }
        for (person, _) in self.rules.active() {
            self.registered.push((person, Registered::of(&self.people[person]).await));
        }
    }

    /// The sweep over the routes is no use for one that refuses everything.
    pub fn every_route_has_answered(&self) {
        let all = teamchat::api::routes().into_iter().filter(is_asked).map(|route| route.full_path());
        let silent: Vec<String> = all.filter(|path| !self.answered.contains(path)).collect();
        self.assert_same(silent, Vec::new(), "routes that answered nobody");
    }

    /// Checks that anonymous callers find nothing.
    async fn look_from_outside(&self) {
        let stream_id = self.rules.channels[0].stream_id;
        let outsider = self.server.anonymous();
        let mut paths: Vec<String> =
            ["/streams", "/messages", "/users", "/users/me/subscriptions", "/drafts"]
                .map(str::to_owned)
                .to_vec();
        paths.push(format!("/streams/{stream_id}"));
        paths.push(format!("/users/me/{stream_id}/topics"));
        if let Some(id) = self.rules.messages.keys().next() {
            paths.push(format!("/messages/{id}"));
        }
        for path in paths {
            let answer = outsider.get(&path, ()).await;
            // Anonymous requests may reach the rate limit.
            self.assert_same(matches!(answer.status, 401 | 429), true, &format!("{path}: {answer}"));
            self.assert_same(words(&answer.json.to_string()), BTreeSet::new(), &path);
        }
    }
}

/// True if the sweep requests a route.
fn is_asked(route: &Route) -> bool {
    let path = route.full_path();
    let is_unknown = NOT_FILLED.iter().any(|part| path.contains(part));
    // The pages of the web client are the same for all users.
    let is_page = route.access == "anyone" && route.outside;
    route.method == Method::GET
        && !is_unknown
        && !is_page
        && NOT_ASKED.iter().all(|(asked, _)| *asked != path)
}
