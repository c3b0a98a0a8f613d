//! Limits on the length of stored texts: of one, and of all texts of a user.

use crate::harness::{Answer, Client, START, TestServer};
use reqwest::Method;
use serde_json::{Value, json};
use teamchat::domain::limits;

/// A request with a text of a length in characters.
struct Text {
    method: Method,
    path: &'static str,
    /// The parameter, as the refusal names it.
    name: &'static str,
    limit: usize,
    form: fn(String) -> Value,
    /// The form of the text, whose `*` is filled.
    pattern: &'static str,
}

impl Text {
    const fn new(
        method: Method,
        path: &'static str,
        name: &'static str,
        limit: usize,
        form: fn(String) -> Value,
    ) -> Self {
        Self { method, path, name, limit, form, pattern: "*" }
    }

    const fn like(mut self, pattern: &'static str) -> Self {
        self.pattern = pattern;
        self
    }
}

const TEXTS: &[Text] = &[
    Text::new(
        Method::POST,
        "/user_groups/create",
        "description",
        limits::MAX_GROUP_DESCRIPTION_LENGTH,
        |text| json!({"name": "b", "description": text, "members": []}),
    ),
    Text::new(
        Method::PATCH,
        "/user_groups/{group}",
        "description",
        limits::MAX_GROUP_DESCRIPTION_LENGTH,
        |text| json!({"description": text}),
    ),
    Text::new(
        Method::POST,
        "/default_stream_groups/create",
        "description",
        limits::MAX_DEFAULT_STREAM_GROUP_DESCRIPTION_LENGTH,
        |text| json!({"group_name": "b", "description": text, "stream_names": []}),
    ),
    Text::new(
        Method::PATCH,
        "/default_stream_groups/1",
        "new_description",
        limits::MAX_DEFAULT_STREAM_GROUP_DESCRIPTION_LENGTH,
        |text| json!({"new_description": text}),
    ),
    Text::new(
        Method::POST,
        "/bots",
        "payload_url",
        limits::MAX_PAYLOAD_URL_LENGTH,
        |text| json!({"full_name": "Hook", "short_name": "hook", "bot_type": 3, "payload_url": text}),
    )
    .like("http://example.com/*"),
    Text::new(
        Method::PATCH,
        "/bots/{hook}",
        "service_payload_url",
        limits::MAX_PAYLOAD_URL_LENGTH,
        |text| json!({"service_payload_url": text}),
    )
    .like("http://example.com/*"),
    Text::new(
        Method::POST,
        "/realm/filters",
        "pattern",
        limits::MAX_LINKIFIER_PATTERN_LENGTH,
        |text| json!({"pattern": text, "url_template": "https://example.com/{id}"}),
    )
    .like("*(?P<id>[0-9]+)"),
    Text::new(
        Method::PATCH,
        "/realm/filters/1",
        "url_template",
        limits::MAX_URL_TEMPLATE_LENGTH,
        |text| json!({"pattern": "#(?P<id>[0-9]+)", "url_template": text}),
    )
    .like("https://example.com/{id}/*"),
    Text::new(
        Method::POST,
        "/realm/playgrounds",
        "name",
        limits::MAX_PLAYGROUND_NAME_LENGTH,
        |text| json!({"name": text, "pygments_language": "C", "url_template": "https://example.com/{code}"}),
    ),
    Text::new(
        Method::POST,
        "/realm/playgrounds",
        "url_template",
        limits::MAX_URL_TEMPLATE_LENGTH,
        |text| json!({"name": "Play", "pygments_language": "C", "url_template": text}),
    )
    .like("https://example.com/{code}/*"),
    Text::new(
        Method::PATCH,
        "/realm",
        "default_code_block_language",
        limits::MAX_CODE_LANGUAGE_LENGTH,
        |text| json!({"default_code_block_language": text}),
    ),
    Text::new(
        Method::PATCH,
        "/users/me/profile_data",
        "Website",
        2000,
        |text| json!({"data": [{"id": 1, "value": text}]}),
    )
    .like("https://example.com/*"),
    Text::new(
        Method::POST,
        "/messages",
        "local_id",
        limits::MAX_LOCAL_ID_LENGTH,
        |text| json!({"type": "direct", "to": [4], "content": "Hi", "local_id": text}),
    ),
];

