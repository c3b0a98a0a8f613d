//! Slack's API, for what its export lacks or has only links to: the name and icon of the workspace, custom emoji, people of
//! other workspaces, images of people, and uploaded files.

use super::model::{SlackBot, SlackUser};
use crate::app::App;
use crate::http_client;
use crate::http_client::{Answer, Outgoing, Permission};
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::json::nullable;
use crate::moving::import::target::Target;
use crate::moving::import::unpack::Archive;
use crate::types::charset;
use bytes::Bytes;
use hyper::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use url::Url;

/// The address of the API.
pub const ADDRESS: &str = "https://slack.com/api/";

/// Time limit of a call, and of a file.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
const FILE_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// The most bytes of an answer in memory, and of a file: Slack takes no larger ones.
const MAX_ANSWER: usize = 32 << 20;
const MAX_FILE: usize = 1 << 30;

/// The most seconds to wait when there were too many calls.
const MAX_WAIT: u64 = 120;

/// The most requests in succession that are refused because there were too many.
const MAX_REFUSALS: u32 = 10;

/// The most pages of the list of people, each of up to 200.
const MAX_PAGES: usize = 2_000;

/// The API with a token.
pub struct Api {
    app: Arc<App>,
    runtime: Handle,
    address: Url,
    token: String,
    /// The refusals since the last other answer.
    refusals: Cell<u32>,
    /// The results of [`Api::fetch`] by address: many messages can share a file.
    fetched: RefCell<HashMap<String, Option<String>>>,
}

#[derive(Deserialize)]
struct People {
    members: Vec<SlackUser>,
    #[serde(default)]
    response_metadata: Page,
}

#[derive(Default, Deserialize)]
struct Page {
    #[serde(default)]
    next_cursor: String,
}

#[derive(Deserialize)]
struct Emoji {
    emoji: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Person {
    user: SlackUser,
}

#[derive(Deserialize)]
struct Bot {
    bot: SlackBot,
}

#[derive(Deserialize)]
struct Workspace {
    team: Team,
}

/// A workspace.
#[derive(Deserialize)]
pub struct Team {
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
    #[serde(default, deserialize_with = "nullable")]
    icon: TeamIcon,
}

#[derive(Default, Deserialize)]
struct TeamIcon {
    #[serde(rename = "image_default", default, deserialize_with = "nullable")]
    is_default: bool,
    #[serde(rename = "image_original")]
    original: Option<String>,
    #[serde(rename = "image_230")]
    large: Option<String>,
    #[serde(rename = "image_132")]
    medium: Option<String>,
    #[serde(rename = "image_102")]
    small: Option<String>,
}

impl Team {
    /// The address of the largest icon, if the workspace has one of its own.
    pub fn icon(&self) -> Option<&str> {
        let icon = &self.icon;
        let images = [&icon.original, &icon.large, &icon.medium, &icon.small];
        images.into_iter().flatten().next().map(String::as_str).filter(|_| !icon.is_default)
    }
}

#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    ok: bool,
    #[serde(default)]
    error: String,
}

impl Api {
    /// Reads the token from a file.
    pub fn new(target: &Target, address: &str, token_file: &Path) -> ImportResult<Self> {
        let name = token_file.display().to_string();
        let token = charset::read_file(token_file).map_err(|error| ImportError::in_file(&name, error))?;
        let token = token.trim().to_owned();
        let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || !["xoxb-", "xoxp-"].iter().any(|start| token.starts_with(start)) {
            return Err(ImportError::in_file(&name, "a token of Slack begins with xoxb- or xoxp-"));
        }
        let address = Url::parse(&format!("{}/", address.trim_end_matches('/')))
            .map_err(|error| ImportError::new(format!("{address}: {error}")))?;
        let (app, runtime) = (Arc::clone(&target.app), target.runtime.clone());
        Ok(Self { app, runtime, address, token, refusals: Cell::default(), fetched: RefCell::default() })
    }

    /// The people of the workspace, with their addresses.
    pub fn people(&self) -> ImportResult<Vec<SlackUser>> {
        all_pages(|cursor| self.call("users.list", &[("limit", "200"), ("cursor", cursor)]))
    }

    /// The addresses of custom emoji, or `alias:` with another name, by name.
    pub fn emoji(&self) -> ImportResult<BTreeMap<String, String>> {
        Ok(self.call::<Emoji>("emoji.list", &[])?.emoji)
    }

    /// A person who is not in the list, because they are of another workspace; `None` for those who are gone.
    pub fn person(&self, id: &str) -> ImportResult<Option<SlackUser>> {
        let answer = self.answer("users.info", &[("user", id)])?;
        Ok(read::<Person>("users.info", answer).ok().map(|person| person.user))
    }

    /// A program that wrote without an account; `None` for those that are gone.
    pub fn bot(&self, id: &str) -> ImportResult<Option<SlackBot>> {
        let answer = self.answer("bots.info", &[("bot", id)])?;
        Ok(read::<Bot>("bots.info", answer).ok().map(|bot| bot.bot))
    }

    /// The workspace.
    pub fn team(&self) -> ImportResult<Team> {
        Ok(self.call::<Workspace>("team.info", &[])?.team)
    }

    fn call<T: DeserializeOwned>(&self, method: &str, parameters: &[(&str, &str)]) -> ImportResult<T> {
        read(method, self.answer(method, parameters)?)
    }

