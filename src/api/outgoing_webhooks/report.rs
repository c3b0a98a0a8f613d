//! What is said where posting failed: shortly in the conversation, and with the reasons to the bot's owner. The words are
//! the published ones.

use crate::api::outgoing_webhooks::post::{Answer, Failure, TIMEOUT};
use crate::domain::messages::quote::{shortened, unused_fence};

/// What of an answer the owner is shown, in characters.
const SHOWN: usize = 2000;

/// A failure, for those who read of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What the bot says in the conversation.
    pub reply: String,
    /// What the owner hears; absent where it is nothing that they could do about.
    pub reasons: Option<String>,
}

impl Report {
    /// Direct messages in the format that has none.
    pub fn no_direct_messages() -> Self {
        let reply = "Failure! Slack outgoing webhooks don't support direct messages.".to_owned();
        Self { reply, reasons: None }
    }

    /// No answer, and no more tries.
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

    /// An answer with another status than success.
    pub fn status(answer: &Answer) -> Self {
        let status = answer.status;
        let reasons = format!("The webhook got a response with status code *{status}*.{}", shown(answer));
        Self { reply: format!("Failure! Third party responded with {status}"), reasons: Some(reasons) }
    }

    /// An answer, or a reply in it, that was refused.
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
