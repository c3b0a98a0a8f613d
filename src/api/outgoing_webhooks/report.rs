//! The published texts about failures: a short one for the conversation, and one with the reasons for the bot's owner.

use crate::api::outgoing_webhooks::post::{Answer, Failure, TIMEOUT};
use crate::domain::messages::markup::{shortened, unused_fence};

/// The longest quote of a response, in characters.
const SHOWN: usize = 2000;

/// The texts about a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The bot's message to the conversation.
    pub reply: String,
    /// The text for the bot's owner; `None` if the owner cannot do anything about it.
    pub reasons: Option<String>,
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
            Failure::TimedOut => format!("Request timed out after {} seconds.", TIMEOUT.as_secs()),
            Failure::NotConnected => "A connection error occurred. Is my bot server down?".to_owned(),
            Failure::NotAllowed => {
                "The URL configured for the webhook is for a private or disallowed network. \
                                    Whoever runs this server allows hosts with --webhook-hosts."
                    .to_owned()
            }
            Failure::Encrypted => "This server posts webhooks over http, not over https.".to_owned(),
        };
        Self { reply: "Failure! Bot is unavailable".to_owned(), reasons: Some(reasons) }
    }

    /// A response with a status other than 2xx.
    pub fn status(answer: &Answer) -> Self {
        let status = answer.status;
        let reasons = format!("The webhook got a response with status code *{status}*.{}", shown(answer));
        Self { reply: format!("Failure! Third party responded with {status}"), reasons: Some(reasons) }
    }

    /// An invalid response, or a reply that could not be sent.
    pub fn refused(msg: &str, answer: &Answer) -> Self {
        let reasons = format!(
            "The outgoing webhook server attempted to send a message in Zulip, but that request resulted in the \
             following error:\n> {msg}{}",
            shown(answer)
        );
        Self { reply: format!("Failure! {msg}"), reasons: Some(reasons) }
    }
}

fn shown(answer: &Answer) -> String {
    let text = String::from_utf8_lossy(&answer.body);
    if text.trim().is_empty() {
        return String::new();
    }
    let text = shortened(&text, SHOWN);
    let fence = unused_fence(&text);
    format!("\nThe response contains the following payload:\n{fence}\n{text}\n{fence}")
}
