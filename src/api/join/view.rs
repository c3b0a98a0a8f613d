//! The HTML of the pages, each with the style sheet inline. `maud` escapes all values.

use crate::api::join::accept::Joined;
use crate::api::join::form::{FieldErrors, SignupForm};
use crate::auth::session;
use crate::domain::invites::record::InviteRow;
use crate::domain::sign_up::Unusable;
use crate::domain::users::passwords;
use crate::http::page::{HTML, hash_source};
use crate::http::{ApiError, OtherReply, Reply};
use crate::oidc::Provider;
use crate::types::{Language, Piece, Role, fill, is_loopback, pieces};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::sync::LazyLock;
use url::Url;

/// The download page of the published clients.
const CLIENTS_URL: &str = "https://zulip.com/apps/";

const STYLE: &str = include_str!("style.css");

/// The content security policy: only the inline style sheet, images of this server, and forms sent to this server.
static CONTENT_SECURITY_POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = hash_source(STYLE);
    format!(
        "default-src 'none'; style-src {style}; img-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'"
    )
});

/// The organization, as the pages show it.
pub struct Organization {
    /// The name of the organization.
    pub name: String,
    /// The language of the page.
    pub language: Language,
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
    /// Providers at which people can sign up.
    pub providers: &'a [Provider],
    /// False if they can sign up only there.
    pub has_form: bool,
    /// True if people log in with passwords.
    pub asks_password: bool,
}

/// Renders the sign-up page. Its status is 400 if there are errors.
pub fn signup(contents: &SignupPage<'_>, cookie: String) -> Reply {
    let is_owner = contents.invite.is_for_owner();
    let language = contents.organization.language;
    let title = if is_owner {
        language.t("Set up your server").to_owned()
    } else {
        fill(language.t("Join {organization}"), &[("organization", &contents.organization.name)])
    };
    let body = html! {
        h1 { (title) }
        p.lead { (lead(contents)) }
        @if contents.has_form { form method="post" novalidate { (fields(contents, is_owner)) } }
        @if !is_owner {
            @for provider in contents.providers {
                a.button href={ (provider.sign_up_path()) "?multiuse_object_key=" (contents.form.key) } {
                    (fill(language.t("Sign up with {name}"), &[("name", &provider.name)]))
                }
            }
        }
    };
    let status = if contents.errors.is_empty() { 200 } else { 400 };
    page(status, &title, &contents.organization, &body, vec![("Set-Cookie", cookie)])
}

/// Returns the sentence below the title.
fn lead(contents: &SignupPage<'_>) -> String {
    let language = contents.organization.language;
    if contents.invite.is_for_owner() {
        return language
            .t("There are no accounts yet. Your account will be the first, with the role of owner.")
            .to_owned();
    }
    if contents.invite.is_sign_up() {
        return fill(language.t("Join {organization}"), &[("organization", &contents.organization.name)]);
    }
    let text = match (contents.inviter.is_some(), contents.invite.invited_as) {
        (true, Role::Owner) => language.t("{inviter} invited you as an owner."),
        (true, Role::Administrator) => language.t("{inviter} invited you as an administrator."),
        (true, Role::Moderator) => language.t("{inviter} invited you as a moderator."),
        (true, Role::Member) => language.t("{inviter} invited you."),
        (true, Role::Guest) => language.t("{inviter} invited you as a guest."),
        (false, Role::Owner) => language.t("You are invited as an owner."),
        (false, Role::Administrator) => language.t("You are invited as an administrator."),
        (false, Role::Moderator) => language.t("You are invited as a moderator."),
        (false, Role::Member) => language.t("You are invited."),
        (false, Role::Guest) => language.t("You are invited as a guest."),
    };
    fill(text, &[("inviter", contents.inviter.as_deref().unwrap_or_default())])
}

