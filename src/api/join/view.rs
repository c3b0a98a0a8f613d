//! The HTML of the pages, each with the style sheet inline. `maud` escapes all values.

use crate::api::join::accept::Joined;
use crate::api::join::form::{FieldErrors, SignupForm, is_for_owner};
use crate::domain::invites::record::InviteRow;
use crate::domain::users::passwords;
use crate::http::{ApiError, OtherReply, Reply};
use crate::types::Role;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The media type of pages.
pub const HTML: &str = "text/html; charset=utf-8";

/// The download page of the published clients.
const CLIENTS_URL: &str = "https://zulip.com/apps/";

const STYLE: &str = include_str!("style.css");

/// The content security policy: only the inline style sheet, images of this server, and forms sent to this server.
static CONTENT_SECURITY_POLICY: LazyLock<String> = LazyLock::new(|| {
    let digest = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{digest}'; img-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'"
    )
});

/// The organization, as the pages show it.
pub struct Organization {
    /// The name of the organization.
    pub name: String,
    /// The URL of the organization's icon.
    pub icon_url: String,
}

/// The contents of the sign-up page.
pub struct SignupPage<'a> {
    /// The organization to join.
    pub organization: Organization,
    /// The invitation of the link.
    pub invite: &'a InviteRow,
    /// The inviter's display name; `None` for the first owner.
    pub inviter: Option<String>,
    /// The submitted values, or the initial ones.
    pub form: &'a SignupForm,
    /// The errors of the submitted values.
    pub errors: &'a FieldErrors,
    /// The token of the form, which the cookie has to match.
    pub token: &'a str,
}

/// Renders the sign-up page. Its status is 400 if there are errors.
pub fn signup(contents: &SignupPage<'_>, cookie: String) -> Reply {
    let is_owner = is_for_owner(contents.invite);
    let title = if is_owner {
        "Set up your server".to_owned()
    } else {
        format!("Join {}", contents.organization.name)
    };
    let body = html! {
        h1 { (title) }
        p.lead { (lead(contents)) }
        form method="post" novalidate { (fields(contents, is_owner)) }
    };
    let status = if contents.errors.is_empty() { 200 } else { 400 };
    page(status, &title, &contents.organization, &body, vec![("Set-Cookie", cookie)])
}

/// Returns the sentence below the title.
fn lead(contents: &SignupPage<'_>) -> String {
    if is_for_owner(contents.invite) {
        return "Nobody is here yet. You will be the first, and the owner.".to_owned();
    }
    let role = match contents.invite.invited_as {
        Role::Owner => " as an owner",
        Role::Administrator => " as an administrator",
        Role::Moderator => " as a moderator",
        Role::Member => "",
        Role::Guest => " as a guest",
    };
    match &contents.inviter {
        Some(inviter) => format!("{inviter} invited you{role}."),
        None => format!("You are invited{role}."),
    }
}

fn fields(contents: &SignupPage<'_>, is_owner: bool) -> Markup {
    let (form, errors) = (contents.form, contents.errors);
    let (min, max) = (passwords::MIN_LENGTH, passwords::MAX_LENGTH);
    let organization = Field {
        name: "organization",
        label: "Organization",
        kind: "text",
        autocomplete: "organization",
        value: Some(&form.organization),
        hint: "The name that everybody sees. You can change it later.",
        error: errors.organization.as_deref(),
        is_read_only: false,
    };
    let full_name = Field {
        name: "full_name",
        label: "Full name",
        autocomplete: "name",
        value: Some(&form.full_name),
        hint: "",
        error: errors.full_name.as_deref(),
        ..organization
    };
    let email = Field {
        name: "email",
        label: "Email",
        kind: "email",
        autocomplete: "username",
        value: Some(form.email_for(contents.invite)),
        error: errors.email.as_deref(),
        is_read_only: contents.invite.email.is_some(),
        ..full_name
    };
    let password = Field {
        name: "password",
        label: "Password",
        kind: "password",
        autocomplete: "new-password",
        value: None,
        hint: &format!("{min} to {max} characters."),
        error: errors.password.as_deref(),
        is_read_only: false,
    };
    html! {
        input type="hidden" name="token" value=(contents.token);
        @if let Some(words) = &errors.page { p.problem role="alert" { (words) } }
        @if is_owner { (organization.render()) }
        (full_name.render())
        (email.render())
        (password.render())
        button type="submit" { "Create account" }
    }
}

