//! Who may do what: every operation that changes something, tried by everybody, on every kind of channel. The result is
//! a page of the documentation, `docs/permissions.md`; the test fails when the page and the server disagree. After a
//! change that is meant, write the page again and read what changed:
//!
//! ```sh
//! WRITE_DOCS=1 cargo test --test api permissions
//! ```

mod actions;
mod organization;
mod page;

use crate::harness::pictures::png;
use actions::{ACTIONS, Action, Scope};
use futures_util::StreamExt;
use organization::{Case, ChannelKind, Organization, Request, Who};
use page::Outcome;
use std::collections::BTreeSet;
use std::path::Path;
use teamchat::http::{Found, Router};

/// Actions that are tried side by side, each on servers of its own.
const AT_ONCE: usize = 4;

// conformance: auth-22, delete-15, edit-23
#[tokio::test]
async fn the_page_of_permissions_is_true() {
    let organization = Organization::make().await;
    let tried: Vec<_> = futures_util::stream::iter(ACTIONS)
        .map(|action| try_all(&organization, action))
        .buffered(AT_ONCE)
        .collect()
        .await;
    let page = page::write(&tried);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/permissions.md");
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(written.lines()).find(|(found, written)| found != written);
    assert_eq!(
        differs, None,
        "the server's line, and the page's; see the head of tests/api/permissions/mod.rs"
    );
    assert_eq!(page.len(), written.len(), "the page is longer or shorter than it should be");
}

/// Every operation that changes something is on the page.
#[tokio::test]
async fn nothing_is_missing_on_the_page() {
    // Who calls these is not somebody with a role: whoever logs in, opens a page, or runs a command.
    const NOT_FOR_ROLES: &[&str] = &["/fetch_api_key", "/control", "/join/{key}/", "/external/{integration}"];
    let organization = Organization::make().await;
    let case =
        Case { organization: &organization, who: Who::Owner, subscribed: true, kind: ChannelKind::Public };
    let router = Router::new(teamchat::api::routes()).unwrap();
    let mut tried = BTreeSet::new();
    for action in ACTIONS {
        let request = (action.request)(&case);
        let path = format!("/api/v1{}", request.path);
        let Found::Route(route, _) = router.find(&request.method, &path) else {
            panic!("{} leads nowhere: {path}", action.name);
        };
        tried.insert((route.method.as_str(), route.path));
    }
    let missing: Vec<_> = router
        .routes()
        .iter()
        .filter(|route| !matches!(route.method.as_str(), "GET" | "HEAD"))
        .filter(|route| !NOT_FOR_ROLES.contains(&route.path))
        .filter(|route| !tried.contains(&(route.method.as_str(), route.path)))
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    assert!(missing.is_empty(), "not on the page: {missing:#?}");
}

/// An action with what it answered, for each case in the order of [`cases`].
pub struct Tried {
    pub action: &'static Action,
    pub outcomes: Vec<Outcome>,
}

/// The cases of an action, row by row.
pub fn cases(organization: &Organization, scope: Scope) -> Vec<Case<'_>> {
    let rows: Vec<(ChannelKind, bool)> = match scope {
        Scope::Organization => vec![(ChannelKind::Public, true)],
        Scope::Channel => {
            ChannelKind::ALL.into_iter().flat_map(|kind| [(kind, true), (kind, false)]).collect()
        }
    };
    let case = |(kind, subscribed)| Who::ALL.map(|who| Case { organization, who, subscribed, kind });
    rows.into_iter().flat_map(case).collect()
}

/// Tries an action as everybody. What was allowed may have changed something, so the next one gets a new server.
async fn try_all(organization: &Organization, action: &'static Action) -> Tried {
    let mut outcomes = Vec::new();
    let image = png(8, 8);
    let mut server = organization.server().await;
    for case in cases(organization, action.scope) {
        let caller = organization.caller(&server, &case);
        let Request { method, path, parameters, with_image } = (action.request)(&case);
        let request = caller.request(method, &path);
        let request = if with_image {
            request.multipart(parameters, &[("file", "image.png", &image)])
        } else {
            request.form(parameters)
        };
        let answer = request.send().await;
        let outcome = Outcome::of(&answer, &case);
        if outcome == Outcome::Allowed {
            server = organization.server().await;
        }
        outcomes.push(outcome);
    }
    Tried { action, outcomes }
}
