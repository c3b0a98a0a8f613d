//! The floor of delivery: GETs wait on a tokio watch channel, and one POST hands its body to all of them.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Method, Request, Response};
use tokio::sync::watch::{self, Receiver, Sender};

use super::json;
use crate::Outcome;

/// A body and its number, which grows by one.
type Published = (u64, Bytes);

/// Serves `GET /?after=N`, which waits for a body of a greater number, and `POST /`, which publishes one.
pub async fn serve() -> Outcome<()> {
    let (publish, published) = watch::channel::<Published>((0, Bytes::new()));
    super::serve(move |request| answer(request, publish.clone(), published.clone())).await
}

async fn answer(
    request: Request<Incoming>,
    publish: Sender<Published>,
    mut published: Receiver<Published>,
) -> Response<Full<Bytes>> {
    if request.method() == Method::POST {
        let Ok(body) = request.into_body().collect().await else {
            return json(400, "{}");
        };
        publish.send_modify(|(number, latest)| {
            *number += 1;
            *latest = body.to_bytes();
        });
        return json(200, "{}");
    }
    let after: u64 = request
        .uri()
        .query()
        .and_then(|query| query.strip_prefix("after=")?.parse().ok())
        .unwrap_or_default();
    match published.wait_for(|(number, _)| *number > after).await.map(|latest| latest.1.clone()) {
        Ok(body) => json(200, body),
        Err(_) => json(500, "{}"),
    }
}
