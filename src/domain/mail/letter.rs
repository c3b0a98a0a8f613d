//! An email, and its body in two forms.

use crate::domain::limits::MAX_WAITING_MAIL;
use crate::domain::rows::user::UserRow;
use crate::types::{Language, MessageId, UserId};
use maud::{DOCTYPE, Markup, html};
use serde::{Deserialize, Serialize};

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;

/// The kind of an email.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The link to join, for an invited address.
    Invitation,
    /// The same link once more, before it expires.
    InvitationReminder,
    /// The link with which a person signs up.
    ConfirmSignUp,
    /// A new account, to its user.
    AccountCreated,
    /// The link that proves the new address of a user.
    ConfirmEmail,
    /// The address of an account was changed, to the old one.
    EmailChanged,
    /// The link that sets a new password, which someone asked for.
    PasswordReset,
    /// The same link from the operator.
    PasswordLink,
    /// The answer if an address has an account, to that address.
    FindAccount,
    /// A login, unless the account is new or its user does not want to know.
    NewLogin,
    /// Messages that their reader has not read in time.
    MissedMessages,
    /// The summary of what happened while a person was away.
    Digest,
    /// An administrator has deactivated an account, to its user.
    AccountDeactivated,
    /// The organization was deactivated, to owners.
    OrganizationDeactivated,
    /// A backup failed, to owners.
    BackupFailed,
}

impl Kind {
    /// The name in the file and in the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invitation => "invitation",
            Self::InvitationReminder => "invitation_reminder",
            Self::ConfirmSignUp => "confirm_sign_up",
            Self::AccountCreated => "account_created",
            Self::ConfirmEmail => "confirm_email",
            Self::EmailChanged => "email_changed",
            Self::PasswordReset => "password_reset",
            Self::PasswordLink => "password_link",
            Self::FindAccount => "find_account",
            Self::NewLogin => "new_login",
            Self::MissedMessages => "missed_messages",
            Self::Digest => "digest",
            Self::AccountDeactivated => "account_deactivated",
            Self::OrganizationDeactivated => "organization_deactivated",
            Self::BackupFailed => "backup_failed",
        }
    }

    /// The urgency of emails of this kind.
    pub const fn priority(self) -> Priority {
        match self {
            Self::ConfirmSignUp | Self::ConfirmEmail | Self::PasswordReset | Self::FindAccount => {
                Priority::Awaited
            }
            Self::MissedMessages | Self::Digest => Priority::Bulk,
            _ => Priority::Normal,
        }
    }

    /// Seconds after which an email is useless and no longer sent, if it has no end of its own.
    pub const fn lifetime(self) -> i64 {
        match self {
            Self::FindAccount => 6 * HOUR,
            Self::ConfirmSignUp | Self::ConfirmEmail | Self::PasswordReset | Self::PasswordLink => DAY,
            Self::NewLogin | Self::InvitationReminder => 2 * DAY,
            _ => 4 * DAY,
        }
    }

    /// The type of the links that end mail of this kind: see [`super::unsubscribe`].
    pub const fn unsubscribe_type(self) -> Option<&'static str> {
        match self {
            Self::MissedMessages => Some("missed_messages"),
            Self::Digest => Some("digest"),
            Self::NewLogin => Some("login"),
            _ => None,
        }
    }
}

/// The urgency of an email: the queue sends the most urgent one first, and keeps room for it. The numbers are those in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Someone waits for it in front of a page.
    Awaited = 0,
    /// Others about accounts, invitations and the server.
    Normal = 1,
    /// About messages: one message can cause thousands of them.
    Bulk = 2,
}

impl Priority {
    /// All priorities, the most urgent one first.
    pub const ALL: [Self; 3] = [Self::Awaited, Self::Normal, Self::Bulk];

    /// The number of waiting emails from which on no emails of this priority are accepted.
    pub const fn most_waiting(self) -> i64 {
        match self {
            Self::Awaited => MAX_WAITING_MAIL,
            Self::Normal => MAX_WAITING_MAIL - 2000,
            Self::Bulk => MAX_WAITING_MAIL - 5000,
        }
    }
}

