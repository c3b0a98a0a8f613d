//! The organization in which the table is tried: somebody of each kind, and a channel of each kind.

use crate::harness::pictures::png;
use crate::harness::{Client, START, TestServer};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::HashMap;
use teamchat::app::Options;
use teamchat::types::{Clock, Role};

/// Who calls: a column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    Owner,
    Administrator,
    Moderator,
    FullMember,
    /// Joined within the waiting period of three days.
    NewMember,
    Guest,
    /// A generic bot; its owner is a full member.
    Bot,
    Deactivated,
    /// Without an account.
    Outsider,
}

impl Who {
    pub const ALL: [Self; 9] = [
        Self::Owner,
        Self::Administrator,
        Self::Moderator,
        Self::FullMember,
        Self::NewMember,
        Self::Guest,
        Self::Bot,
        Self::Deactivated,
        Self::Outsider,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Administrator => "administrator",
            Self::Moderator => "moderator",
            Self::FullMember => "full member",
            Self::NewMember => "new member",
            Self::Guest => "guest",
            Self::Bot => "bot",
            Self::Deactivated => "deactivated",
            Self::Outsider => "outsider",
        }
    }

    fn role(self) -> Role {
        match self {
            Self::Owner => Role::Owner,
            Self::Administrator => Role::Administrator,
            Self::Moderator => Role::Moderator,
            Self::Guest => Role::Guest,
            Self::FullMember | Self::NewMember | Self::Bot | Self::Deactivated | Self::Outsider => {
                Role::Member
            }
        }
    }
}

/// What kind of channel it is about: with subscription or without, a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelKind {
    Public,
    WebPublic,
    PrivateShared,
    PrivateProtected,
    Archived,
}

impl ChannelKind {
    pub const ALL: [Self; 5] =
        [Self::Public, Self::WebPublic, Self::PrivateShared, Self::PrivateProtected, Self::Archived];

    pub fn title(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::WebPublic => "web-public",
            Self::PrivateShared => "private, shared history",
            Self::PrivateProtected => "private, protected history",
            Self::Archived => "archived",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Public => "square",
            Self::WebPublic => "window",
            Self::PrivateShared => "club",
            Self::PrivateProtected => "vault",
            Self::Archived => "cellar",
        }
    }
}

/// The file from which every try starts, and what is in it.
pub struct Organization {
    file: Vec<u8>,
    clock: i64,
    people: HashMap<(Who, bool), Client>,
    channels: HashMap<ChannelKind, i64>,
    /// The first message of a channel, by its creator.
    first_messages: HashMap<ChannelKind, i64>,
    /// What each subscriber said in each channel.
    own_messages: HashMap<(ChannelKind, Who), i64>,
    /// A direct message to each person.
    direct_messages: HashMap<(Who, bool), i64>,
    founder: i64,
    bystander: Client,
    things: Things,
}

/// Ids of what is there once, all made by the founder.
#[derive(Default)]
pub struct Things {
    pub group: i64,
    pub folder: i64,
    pub profile_field: i64,
    pub linkifier: i64,
    pub playground: i64,
    pub invite: i64,
    pub bot: i64,
    pub draft: i64,
    pub saved_snippet: i64,
    pub scheduled_message: i64,
    pub reminder: i64,
    pub attachment: i64,
    pub default_stream_group: i64,
    /// A channel that exists for being named in parameters.
    pub other_channel: i64,
}

/// One try: who calls, about what.
pub struct Case<'o> {
    pub organization: &'o Organization,
    pub who: Who,
    pub subscribed: bool,
    pub kind: ChannelKind,
}

/// A request.
pub struct Request {
    pub method: Method,
    /// Below `/api/v1`.
    pub path: String,
    pub parameters: Value,
    /// Whether it brings an image.
    pub with_image: bool,
}