#[tokio::test]
async fn texts_have_a_length() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let group = json!({"name": "a", "description": "", "members": []});
    let group = owner.post("/user_groups/create", group).await.ok()["group_id"].to_string();
    let form = json!({"group_name": "a", "description": "", "stream_names": []});
    owner.post("/default_stream_groups/create", form).await.ok();
    let form =
        json!({"full_name": "a", "short_name": "a", "bot_type": 3, "payload_url": "http://example.com"});
    let hook = owner.post("/bots", form).await.ok()["user_id"].to_string();
    owner.post("/realm/profile_fields", json!({"name": "Website", "field_type": 5})).await.ok();
    for text in TEXTS {
        let path = text.path.replace("{group}", &group).replace("{hook}", &hook);
        let request = async |length: usize| {
            let filling = "a".repeat(length + 1 - text.pattern.len());
            let form = (text.form)(text.pattern.replace('*', &filling));
            owner.request(text.method.clone(), &path).form(form).send().await
        };
        let msg = format!("{} is too long (limit: {} characters)", text.name, text.limit);
        request(text.limit + 1).await.error(400, "BAD_REQUEST", &msg);
        request(text.limit).await.ok();
    }
}

#[tokio::test]
async fn names_of_emoji_have_a_length() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let limit = limits::MAX_EMOJI_NAME_LENGTH;
    let add = async |length: usize| ada.post(&format!("/realm/emoji/{}", "a".repeat(length)), ()).await;
    let msg = format!("emoji_name is too long (limit: {limit} characters)");
    add(limit + 1).await.error(400, "BAD_REQUEST", &msg);
    add(limit).await.error(400, "BAD_REQUEST", "You must upload exactly one file.");
}

/// JSON that is stored, also when it grows by parts.
#[tokio::test]
async fn configurations_have_a_length() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let limit = limits::MAX_CONFIG_DATA_LENGTH;
    let msg = format!("config_data is too long (limit: {limit} bytes)");
    let bot = |length: usize| {
        // Around the value stand `{"a":""}`.
        let config = json!({"a": "x".repeat(length - 8)});
        json!({"full_name": "a", "short_name": "a", "bot_type": 2, "config_data": config})
    };
    owner.post("/bots", bot(limit + 1)).await.error(400, "BAD_REQUEST", &msg);
    let made = owner.post("/bots", bot(limit)).await.ok();
    let path = format!("/bots/{}", made["user_id"]);
    owner.patch(&path, json!({"config_data": {"b": ""}})).await.error(400, "BAD_REQUEST", &msg);
    owner.patch(&path, json!({"config_data": {"a": "short"}})).await.ok();

    let limit = limits::MAX_FIELD_DATA_LENGTH;
    let msg = format!("field_data is too long (limit: {limit} bytes)");
    let field = |length: usize| {
        let around = json!({"a": {"text": "", "order": "1"}}).to_string().len();
        let data = json!({"a": {"text": "x".repeat(length - around), "order": "1"}});
        json!({"name": "Choice", "field_type": 3, "field_data": data})
    };
    owner.post("/realm/profile_fields", field(limit + 1)).await.error(400, "BAD_REQUEST", &msg);
    let made = owner.post("/realm/profile_fields", field(limit)).await.ok();
    let path = format!("/realm/profile_fields/{}", made["id"]);
    let longer = json!({"field_data": field(limit + 1)["field_data"]});
    owner.patch(&path, longer).await.error(400, "BAD_REQUEST", &msg);
}