/// The messages in an email, which may change while it waits: see `domain::notifications::mailed`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Basis {
    /// The missed messages; none in the digest.
    pub missed: Vec<MessageId>,
    /// Other messages that are shown.
    pub others: Vec<MessageId>,
    /// A digest of their state.
    pub state: String,
}

/// An email to one address, before it is put into the queue.
#[derive(Clone, Debug)]
pub struct Letter {
    pub(super) kind: Kind,
    pub(super) to: String,
    pub(super) to_name: Option<String>,
    pub(super) user_id: Option<UserId>,
    pub(super) invite_id: Option<i64>,
    pub(super) language: Language,
    pub(super) from_name: Option<String>,
    pub(super) reply_to: Option<String>,
    pub(super) thread: Option<String>,
    pub(super) subject: String,
    pub(super) body: Body,
    pub(super) date: Option<i64>,
    pub(super) about: Option<String>,
    pub(super) not_before: Option<i64>,
    pub(super) expires: Option<i64>,
    pub(super) basis: Option<Basis>,
}

impl Letter {
    /// An email to an address, without an account.
    pub fn to_address(kind: Kind, to: &str, language: Language, subject: String, body: Body) -> Self {
        Self {
            kind,
            to: to.to_owned(),
            to_name: None,
            user_id: None,
            invite_id: None,
            language,
            from_name: None,
            reply_to: None,
            thread: None,
            subject,
            body,
            date: None,
            about: None,
            not_before: None,
            expires: None,
            basis: None,
        }
    }

    /// An email to the address of a user. It is not sent if the account is not active when its time has come.
    pub fn to_user(kind: Kind, user: &UserRow, language: Language, subject: String, body: Body) -> Self {
        Self {
            user_id: Some(user.user_id),
            to_name: Some(user.full_name.clone()),
            ..Self::to_address(kind, &user.delivery_email, language, subject, body)
        }
    }

    /// With the receiver's name, for people without an active account.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.to_name = Some(name.to_owned());
        self
    }

    /// With another name beside the sender's address than that of the organization.
    #[must_use]
    pub fn from_name(mut self, name: String) -> Self {
        self.from_name = Some(name);
        self
    }

    /// With an address for answers. Without one, `Reply-To` is the sender's address.
    #[must_use]
    pub fn reply_to(mut self, address: String) -> Self {
        self.reply_to = Some(address);
        self
    }

    /// In a thread of the receiver's mail program, with all emails to them of this name, for example `channel/5/lunch`. The name
    /// cannot be derived from the email.
    #[must_use]
    pub fn in_thread(mut self, name: String) -> Self {
        self.thread = Some(name);
        self
    }

    /// With the time of the cause, in UNIX seconds; now by default.
    #[must_use]
    pub fn dated(mut self, seconds: i64) -> Self {
        self.date = Some(seconds);
        self
    }

    /// With a name by which [`super::withdraw`] removes it from the queue, for example `password:5`.
    #[must_use]
    pub fn about(mut self, about: String) -> Self {
        self.about = Some(about);
        self
    }

    /// With the link of an invitation, with which it is deleted.
    #[must_use]
    pub fn of_invite(mut self, invite_id: i64) -> Self {
        self.invite_id = Some(invite_id);
        self
    }

    /// With the messages in it, which are checked before it is sent.
    #[must_use]
    pub fn based_on(mut self, basis: Basis) -> Self {
        self.basis = Some(basis);
        self
    }

    /// Not sent before a time, in UNIX seconds.
    #[must_use]
    pub fn not_before(mut self, seconds: i64) -> Self {
        self.not_before = Some(seconds);
        self
    }

    /// Useless from a time on, in UNIX seconds, and then dropped. By default [`Kind::lifetime`] after it could first be sent.
    #[must_use]
    pub fn expires(mut self, seconds: i64) -> Self {
        self.expires = Some(seconds);
        self
    }
}

/// The body of an email, built up in parts that appear in the text and in the HTML.
#[derive(Clone, Debug, Default)]
pub struct Body {
    text: Vec<String>,
    html: Vec<String>,
}

