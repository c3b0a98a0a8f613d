//! The published texts about failures: a short one for the conversation, and one with the reasons for the bot's owner.

use crate::api::outgoing_webhooks::post::{Failure, TIMEOUT};
use crate::domain::messages::markup::shortened;
use crate::http_client::Answer;
use crate::types::Language;
use teamchat_markdown::{Composition, Words};

/// The longest quote of a response, in characters.
const SHOWN: usize = 2000;

/// The texts about a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The bot's message to the conversation.
    pub reply: String,
    /// The reasons, for the bot's owner; `None` if the owner cannot do anything about it.
    pub reasons: Option<Reasons>,
}

/// Why a webhook failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons {
    /// A text of the catalogue, and its parameters.
    text: &'static str,
    parameters: Vec<(&'static str, Words)>,
    /// The text of an error.
    error: Option<String>,
    /// The answer of the other server.
    answer: Option<String>,
}

impl Reasons {
    fn of(text: &'static str) -> Self {
        Self { text, ..Self::default() }
    }

    fn with(mut self, name: &'static str, value: Words) -> Self {
        self.parameters.push((name, value));
        self
    }

    /// The message to the owner, in their language, which begins with these words.
    pub fn after(self, language: Language, begin: Words) -> Composition {
        let words = Words::filled(language.t(self.text), &self.parameters);
        let mut content = Composition::from(begin.line_break().append(words));
        if let Some(error) = self.error {
            content = content.next_line().quote_text(&error);
        }
        if let Some(answer) = self.answer {
            let words = Words::new(language.t("The response contains the following payload:"));
            content = content.next_line().paragraph(words).next_line().code_block(&answer);
        }
        content
    }
}

impl Report {
    /// A direct message in the Slack format, which does not support them.
    pub fn no_direct_messages() -> Self {
        let reply = "Failure! Slack outgoing webhooks don't support direct messages.".to_owned();
        Self { reply, reasons: None }
    }

    /// No response, and no retries left.
    pub fn unavailable(failure: Failure) -> Self {
        let reasons = match failure {
            Failure::TimedOut => {
                let seconds = i64::try_from(TIMEOUT.as_secs()).unwrap_or(i64::MAX);
                Reasons::of("Request timed out after {count} seconds.")
                    .with("count", Words::default().number(seconds))
            }
            Failure::NotConnected => Reasons::of("A connection error occurred. Is my bot server down?"),
            Failure::NotAllowed => Reasons::of(
                "The URL configured for the webhook is for a private or disallowed network. The operator of this \
                 server can allow hosts with --webhook-hosts.",
            ),
            Failure::NoUrl => {
                Reasons::of("The webhook has no URL since it has a new owner. Set one in its settings.")
            }
            Failure::Encrypted => Reasons::of("This server posts webhooks over http, not over https."),
        };
        Self { reply: "Failure! Bot is unavailable".to_owned(), reasons: Some(reasons) }
    }

    /// A response with a status other than 2xx.
    pub fn status(answer: &Answer) -> Self {
        let status = answer.status;
        let code = Words::default().emphasis(Words::default().number(status));
        let reasons =
            Reasons::of("The webhook got a response with status code {status}.").with("status", code);
        let reasons = Reasons { answer: shown(answer), ..reasons };
        Self { reply: format!("Failure! Third party responded with {status}"), reasons: Some(reasons) }
    }

    /// An invalid response, or a reply that could not be sent.
    pub fn refused(msg: &str, answer: &Answer) -> Self {
        let msg = quotable(msg);
        let reasons = Reasons::of(
            "The outgoing webhook server attempted to send a message, but that request resulted in the \
             following error:",
        );
        let reply = format!("Failure! {msg}");
        let reasons = Reasons { error: Some(msg), answer: shown(answer), ..reasons };
        Self { reply, reasons: Some(reasons) }
    }
}

/// The beginning of an answer, if it has one.
fn shown(answer: &Answer) -> Option<String> {
    let text = answer.lossy_text();
    (!text.trim().is_empty()).then(|| quotable(&text))
}

/// The beginning of a text that may be of the other server, without NUL characters, which messages cannot have.
fn quotable(text: &str) -> String {
    shortened(&text.replace('\0', "\u{fffd}"), SHOWN)
}
