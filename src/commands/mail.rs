//! `mail test`: an email that is sent at once.

use crate::app::{App, MailOptions};
use crate::domain::mail::{Body, Setup};
use crate::domain::realm;
use crate::http::{ApiError, ApiResult};
use crate::smtp::{Connection, Message, Refusal};
use crate::types::Language;
use serde_json::{Value, json};

/// The email of the test, with the name of the organization.
pub fn test_letter(options: &MailOptions, address: &str, organization: &str, now: i64) -> Message {
    let setup = Setup { sender: options.sender.clone(), url: options.url.clone() };
    let text = format!(
        "This is a test: the server of {organization} can send email. You do not need to do anything."
    );
    let body = Body::new().paragraph(&text).link("The server", &options.url);
    setup.compose_test(address, organization, &body, Language::English, now)
}

/// Sends an email at once, and returns the words of the mail server.
pub async fn send_now(options: &MailOptions, letter: &Message) -> Result<String, Refusal> {
    let mut connection = Connection::open(&options.server, None).await?;
    let answer = connection.send(&options.sender, letter).await?;
    connection.close().await;
    Ok(answer)
}

/// Sends the email of the test as the running server sends others. The answer has `sent`, and the words of the mail server.
pub(super) async fn test(app: &App, address: &str) -> ApiResult<Value> {
    let Some(options) = &app.options.mail else {
        return Err(ApiError::bad_request(
            "the running server sends no mail: start it with --smtp-url and --mail-from",
        ));
    };
    let organization: String = app.readers.read(|snapshot| realm::settings::NAME.get(snapshot)).await?;
    let letter = test_letter(options, address, &organization, app.clock.seconds());
    Ok(match send_now(options, &letter).await {
        Ok(words) => json!({ "sent": true, "server": options.server.to_string(), "words": words }),
        Err(refusal) => json!({ "sent": false, "server": options.server.to_string(), "words": refusal.text }),
    })
}