/// Clients get all of a kind in one answer.
#[tokio::test]
async fn stored_text_of_a_user_is_limited() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let channel = server.channel("channel", &[&ada]).await;
    let message_id = ada.send(channel, "topic", "hello").await;
    // Less than the limit by some bytes, with a past that would take long to make.
    let room = 40;
    let length = limits::MAX_OWNED_LENGTH - room;
    let (user, text) = (ada.user_id, format!("replace(hex(zeroblob({})), '0', 'a')", length / 2));
    server
        .sql(&format!(
            "INSERT INTO draft (user_id, topic, content, last_edit_time) SELECT {user}, '', {text}, 0;
             INSERT INTO saved_snippet (user_id, title, content, date_created) SELECT {user}, 't', {text}, 0;
             INSERT INTO scheduled_message (sender_id, user_ids, topic, content, rendered_content,
                 scheduled_delivery_timestamp, client, read_by_sender, origin)
             SELECT {user}, '[{user}]', '', {text}, '', 1900000000, 'x', 1, '';
             INSERT INTO reminder (user_id, message_id, note, content, rendered_content,
                 scheduled_delivery_timestamp, origin) SELECT {user}, 1, '', '', {text}, 1900000000, '';"
        ))
        .await;
    let at = START + 3600;
    let long = "b".repeat(50);
    let refused = |answer: Answer, what: &str| {
        let msg = format!("Too much text in {what} (limit: {} bytes)", limits::MAX_OWNED_LENGTH);
        answer.error(400, "BAD_REQUEST", &msg);
    };
    let draft = |content: &str| json!({"type": "", "to": [], "topic": "", "content": content});
    let made = ada.post("/drafts", json!({"drafts": [draft("short")]})).await.ok();
    refused(ada.post("/drafts", json!({"drafts": [draft(&long)]})).await, "drafts");
    let path = format!("/drafts/{}", made["ids"][0]);
    refused(ada.patch(&path, json!({"draft": draft(&long)})).await, "drafts");
    ada.patch(&path, json!({"draft": draft("other")})).await.ok();

    let made = ada.post("/saved_snippets", json!({"title": "t", "content": "short"})).await.ok();
    refused(ada.post("/saved_snippets", json!({"title": "t", "content": long})).await, "saved snippets");
    let path = format!("/saved_snippets/{}", made["saved_snippet_id"]);
    refused(ada.patch(&path, json!({"content": long})).await, "saved snippets");

    let scheduled = |content: &str| json!({"type": "direct", "to": [user], "content": content, "scheduled_delivery_timestamp": at});
    let made = ada.post("/scheduled_messages", scheduled("short")).await.ok();
    refused(ada.post("/scheduled_messages", scheduled(&long)).await, "scheduled messages");
    let path = format!("/scheduled_messages/{}", made["scheduled_message_id"]);
    refused(ada.patch(&path, json!({"content": long})).await, "scheduled messages");

    let reminder = json!({"message_id": message_id, "scheduled_delivery_timestamp": at});
    refused(ada.post("/reminders", reminder).await, "reminders");
}

/// All users receive the descriptions of all channels.
#[tokio::test]
async fn the_html_of_a_description_has_a_length() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let create = async |name: &str, description: &str| {
        ada.post("/channels/create", json!({"name": name, "description": description, "subscribers": []}))
            .await
    };
    create("plain", &"a".repeat(limits::MAX_STREAM_DESCRIPTION_LENGTH)).await.ok();
    create("emoji", &":tada:".repeat(limits::MAX_STREAM_DESCRIPTION_LENGTH / 6)).await.ok();
    let formula = format!("$${}$$", "\\frac{x}{y}".repeat(90));
    create("formula", &formula).await.error(400, "BAD_REQUEST", "Unable to render message");
}

/// They count for the channel's creator, even if others write them.
#[tokio::test]
async fn the_descriptions_of_the_channels_of_one_creator_have_a_length() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let create = async |client: &Client, name: &str, description: &str| {
        let channel = json!({"name": name, "description": description, "subscribers": []});
        client.post("/channels/create", channel).await
    };
    let channel = create(&ada, "first", "").await.ok()["id"].clone();
    let empty = create(&ada, "second", "").await.ok()["id"].clone();
    let path = |id: &Value| format!("/streams/{id}");
    // Less than the limit by some bytes.
    let length = limits::MAX_DESCRIPTIONS_OF_CREATOR - 100;
    server
        .sql(&format!(
            "UPDATE stream SET rendered_description = replace(hex(zeroblob({})), '0', 'a') WHERE stream_id = {channel}",
            length / 2
        ))
        .await;
    let refused = |answer: Answer| {
        let limit = limits::MAX_DESCRIPTIONS_OF_CREATOR;
        let msg = format!("Too much text in descriptions of one creator's channels (limit: {limit} bytes)");
        answer.error(400, "BAD_REQUEST", &msg);
    };
    let long = json!({"description": "b".repeat(50)});
    create(&ada, "third", "short").await.ok();
    refused(create(&ada, "fourth", &"b".repeat(50)).await);
    let subscriptions = json!({"subscriptions": [{"name": "fourth", "description": "b".repeat(50)}]});
    refused(ada.post("/users/me/subscriptions", subscriptions).await);
    refused(ada.patch(&path(&empty), &long).await);
    refused(owner.patch(&path(&empty), &long).await);
    ada.patch(&path(&empty), json!({"description": "short"})).await.ok();
    create(&bob, "fifth", &"b".repeat(50)).await.ok();
    // A value above the limit can be shortened, and other properties can be changed.
    server
        .sql(&format!("UPDATE stream SET description = '{}' WHERE stream_id = {empty}", "b".repeat(200)))
        .await;
    ada.patch(&path(&empty), json!({"new_name": "other"})).await.ok();
    ada.patch(&path(&empty), &long).await.ok();
}