impl Case<'_> {
    /// The channel.
    pub fn channel(&self) -> i64 {
        self.organization.channels[&self.kind]
    }

    /// The channel's name.
    pub fn channel_name(&self) -> &'static str {
        self.kind.name()
    }

    /// The caller's own message there, or the founder's if the caller was never there.
    pub fn own_message(&self) -> i64 {
        let own =
            self.subscribed.then(|| self.organization.own_messages.get(&(self.kind, self.who))).flatten();
        own.copied().unwrap_or(self.others_message())
    }

    /// The founder's message there.
    pub fn others_message(&self) -> i64 {
        self.organization.first_messages[&self.kind]
    }

    /// A direct message that the caller got; for those without an account somebody else's.
    pub fn direct_message(&self) -> i64 {
        let mine = self.organization.direct_messages.get(&(self.who, self.subscribed));
        mine.copied().unwrap_or(self.organization.direct_messages[&(Who::Owner, true)])
    }

    /// The owner who made everything.
    pub fn founder(&self) -> i64 {
        self.organization.founder
    }

    /// A member who is in no channel but the other one.
    pub fn bystander(&self) -> &Client {
        &self.organization.bystander
    }

    /// Somebody whose account is deactivated.
    pub fn deactivated(&self) -> i64 {
        self.organization.people[&(Who::Deactivated, true)].user_id
    }

    pub fn things(&self) -> &Things {
        &self.organization.things
    }
}

impl Organization {
    /// Makes the organization.
    pub async fn make() -> Self {
        let server = TestServer::start().await;
        server.set_realm_setting("waiting_period_threshold", json!(3)).await;
        let founder = server.user("founder", Role::Owner, None, None).await;
        let bystander = server.member("bystander").await;
        let mut people = HashMap::new();
        let mut latecomers = Vec::new();
        for who in Who::ALL {
            for there in [true, false] {
                let name = format!("{:?}-{}", who, if there { "inside" } else { "outside" }).to_lowercase();
                match who {
                    Who::Outsider => {}
                    Who::NewMember => latecomers.push((there, name)),
                    Who::Bot => {
                        let owner = &people[&(Who::FullMember, there)];
                        let bot = server.bot(&name, owner).await;
                        people.insert((who, there), bot);
                    }
                    _ => {
                        let user = server.user(&name, who.role(), None, None).await;
                        people.insert((who, there), user);
                    }
                }
            }
        }
        server.clock.advance(10 * 24 * 60 * 60);
        for (there, name) in latecomers {
            people.insert((Who::NewMember, there), server.member(&name).await);
        }
        let mut organization = Self {
            file: Vec::new(),
            clock: START + 10 * 24 * 60 * 60,
            people,
            channels: HashMap::new(),
            first_messages: HashMap::new(),
            own_messages: HashMap::new(),
            direct_messages: HashMap::new(),
            founder: founder.user_id,
            bystander,
            things: Things::default(),
        };
        organization.fill(&server, &founder).await;
        organization.file = server.into_file().await;
        organization
    }

    async fn fill(&mut self, server: &TestServer, founder: &Client) {
        let mut subscribers: Vec<i64> =
            self.people.iter().filter(|((_, there), _)| *there).map(|(_, user)| user.user_id).collect();
        subscribers.push(founder.user_id);
        subscribers.sort_unstable();
        for kind in ChannelKind::ALL {
            let parameters = json!({
                "name": kind.name(),
                "subscribers": subscribers,
                "invite_only": matches!(kind, ChannelKind::PrivateShared | ChannelKind::PrivateProtected),
                "history_public_to_subscribers": kind != ChannelKind::PrivateProtected,
            });
            let id = founder.post("/channels/create", parameters).await.ok()["id"].as_i64().unwrap();
            self.channels.insert(kind, id);
            self.first_messages.insert(kind, founder.send(id, "plans", "Welcome").await);
            for who in Who::ALL {
                if let Some(user) = self.people.get(&(who, true)) {
                    self.own_messages.insert((kind, who), user.send(id, "plans", "Good morning").await);
                }
            }
        }
        for who in Who::ALL {
            for there in [true, false] {
                if let Some(user) = self.people.get(&(who, there)) {
                    let id = founder.send_direct(&[user], "Good morning").await;
                    self.direct_messages.insert((who, there), id);
                }
            }
        }
        let parameters = json!({"name": "other", "subscribers": [founder.user_id, self.bystander.user_id]});
        self.things.other_channel =
            founder.post("/channels/create", parameters).await.ok()["id"].as_i64().unwrap();
        self.make_things(founder).await;
        let window = self.channels[&ChannelKind::WebPublic];
        server.sql(&format!("UPDATE stream SET is_web_public = 1 WHERE stream_id = {window}")).await;
        founder.delete(&format!("/streams/{}", self.channels[&ChannelKind::Archived]), ()).await.ok();
        for there in [true, false] {
            let id = self.people[&(Who::Deactivated, there)].user_id;
            server.sql(&format!("UPDATE user SET is_active = 0 WHERE user_id = {id}")).await;
        }
    }

