//! Event queues.

mod delete;
mod events;
mod heartbeat;
mod life;

use serde::Serialize;
use teamchat::events::{Audience, Event};

/// An event of a type that no slice has: what is tested here knows no resource.
#[derive(Serialize)]
struct Ping {
    r#type: &'static str,
    number: i64,
}

impl Event for Ping {
    const TYPE: &'static str = "ping";
}

impl crate::harness::TestServer {
    /// Sends an event to some users, kept in the log or not.
    async fn ping(&self, users: &[&crate::harness::Client], number: i64, logged: bool) {
        let audience = Audience::users(users.iter().map(|client| teamchat::types::UserId(client.user_id)));
        let job = move |tx: &mut teamchat::store::Tx<'_>| -> Result<(), teamchat::store::StoreError> {
            let event = Ping { r#type: Ping::TYPE, number };
            if logged {
                tx.emit(&event, audience);
            } else {
                tx.emit_unlogged(&event, audience);
            }
            Ok(())
        };
        self.app().writer.run(job).await.unwrap();
    }
}
