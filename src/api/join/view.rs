//! How the pages look. One style sheet for all, in the page itself.

use crate::api::join::accept::Joined;
use crate::api::join::form::{Filled, Mistakes, is_for_owner};
use crate::api::join::html::{Attributes, Html};
use crate::domain::invites::record::InviteRow;
use crate::domain::users::passwords;
use crate::http::{ApiError, OtherReply, Reply};
use crate::types::Role;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The media type of pages.
pub const HTML: &str = "text/html; charset=utf-8";

/// Where the published clients are.
const CLIENTS: &str = "https://zulip.com/apps/";

const STYLE: &str = include_str!("style.css");

/// What the browser may do with the page: show it with our style and our image, and send it back to us.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let digest = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{digest}'; img-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'"
    )
});

/// The organization, as the pages show it.
pub struct Organization {
    /// Its name.
    pub name: String,
    /// Where its icon is.
    pub icon_url: String,
}

/// What the page to fill in shows.
pub struct Shown<'a> {
    /// What there is to join.
    pub organization: Organization,
    /// The invitation.
    pub invite: &'a InviteRow,
    /// Whose it is.
    pub inviter: Option<String>,
    /// What was filled in before.
    pub filled: &'a Filled,
    /// What was wrong with it.
    pub mistakes: &'a Mistakes,
    /// The token that the cookie has, too.
    pub token: &'a str,
}

/// The page to fill in. With mistakes its status is 400.
pub fn form(shown: &Shown<'_>, cookie: String) -> Reply {
    let is_owner = is_for_owner(shown.invite);
    let title =
        if is_owner { "Set up your server".to_owned() } else { format!("Join {}", shown.organization.name) };
    let body = |html: Html| {
        html.with_text("h1", &[], &title).with_text("p", &[("class", "lead")], &lead(shown)).element(
            "form",
            &[("method", "post"), ("novalidate", "")],
            |html| fields(html, shown, is_owner),
        )
    };
    let status = if shown.mistakes.are_there() { 400 } else { 200 };
    page(status, &title, &shown.organization, body, vec![("Set-Cookie", cookie)])
}

/// The sentence below the title.
fn lead(shown: &Shown<'_>) -> String {
    if is_for_owner(shown.invite) {
        return "Nobody is here yet. You will be the first, and the owner.".to_owned();
    }
    let role = match shown.invite.invited_as {
        Role::Owner => " as an owner",
        Role::Administrator => " as an administrator",
        Role::Moderator => " as a moderator",
        Role::Member => "",
        Role::Guest => " as a guest",
    };
    match &shown.inviter {
        Some(inviter) => format!("{inviter} invited you{role}."),
        None => format!("You are invited{role}."),
    }
}

fn fields(html: Html, shown: &Shown<'_>, is_owner: bool) -> Html {
    let (filled, mistakes) = (shown.filled, shown.mistakes);
    let mut html = html.void("input", &[("type", "hidden"), ("name", "token"), ("value", shown.token)]);
    if let Some(words) = &mistakes.page {
        html = html.with_text("p", &[("class", "problem"), ("role", "alert")], words);
    }
    if is_owner {
        let attributes: Attributes<'_> =
            &[("type", "text"), ("autocomplete", "organization"), ("value", &filled.organization)];
        let hint = "The name that everybody sees. You can change it later.";
        let field =
            Field { name: "organization", label: "Organization", hint, mistake: &mistakes.organization };
        html = field.add(html, attributes);
    }
    let attributes: Attributes<'_> =
        &[("type", "text"), ("autocomplete", "name"), ("value", &filled.full_name)];
    let field = Field { name: "full_name", label: "Full name", hint: "", mistake: &mistakes.full_name };
    html = field.add(html, attributes);
    let field = Field { name: "email", label: "Email", hint: "", mistake: &mistakes.email };
    let email = filled.email_for(shown.invite);
    let kind = [("type", "email"), ("autocomplete", "username"), ("inputmode", "email"), ("value", email)];
    html = if shown.invite.email.is_some() {
        field.add(html, &[&kind[..], &[("readonly", "")]].concat())
    } else {
        field.add(html, &kind)
    };
    let hint = format!("{} to {} characters.", passwords::MIN_LENGTH, passwords::MAX_LENGTH);
    let field = Field { name: "password", label: "Password", hint: &hint, mistake: &mistakes.password };
    html = field.add(html, &[("type", "password"), ("autocomplete", "new-password")]);
    html.with_text("button", &[("type", "submit")], "Create account")
}

/// A labelled input.
struct Field<'a> {
    name: &'static str,
    label: &'static str,
    hint: &'a str,
    mistake: &'a Option<String>,
}