    async fn make_things(&mut self, founder: &Client) {
        let later = 1_900_000_000;
        let to = [self.bystander.user_id];
        let message = self.first_messages[&ChannelKind::Public];
        let scheduled =
            json!({"type": "direct", "to": to, "content": "Hi", "scheduled_delivery_timestamp": later});
        let draft = json!({"type": "private", "to": to, "topic": "", "content": "Hi"});
        let template = "https://example.com/{id}";
        let playground = json!({
            "name": "Sandbox", "pygments_language": "Python", "url_template": "https://example.com/{code}",
        });
        let group = json!({"name": "team", "description": "", "members": to});
        let reminder = json!({"message_id": message, "scheduled_delivery_timestamp": later});
        let bot = json!({"full_name": "Helper", "short_name": "helper"});
        let made = [
            ("/user_groups/create", group, "group_id", &mut self.things.group),
            (
                "/channel_folders/create",
                json!({"name": "Folder", "description": ""}),
                "channel_folder_id",
                &mut self.things.folder,
            ),
            (
                "/realm/profile_fields",
                json!({"name": "Phone", "field_type": 1}),
                "id",
                &mut self.things.profile_field,
            ),
            (
                "/realm/filters",
                json!({"pattern": "#(?P<id>[0-9]+)", "url_template": template}),
                "id",
                &mut self.things.linkifier,
            ),
            ("/realm/playgrounds", playground, "id", &mut self.things.playground),
            ("/bots", bot, "user_id", &mut self.things.bot),
            (
                "/saved_snippets",
                json!({"title": "Hi", "content": "Hi"}),
                "saved_snippet_id",
                &mut self.things.saved_snippet,
            ),
            ("/scheduled_messages", scheduled, "scheduled_message_id", &mut self.things.scheduled_message),
            ("/reminders", reminder, "reminder_id", &mut self.things.reminder),
        ];
        for (path, parameters, name, place) in made {
            *place = founder.post(path, parameters).await.ok()[name].as_i64().unwrap();
        }
        let drafts = founder.post("/drafts", json!({"drafts": [draft]})).await.ok();
        self.things.draft = drafts["ids"][0].as_i64().unwrap();
        founder.post("/invites/multiuse", ()).await.ok();
        self.things.invite = founder.get("/invites", ()).await.ok()["invites"][0]["id"].as_i64().unwrap();
        founder
            .post("/realm/domains", json!({"domain": "example.com", "allow_subdomains": false}))
            .await
            .ok();
        let view = json!({"fragment": "inbox", "is_pinned": true});
        founder.post("/navigation_views", view).await.ok();
        for (path, file) in [("/user_uploads", "a.png"), ("/realm/emoji/rose", "rose.png")] {
            let sent =
                founder.request(Method::POST, path).multipart((), &[("file", file, &png(8, 8))]).send();
            sent.await.ok();
        }
        let group = json!({"group_name": "Start", "description": "", "stream_names": ["other"]});
        founder.post("/default_stream_groups/create", group).await.ok();
        let words = json!({"fetch_event_types": ["default_stream_groups"]});
        let state = founder.post("/register", words).await.ok();
        self.things.default_stream_group = state["realm_default_stream_groups"][0]["id"].as_i64().unwrap();
        let attachments = founder.get("/attachments", ()).await.ok();
        self.things.attachment = attachments["attachments"][0]["id"].as_i64().unwrap();
    }

    /// A server on a copy of the organization.
    pub async fn server(&self) -> TestServer {
        TestServer::start_on(&self.file, Clock::manual(self.clock), Options::default()).await
    }

    /// The caller of a case, at this server.
    pub fn caller(&self, server: &TestServer, case: &Case<'_>) -> Client {
        let known = self.people.get(&(case.who, case.subscribed));
        known.map_or_else(|| server.anonymous(), |user| server.client_of(user))
    }
}
