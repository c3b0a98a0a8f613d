//! Event queues.

mod audiences;
mod delete;
mod events;
mod heartbeat;
mod lifetime;
mod limits;
mod withdrawn;

use serde_json::{Value, json};
use teamchat::api::drafts::DraftRemoved;
use teamchat::events::Audience;

/// A small event without variants, for tests of queues.
fn ping(number: i64) -> Value {
    json!({"type": "drafts", "op": "remove", "draft_id": number})
}

impl crate::harness::TestServer {
    /// Sends an event to some users, kept in the log or not.
    async fn ping(&self, users: &[&crate::harness::Client], number: i64, logged: bool) {
        let audience = Audience::users(users.iter().map(|client| teamchat::types::UserId(client.user_id)));
        let job = move |tx: &mut teamchat::store::Tx<'_>| -> Result<(), teamchat::store::StoreError> {
            let event = DraftRemoved { draft_id: number };
            if logged {
                tx.emit(event, audience);
            } else {
                tx.emit_unlogged(event, audience);
            }
            Ok(())
        };
        self.app().writer.run(job).await.unwrap();
    }
}
