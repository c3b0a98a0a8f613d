//! `GET /health`: whether the server does its work, for monitors and containers.

use crate::app::App;
use crate::http::params::NoParams;
use crate::http::{ANYONE, Anyone, ApiError, ApiResult, Call, Reply, Resource, Route};
use crate::store::StoreError;
use hyper::Method;
use serde::Serialize;
use std::time::Duration;

/// The resource of `/health`.
pub const RESOURCE: Resource = Resource { name: "health", routes, ..Resource::EMPTY };

/// How long the writer and a reader have for a job that does nothing. Jobs before it take milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The disk has less than this left: SQLite soon cannot commit.
const MIN_FREE_BYTES: u64 = 16 << 20;

fn routes() -> Vec<Route> {
    vec![Route::call(Method::GET, "/health", ANYONE, health).outside()]
}

/// The reply to `GET /health`.
#[derive(Serialize)]
struct Health {
    /// `ok`.
    status: &'static str,
}

/// `GET /health`: succeeds if the database can be read and changed. Otherwise 503, and `msg` says what is wrong.
async fn health(call: Call<Anyone>, _params: NoParams) -> ApiResult<Reply<Health>> {
    match problem(&call.app).await {
        None => Reply::data(&Health { status: "ok" }),
        Some(problem) => Err(ApiError::new(503, "SERVICE_UNAVAILABLE", problem)),
    }
}

async fn problem(app: &App) -> Option<String> {
    if let Err(error) = app.writer.check_file() {
        tracing::warn!(%error, "the database file is not usable");
        return Some("The database file is gone, or another one is in its place.".to_owned());
    }
    if app.writer.free_space().is_some_and(|free| free < MIN_FREE_BYTES) {
        return Some("The disk is full.".to_owned());
    }
    let written = app.writer.run(|_tx| Ok::<_, StoreError>(()));
    if !matches!(tokio::time::timeout(PATIENCE, written).await, Ok(Ok(()))) {
        return Some("The database cannot be changed.".to_owned());
    }
    let read = app.readers.read(|snapshot| {
        Ok::<i64, StoreError>(snapshot.query_row("SELECT count(*) FROM realm", (), |row| row.get(0))?)
    });
    if !matches!(tokio::time::timeout(PATIENCE, read).await, Ok(Ok(_))) {
        return Some("The database cannot be read.".to_owned());
    }
    None
}