impl Field<'_> {
    /// Adds it, with what is wrong beside it. Screen readers hear the hint and the mistake with the label.
    fn add(&self, html: Html, attributes: Attributes<'_>) -> Html {
        let described = format!("{}-note", self.name);
        let note = self.mistake.as_deref().unwrap_or(self.hint);
        let mut all = vec![("id", self.name), ("name", self.name), ("required", "")];
        if !note.is_empty() {
            all.push(("aria-describedby", &described));
        }
        if self.mistake.is_some() {
            all.push(("aria-invalid", "true"));
        }
        all.extend_from_slice(attributes);
        let class = if self.mistake.is_some() { "note wrong" } else { "note" };
        html.element("div", &[("class", "field")], |html| {
            let html = html.with_text("label", &[("for", self.name)], self.label).void("input", &all);
            if note.is_empty() {
                html
            } else {
                html.with_text("p", &[("class", class), ("id", &described)], note)
            }
        })
    }
}

/// The page after joining: how to connect a client. The key is on it this once.
pub fn joined(organization: &Organization, joined: &Joined, origin: &str) -> Reply {
    let title = format!("Welcome, {}", joined.full_name);
    let file = format!("[api]\nemail={}\nkey={}\nsite={origin}\n", joined.email, joined.api_key);
    let body = |html: Html| {
        html.with_text("h1", &[], &title)
            .with_text("p", &[("class", "lead")], &format!("You are in {}.", joined.organization))
            .with_text("h2", &[], "On your phone")
            .element("p", &[], |html| {
                let link = [("href", CLIENTS), ("rel", "noreferrer"), ("target", "_blank")];
                html.text("Open the ")
                    .with_text("a", &link, "Zulip app")
                    .text(", add this server, and log in with your email and password.")
            })
            .element("dl", &[], |html| {
                html.with_text("dt", &[], "Server")
                    .with_text("dd", &[], origin)
                    .with_text("dt", &[], "Email")
                    .with_text("dd", &[], &joined.email)
            })
            .with_text("h2", &[], "In the terminal, and for scripts")
            .element("p", &[], |html| {
                html.text("Save this as ")
                    .with_text("code", &[], "~/.zuliprc")
                    .text(": the terminal client and the libraries read it. ")
                    .with_text("strong", &[], "The key is shown this once.")
            })
            .with_text("pre", &[("tabindex", "0"), ("aria-label", "Contents of ~/.zuliprc")], &file)
    };
    page(200, &title, organization, body, Vec::new())
}

/// The page of a link that does not work, or not any more: 404.
pub fn no_such_invite(organization: &Organization) -> Reply {
    let title = "This invitation does not work";
    let words =
        "It may have expired, or somebody took it back. Please ask whoever gave it to you for a new link.";
    notice(404, title, words, organization, Vec::new())
}

/// The page for an address that tried too often: 429.
pub fn too_many(organization: &Organization, error: &ApiError) -> Reply {
    let words = "Please wait some minutes, and then try again.";
    notice(429, "Too many attempts", words, organization, error.headers().to_vec())
}

fn notice(
    status: u16,
    title: &str,
    words: &str,
    organization: &Organization,
    headers: Vec<(&'static str, String)>,
) -> Reply {
    let body = |html: Html| html.with_text("h1", &[], title).with_text("p", &[("class", "lead")], words);
    page(status, title, organization, body, headers)
}

/// A whole page.
fn page(
    status: u16,
    title: &str,
    organization: &Organization,
    body: impl FnOnce(Html) -> Html,
    mut headers: Vec<(&'static str, String)>,
) -> Reply {
    let viewport = "width=device-width, initial-scale=1";
    let html = Html::default().own("<!DOCTYPE html>").element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |html| {
            html.void("meta", &[("charset", "utf-8")])
                .void("meta", &[("name", "viewport"), ("content", viewport)])
                .void("meta", &[("name", "color-scheme"), ("content", "light dark")])
                .void("meta", &[("name", "robots"), ("content", "noindex")])
                .with_text("title", &[], title)
                .void("link", &[("rel", "icon"), ("href", &organization.icon_url)])
                .element("style", &[], |html| html.own(STYLE))
        })
        .element("body", &[], |html| {
            html.element("main", &[], |html| {
                let icon =
                    [("src", organization.icon_url.as_str()), ("alt", ""), ("width", "56"), ("height", "56")];
                body(html.void("img", &icon))
            })
        })
    });
    headers.extend([
        ("Content-Security-Policy", POLICY.clone()),
        ("X-Frame-Options", "DENY".to_owned()),
        ("Referrer-Policy", "no-referrer".to_owned()),
        ("Cache-Control", "no-store".to_owned()),
    ]);
    Reply::Other(OtherReply { status, content_type: HTML, headers, body: html.into_string().into() })
}