/// A labelled input.
#[derive(Clone, Copy)]
struct Field<'a> {
    name: &'static str,
    label: &'static str,
    kind: &'static str,
    autocomplete: &'static str,
    value: Option<&'a str>,
    hint: &'a str,
    error: Option<&'a str>,
    is_read_only: bool,
}

impl Field<'_> {
    /// Renders the input with its error or else its hint, which screen readers read with the label.
    fn render(self) -> Markup {
        let note = self.error.unwrap_or(self.hint);
        let note_id = (!note.is_empty()).then(|| format!("{}-note", self.name));
        html! {
            div.field {
                label for=(self.name) { (self.label) }
                input id=(self.name) name=(self.name) required aria-describedby=[&note_id]
                    aria-invalid=[self.error.map(|_| "true")] type=(self.kind) autocomplete=(self.autocomplete)
                    inputmode=[(self.kind == "email").then_some("email")] value=[self.value]
                    readonly[self.is_read_only];
                @if let Some(note_id) = &note_id {
                    p.note.wrong[self.error.is_some()] id=(note_id) { (note) }
                }
            }
        }
    }
}

/// Renders the page after sign-up: how to connect a client. It is the only page that shows the API key.
pub fn joined(organization: &Organization, joined: &Joined, origin: &str) -> Reply {
    let title = format!("Welcome, {}", joined.full_name);
    let file = format!("[api]\nemail={}\nkey={}\nsite={origin}\n", joined.email, joined.api_key);
    let body = html! {
        h1 { (title) }
        p.lead { "You are in " (joined.organization) "." }
        h2 { "On your phone" }
        p {
            "Open the " a href=(CLIENTS_URL) rel="noreferrer" target="_blank" { "Zulip app" }
            ", add this server, and log in with your email and password."
        }
        dl {
            dt { "Server" } dd { (origin) }
            dt { "Email" } dd { (joined.email) }
        }
        h2 { "In the terminal, and for scripts" }
        p {
            "Save this as " code { "~/.zuliprc" } ": the terminal client and the libraries read it. "
            strong { "The key is shown this once." }
        }
        pre tabindex="0" aria-label="Contents of ~/.zuliprc" { (file) }
    };
    page(200, &title, organization, &body, Vec::new())
}

/// Renders the page for an unknown, expired or revoked link, with status 404.
pub fn no_such_invite(organization: &Organization) -> Reply {
    let title = "This invitation does not work";
    let words =
        "It may have expired, or somebody took it back. Please ask whoever gave it to you for a new link.";
    notice(404, title, words, organization, Vec::new())
}

/// Renders the page for a rate-limited client, with status 429.
pub fn too_many_attempts(organization: &Organization, error: &ApiError) -> Reply {
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
    let body = html! {
        h1 { (title) }
        p.lead { (words) }
    };
    page(status, title, organization, &body, headers)
}

/// Renders the frame of a page and its headers.
fn page(
    status: u16,
    title: &str,
    organization: &Organization,
    body: &Markup,
    mut headers: Vec<(&'static str, String)>,
) -> Reply {
    let html = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                title { (title) }
                link rel="icon" href=(organization.icon_url);
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    img src=(organization.icon_url) alt="" width="56" height="56";
                    (body)
                }
            }
        }
    };
    headers.extend([
        ("Content-Security-Policy", CONTENT_SECURITY_POLICY.clone()),
        ("X-Frame-Options", "DENY".to_owned()),
        ("Referrer-Policy", "no-referrer".to_owned()),
        ("Cache-Control", "no-store".to_owned()),
    ]);
    Reply::Other(OtherReply { status, content_type: HTML, headers, body: html.into_string().into() })
}