fn fields(contents: &SignupPage<'_>, is_owner: bool) -> Markup {
    let (form, errors) = (contents.form, contents.errors);
    let language = contents.organization.language;
    let organization = Field {
        name: "organization",
        label: language.t("Organization"),
        kind: "text",
        autocomplete: "organization",
        value: Some(&form.organization),
        hint: language.t("The name that others see. You can change it later."),
        error: errors.organization.as_deref(),
        is_read_only: false,
    };
    let full_name = Field {
        name: "full_name",
        label: language.t("Full name"),
        autocomplete: "name",
        value: Some(&form.full_name),
        hint: "",
        error: errors.full_name.as_deref(),
        ..organization
    };
    let email = Field {
        name: "email",
        label: language.t("Email"),
        kind: "email",
        autocomplete: "username",
        value: Some(form.email_for(contents.invite)),
        error: errors.email.as_deref(),
        is_read_only: contents.invite.email.is_some(),
        ..full_name
    };
    let password = Field {
        name: "password",
        label: language.t("Password"),
        kind: "password",
        autocomplete: "new-password",
        value: None,
        hint: &password_hint(language),
        error: errors.password.as_deref(),
        is_read_only: false,
    };
    html! {
        input type="hidden" name="token" value=(contents.token);
        @if let Some(words) = &errors.page { p.problem role="alert" { (words) } }
        @if is_owner { (organization.render()) }
        (full_name.render())
        (email.render())
        @if contents.asks_password { (password.render()) }
        button type="submit" { (language.t("Create account")) }
    }
}

/// A labelled input.
#[derive(Clone, Copy)]
struct Field<'a> {
    name: &'static str,
    label: &'a str,
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

/// Renders the page after sign-up: the way into the web client, where the session has begun, and how to connect other
/// clients. It is the only page that shows the API key.
pub fn joined(organization: &Organization, joined: &Joined, origin: &str) -> Reply {
    let language = organization.language;
    let title = fill(language.t("Welcome, {name}"), &[("name", &joined.full_name)]);
    let file = format!("[api]\nemail={}\nkey={}\nsite={origin}\n", joined.email, joined.api_key);
    let body = html! {
        h1 { (title) }
        p.lead { (fill(language.t("You are in {organization}."), &[("organization", &joined.organization)])) }
        @if joined.session.is_some() { a.button href="/" { (language.t("Start chatting")) } }
        h2 { (language.t("On your phone")) }
        @if is_of_this_machine(origin) {
            p {
                (sentence(
                    language.t("{origin} can be reached only from this machine. To make the server \
                        reachable for others, the operator can use {command} or a reverse proxy."),
                    &[
                        ("origin", html! { (origin) }),
                        ("command", html! { code { "serve --listen 0.0.0.0:9991" } }),
                    ],
                ))
            }
        } @else {
            @if joined.has_password {
                p {
                    (sentence(
                        language.t("Open the {app}, add this server, and log in with your email and password."),
                        &[("app", html! { a href=(CLIENTS_URL) rel="noreferrer" target="_blank" { (language.t("Zulip app")) } })],
                    ))
                }
            }
            dl {
                dt { (language.t("Server")) } dd { (origin) }
                dt { (language.t("Email")) } dd { (joined.email) }
            }
        }
        // Folded: most people need no key, and bystanders should not see it.
        details {
            summary { (language.t("For scripts and terminal clients")) }
            p {
                (sentence(
                    language.t("Run this in a terminal. It creates the file {file}, which only you can read."),
                    &[("file", html! { code { "~/.zuliprc" } })],
                ))
                " " strong { (language.t("The key is shown only once.")) }
            }
            pre tabindex="0" aria-label=(language.t("Command that creates ~/.zuliprc")) {
                "(umask 077; cat > ~/.zuliprc) <<'END'\n" (file) "END\n"
            }
            p {
                (sentence(
                    language.t("Python libraries and bots read it automatically. The terminal client needs its path: \
                        {command}. JavaScript does too: {code} with the path of the file."),
                    &[
                        ("command", html! { code { "zulip-term -c ~/.zuliprc" } }),
                        ("code", html! { code { "zulip({ zuliprc: '...' })" } }),
                    ],
                ))
            }
        }
    };
    let headers = joined.session.as_deref().map(|secret| session::begin(secret, origin)).unwrap_or_default();
    page(200, &title, organization, &body, headers)
}

/// A text with elements in the places of its parameters.
fn sentence(text: &str, parameters: &[(&str, Markup)]) -> Markup {
    let shown = |piece: Piece<'_>| match piece {
        Piece::Text(text) => html! { (text) },
        Piece::Parameter(name) => {
            let found = parameters.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        }
    };
    html! { @for piece in pieces(text) { (shown(piece)) } }
}

fn password_hint(language: Language) -> String {
    let (min, max) = (passwords::MIN_LENGTH.to_string(), passwords::MAX_LENGTH.to_string());
    fill(language.t("{min} to {max} characters."), &[("min", &min), ("max", &max)])
}

/// True if an address is a loopback address of the browser's machine.
fn is_of_this_machine(origin: &str) -> bool {
    Url::parse(origin).is_ok_and(|url| is_loopback(&url))
}