/// Styles are attributes: some mail programs drop style sheets. The colors of text and background are those of the program, which
/// may be dark.
const PAGE: &str = "margin:0;padding:16px;font:15px/1.5 sans-serif;overflow-wrap:break-word";
const BUTTON: &str = "display:inline-block;padding:8px 16px;border-radius:4px;background:#3b5bdb;color:#fff;text-decoration:none";
const HEADING: &str = "margin:24px 0 0;font-size:17px";
const SMALL: &str = "font-size:13px;opacity:0.75";

impl Body {
    /// An empty body.
    pub fn new() -> Self {
        Self::default()
    }

    fn with(mut self, text: String, html: &Markup) -> Self {
        self.text.push(text);
        self.html.push(html.0.clone());
        self
    }

    /// A paragraph of plain text, which may have several lines.
    #[must_use]
    pub fn paragraph(self, text: &str) -> Self {
        let lines =
            html! { p { @for (number, line) in text.lines().enumerate() { @if number > 0 { br; } (line) } } };
        self.with(text.to_owned(), &lines)
    }

    /// A link as a button. The text has the label and, on a line of its own, the URL.
    #[must_use]
    pub fn button(self, label: &str, url: &str) -> Self {
        self.with(
            format!("{label}:\n{url}"),
            &html! { p { a href=(url) style=(BUTTON) { (label) } } p style=(SMALL) { a href=(url) { (url) } } },
        )
    }

    /// A link in a paragraph of its own. The text has the label and the URL on one line.
    #[must_use]
    pub fn link(self, label: &str, url: &str) -> Self {
        self.with(format!("{label}: {url}"), &html! { p { a href=(url) { (label) } } })
    }

    /// A heading that is a link.
    #[must_use]
    pub fn heading(self, label: &str, url: &str) -> Self {
        self.with(format!("{label}: {url}"), &html! { h3 style=(HEADING) { a href=(url) { (label) } } })
    }

    /// Facts, each with its name.
    #[must_use]
    pub fn facts(self, facts: &[(&str, &str)]) -> Self {
        let lines: Vec<String> = facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        self.with(
            lines.join("\n"),
            &html! { ul { @for (name, value) in facts { li { strong { (name) } ": " (value) } } } },
        )
    }

    /// Small print at the end.
    #[must_use]
    pub fn small(self, text: &str) -> Self {
        self.with(text.to_owned(), &html! { p style=(SMALL) { (text) } })
    }

    /// A part with forms of its own: plain text, and HTML that is complete and safe.
    #[must_use]
    pub fn part(self, text: &str, html: &Markup) -> Self {
        self.with(text.to_owned(), html)
    }

    /// The parts as plain text, with an empty line between them and a line end after them.
    pub(super) fn text(&self) -> String {
        format!("{}\n", self.text.join("\n\n"))
    }

    /// The HTML document. Its direction is written out, because mail programs show it in a page of their own, which may be in a
    /// language that is written from right to left. No language with a catalogue is.
    pub(super) fn page(&self, language: Language, title: &str) -> String {
        let parts = maud::PreEscaped(self.html.join("\n"));
        let page = html! {
            (DOCTYPE)
            html lang=(language.code()) dir="ltr" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width";
                    meta name="color-scheme" content="light dark";
                    title { (title) }
                }
                body style=(PAGE) { (parts) }
            }
        };
        page.into_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_in_html_and_plain_in_text() {
        let body = Body::new()
            .paragraph("Ada <b> & \"Bob\"\nEve")
            .button("Join", "https://chat.example.com/join/x/?a=1&b=2")
            .heading("#a > b", "https://chat.example.com/#narrow")
            .facts(&[("IP address", "<i>")])
            .small("Bye");
        let expected = "Ada <b> & \"Bob\"\nEve\n\nJoin:\nhttps://chat.example.com/join/x/?a=1&b=2\n\n#a > b: https://chat.example.com/#narrow\n\nIP address: <i>\n\nBye\n";
        assert_eq!(body.text(), expected);
        let page = body.page(Language::English, "<title>");
        assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\" dir=\"ltr\">"), "{page}");
        for escaped in [
            "&lt;title&gt;",
            "<p>Ada &lt;b&gt; &amp; &quot;Bob&quot;<br>Eve</p>",
            "?a=1&amp;b=2",
            "&lt;i&gt;",
            "content=\"light dark\"",
        ] {
            assert!(page.contains(escaped), "{escaped} is not in {page}");
        }
    }
}
