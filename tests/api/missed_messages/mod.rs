//! Mail about missed messages: who gets it and when, and what is in it.

mod batches;
mod deciding;
mod letters;

use crate::harness::{Client, TestServer};

/// Bob, an administrator, who may mention all of a large channel; a number of members, and the channel of them and Bob.
async fn crowded_channel(server: &TestServer, members: usize) -> (Client, Vec<Client>, i64) {
    let bob = server.administrator("bob").await;
    let crowd = server.crowd(members).await;
    let everyone: Vec<&Client> = crowd.iter().chain([&bob]).collect();
    let channel = server.channel("general", &everyone).await;
    (bob, crowd, channel)
}