    fn answer(&self, method: &str, parameters: &[(&str, &str)]) -> ImportResult<Option<Answer>> {
        let mut url = self.address.join(method).map_err(ImportError::new)?;
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters.iter().filter(|(_, value)| !value.is_empty()));
        }
        self.get(&url, CALL_TIMEOUT, None)
    }

    /// True if an address is that of a file on the API's own server.
    pub fn has(&self, url: &str) -> bool {
        Url::parse(url).is_ok_and(|url| self.is_file(&url))
    }

    /// True for files on the API's own server, where it is not that of Slack, which has none. Addresses of the API itself are
    /// none: an archive must not call its methods with the token.
    fn is_file(&self, url: &Url) -> bool {
        self.address.as_str() != ADDRESS
            && self.is_of_api(url)
            && !url.path().starts_with(self.address.path())
    }

    /// Fetches a file once. Returns its path as that of a file in the archive; `None` if it is not of Slack, or not there.
    pub fn fetch(&self, archive: &Archive, url: &str) -> ImportResult<Option<String>> {
        if let Some(known) = self.fetched.borrow().get(url) {
            return Ok(known.clone());
        }
        let path = self.fetch_new(archive, url)?;
        self.fetched.borrow_mut().insert(url.to_owned(), path.clone());
        Ok(path)
    }

    fn fetch_new(&self, archive: &Archive, url: &str) -> ImportResult<Option<String>> {
        let Some(url) = Url::parse(url).ok().filter(|url| self.is_file(url) || is_of_slack(url)) else {
            return Ok(None);
        };
        let (name, file) = archive.new_scratch_file()?;
        let answer = self.get(&url, FILE_TIMEOUT, Some(file))?;
        let is_page = |answer: &Answer| {
            answer.content_type().is_some_and(|kind| kind.starts_with("text/html"))
                && Path::new(url.path()).extension().is_none_or(|ending| ending != "html")
        };
        // A page instead of a file asks for a login.
        Ok(answer.filter(|answer| answer.status == 200 && !is_page(answer)).map(|_| name))
    }

    /// Sends a request, again when there were too many. `None` without an answer. Fails when all requests are refused.
    fn get(&self, url: &Url, timeout: Duration, file: Option<File>) -> ImportResult<Option<Answer>> {
        let knows_token = self.is_of_api(url) || url.host_str() == Some("files.slack.com");
        loop {
            let request = Outgoing {
                method: Method::GET,
                url,
                permission: if self.is_of_api(url) { Permission::Any } else { Permission::OnlyPublic },
                headers: if knows_token {
                    vec![("Authorization", format!("Bearer {}", self.token))]
                } else {
                    Vec::new()
                },
                body: Bytes::new(),
                timeout,
                answer_limit: Some(if file.is_some() { MAX_FILE } else { MAX_ANSWER }),
                file: file.as_ref(),
                tls: Some(&self.app.tls_client),
            };
            let Ok(answer) = self.runtime.block_on(http_client::send(request)) else { return Ok(None) };
            if answer.status != 429 {
                self.refusals.set(0);
                return Ok(Some(answer));
            }
            self.refusals.set(self.refusals.get() + 1);
            if self.refusals.get() >= MAX_REFUSALS {
                let what = format!(
                    "Slack refused {MAX_REFUSALS} requests in succession with a rate limit (status 429)"
                );
                return Err(ImportError::new(what));
            }
            let wait =
                answer.headers.get("retry-after").and_then(|seconds| seconds.to_str().ok()?.parse().ok());
            std::thread::sleep(Duration::from_secs(wait.unwrap_or(1).min(MAX_WAIT)));
        }
    }

    fn is_of_api(&self, url: &Url) -> bool {
        url.origin() == self.address.origin()
    }
}

/// Loads all pages of the list of people, each with the cursor of the one before.
fn all_pages(mut load: impl FnMut(&str) -> ImportResult<People>) -> ImportResult<Vec<SlackUser>> {
    let (mut people, mut cursor) = (Vec::new(), String::new());
    for _ in 0..MAX_PAGES {
        let page = load(&cursor)?;
        people.extend(page.members);
        let next = page.response_metadata.next_cursor;
        if next.is_empty() {
            return Ok(people);
        }
        if next == cursor {
            return Err(failed("users.list", "a page names itself as the next one"));
        }
        cursor = next;
    }
    Err(failed("users.list", format_args!("there are more than {MAX_PAGES} pages")))
}

fn failed(method: &str, why: impl Display) -> ImportError {
    ImportError::new(format!("{method} of Slack failed: {why}"))
}

/// Reads the answer of a method.
fn read<T: DeserializeOwned>(method: &str, answer: Option<Answer>) -> ImportResult<T> {
    let answer = answer.ok_or_else(|| failed(method, "no connection"))?;
    if answer.status != 200 {
        return Err(failed(method, format_args!("status {}", answer.status)));
    }
    let text = answer.text().map_err(|error| failed(method, error))?;
    let status: Status = serde_json::from_str(&text).map_err(|error| failed(method, error))?;
    if !status.ok {
        return Err(failed(method, status.error));
    }
    serde_json::from_str(&text).map_err(|error| failed(method, error))
}

/// True for the hosts on which Slack keeps files and images.
fn is_of_slack(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    url.scheme() == "https" && (host == "files.slack.com" || host.ends_with(".slack-edge.com"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_a_list_end() {
        let mut loaded = 0;
        let endless = all_pages(|_| {
            loaded += 1;
            Ok(People { members: Vec::new(), response_metadata: Page { next_cursor: loaded.to_string() } })
        });
        let error = endless.unwrap_err().to_string();
        assert_eq!(error, "users.list of Slack failed: there are more than 2000 pages");
        assert_eq!(loaded, MAX_PAGES);
    }
}
