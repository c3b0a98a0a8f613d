//! The published texts about failures: a short one for the conversation, and one with the reasons for the bot's owner.

use crate::api::outgoing_webhooks::post::{Answer, Failure, TIMEOUT};
use crate::domain::messages::markup::shortened;
use crate::markdown::{Composition, Words};

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
    words: Words,
    /// The text of an error.
    error: Option<String>,
    /// What the other server answered.
    answer: Option<String>,
}

impl Reasons {
    /// The message to the owner, which begins with these words.
    pub fn after(self, begin: Words) -> Composition {
        let mut content = Composition::from(begin.line_break().append(self.words));
        if let Some(error) = self.error {
            content = content.next_line().quote_text(&error);
        }
        if let Some(answer) = self.answer {
            let words = Words::new("The response contains the following payload:");
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
        let words = match failure {
            Failure::TimedOut => {
                let seconds = i64::try_from(TIMEOUT.as_secs()).unwrap_or(i64::MAX);
                Words::new("Request timed out after ").number(seconds).words(" seconds.")
            }
            Failure::NotConnected => Words::new("A connection error occurred. Is my bot server down?"),
            Failure::NotAllowed => Words::new(
                "The URL configured for the webhook is for a private or disallowed network. Whoever runs this server \
                 allows hosts with --webhook-hosts.",
            ),
            Failure::NoUrl => {
                Words::new("The webhook has no URL since it has a new owner. Set one in its settings.")
            }
            Failure::Encrypted => Words::new("This server posts webhooks over http, not over https."),
        };
        let reasons = Reasons { words, ..Reasons::default() };
        Self { reply: "Failure! Bot is unavailable".to_owned(), reasons: Some(reasons) }
    }

    /// A response with a status other than 2xx.
    pub fn status(answer: &Answer) -> Self {
        let status = answer.status;
        let words = Words::new("The webhook got a response with status code ")
            .emphasis(Words::default().number(status))
            .words(".");
        let reasons = Reasons { words, error: None, answer: shown(answer) };
        Self { reply: format!("Failure! Third party responded with {status}"), reasons: Some(reasons) }
    }

    /// An invalid response, or a reply that could not be sent.
    pub fn refused(msg: &str, answer: &Answer) -> Self {
        let words = Words::new(
            "The outgoing webhook server attempted to send a message, but that request resulted in the \
             following error:",
        );
        let reasons = Reasons { words, error: Some(msg.to_owned()), answer: shown(answer) };
        Self { reply: format!("Failure! {msg}"), reasons: Some(reasons) }
    }
}

/// The beginning of an answer, if it has one.
fn shown(answer: &Answer) -> Option<String> {
    let text = String::from_utf8_lossy(&answer.body);
    (!text.trim().is_empty()).then(|| shortened(&text, SHOWN))
}