/// Renders the page for a link that does not work, with status 404; 429 if it will work again.
pub fn unusable(organization: &Organization, reason: Unusable) -> Reply {
    let language = organization.language;
    let (status, title, words) = match reason {
        Unusable::Unknown => (
            404,
            language.t("This invitation does not work"),
            language.t("The invitation may have expired or been revoked. Please ask the person who sent it to you for a new link."),
        ),
        Unusable::SetUp => (
            404,
            language.t("This server is set up already"),
            language.t("The owner account exists already. If it is yours, log in with its email and password. If you have lost the \
             password, run teamchat user password on the server's machine."),
        ),
        Unusable::Closed => (
            404,
            language.t("This organization is closed"),
            language.t("No one can join it or log in. The operator of the server can reopen it."),
        ),
        Unusable::TooMany => (
            429,
            language.t("Too many people joined today"),
            language.t("The person who invited you has invited many others. Please try again tomorrow, or ask an administrator for a link."),
        ),
    };
    notice(status, title, words, organization, Vec::new())
}

/// The contents of the page that sets a new password.
pub struct PasswordPage<'a> {
    /// The organization, for the head of the page.
    pub organization: Organization,
    /// The email to log in with.
    pub email: &'a str,
    /// The error of the page as a whole.
    pub page_error: Option<&'a str>,
    /// The error message beside the password.
    pub password_error: Option<&'a str>,
    /// The token of the form, which the cookie has to match.
    pub token: &'a str,
}

/// Renders the page that sets a new password. Its status is 400 if there are errors.
pub fn password(contents: &PasswordPage<'_>, cookie: String) -> Reply {
    let language = contents.organization.language;
    let title = language.t("Set a new password");
    let email = Field {
        name: "email",
        label: language.t("Email"),
        kind: "email",
        autocomplete: "username",
        value: Some(contents.email),
        hint: "",
        error: None,
        is_read_only: true,
    };
    let password = Field {
        name: "password",
        label: language.t("New password"),
        kind: "password",
        autocomplete: "new-password",
        value: None,
        hint: &password_hint(language),
        error: contents.password_error,
        is_read_only: false,
    };
    let body = html! {
        h1 { (title) }
        p.lead { (language.t("All devices and programs that are logged in will have to log in again.")) }
        form method="post" novalidate {
            input type="hidden" name="token" value=(contents.token);
            @if let Some(words) = contents.page_error { p.problem role="alert" { (words) } }
            (email.render())
            (password.render())
            button type="submit" { (language.t("Set password")) }
        }
    };
    let status = if contents.page_error.or(contents.password_error).is_none() { 200 } else { 400 };
    page(status, title, &contents.organization, &body, vec![("Set-Cookie", cookie)])
}

/// Renders the page after a new password was set: the way into the web client, where the session has begun.
pub fn password_set(organization: &Organization, email: &str, session: Option<&str>, origin: &str) -> Reply {
    let language = organization.language;
    let title = language.t("Your password is set");
    let lead =
        language.t("Log in again on your other devices, with the email {email} and your new password.");
    let body = html! {
        h1 { (title) }
        p.lead { (fill(lead, &[("email", email)])) }
        @if session.is_some() { a.button href="/" { (language.t("Start chatting")) } }
    };
    let headers = session.map(|secret| session::begin(secret, origin)).unwrap_or_default();
    page(200, title, organization, &body, headers)
}

/// Renders the page for a link to set a password that is unknown, used or expired, with status 404.
pub fn no_such_reset(organization: &Organization) -> Reply {
    let language = organization.language;
    let words = language.t("A link works once, within a day. Please ask an administrator for a new one.");
    notice(404, language.t("This link does not work"), words, organization, Vec::new())
}

/// Renders the page for a rate-limited client, with status 429.
pub fn too_many_attempts(organization: &Organization, error: &ApiError) -> Reply {
    let language = organization.language;
    let words = language.t("Please wait a few minutes, and then try again.");
    notice(429, language.t("Too many attempts"), words, organization, error.headers().to_vec())
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
        html lang=(organization.language.code()) {
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
    Reply::other(OtherReply { status, content_type: HTML, headers, body: html.into_string().into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_addresses_lead_nowhere_from_a_phone() {
        for (origin, is_local) in [
            ("http://127.0.0.1:9991", true),
            ("http://localhost:9991", true),
            ("http://[::1]:9991", true),
            ("http://192.168.1.7:9991", false),
            ("http://[2001:db8::1]", false),
            ("https://chat.example.com", false),
        ] {
            assert_eq!(is_of_this_machine(origin), is_local, "{origin}");
        }
    }
}
