//! Events with large audiences reach exactly their receivers, live and from the log.

use super::ping;
use crate::harness::{Client, Queue, TestServer};
use serde_json::json;
use teamchat::api::drafts::DraftRemoved;
use teamchat::events::Audience;
use teamchat::store::{StoreError, Tx};
use teamchat::types::UserId;

/// Sizes around that from which an audience is stored apart.
const SIZES: [usize; 6] = [1, 24, 25, 26, 27, 40];

/// Emits an event for the first `count` users, with the count in it.
async fn tell(server: &TestServer, people: &[Client], count: usize, also_public: bool) {
    let audience = Audience::users(people[..count].iter().map(|client| UserId(client.user_id)));
    let audience = if also_public { audience.and_public_queues() } else { audience };
    let job = move |tx: &mut Tx<'_>| -> Result<(), StoreError> {
        tx.emit(DraftRemoved { draft_id: count as i64 }, audience);
        Ok(())
    };
    server.app().writer.run(job).await.unwrap();
}

#[tokio::test]
async fn large_audiences_receive_exactly_their_events() {
    let mut server = TestServer::start().await;
    let people = server.crowd(60).await;
    let mut queues = Vec::new();
    for client in &people {
        queues.push(client.register(json!({"event_types": ["drafts"], "fetch_event_types": []})).await);
    }
    let public = json!({"event_types": ["drafts"], "fetch_event_types": [], "all_public_streams": true});
    let mut of_all_public = people[59].register(public).await;
    let heard = async |place: usize, queue: &mut Queue| {
        let expected: Vec<_> =
            SIZES.iter().filter(|size| place < **size).map(|size| ping(*size as i64)).collect();
        queue.expect(&expected).await;
    };
    for also_public in [false, true] {
        for size in SIZES {
            tell(&server, &people, size, also_public).await;
        }
        for (place, queue) in queues.iter_mut().enumerate() {
            heard(place, queue).await;
        }
        let expected: Vec<_> = SIZES.iter().filter(|_| also_public).map(|size| ping(*size as i64)).collect();
        of_all_public.expect(&expected).await;
    }
    // Events that were not fetched before a crash come from the log.
    for size in SIZES {
        tell(&server, &people, size, false).await;
    }
    server.crash().await;
    for (place, queue) in queues.iter_mut().enumerate() {
        heard(place, queue).await;
    }
    of_all_public.expect_nothing().await;
}
