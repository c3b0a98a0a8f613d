//! `GET /health`: whether the server does its work, for monitors and containers.

use crate::api::resource::Resource;
use crate::app::{App, SeenProbe};
use crate::http::{ANYONE, Anyone, ApiError, ApiResult, Call, Reply, Route};
use hyper::Method;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

pub const RESOURCE: Resource = Resource { name: "health", routes, ..Resource::EMPTY };

/// Time limit for a job of the writer. Jobs before it take milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The disk has less than this left: SQLite soon cannot commit.
const MIN_FREE_BYTES: u64 = 16 << 20;

const UNREADABLE: &str = "The database cannot be read.";

fn routes() -> Vec<Route> {
    // A raw body for the headers, which the probe of `teamchat doctor` looks at.
    vec![Route::call(Method::GET, "/health", ANYONE, health).outside().raw_body()]
}

/// The reply to `GET /health`.
#[derive(Serialize)]
struct Health {
    /// `ok`.
    status: &'static str,
    /// Things that an operator has to look after, while the server does its work. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<&'static str>,
}

/// Parameters of `GET /health`.
#[derive(Deserialize)]
pub struct HealthParams {
    /// The token of `teamchat doctor`, which asks the server afterwards what arrived.
    probe: Option<String>,
}

/// `GET /health`: succeeds if the database can be read and changed. Otherwise 503, and `msg` says what is wrong.
async fn health(call: Call<Anyone>, params: HealthParams) -> ApiResult<Reply<Health>> {
    if let Some(token) = params.probe {
        note_probe(&call, &token);
    }
    match problem(&call.app).await {
        None => Reply::data(&Health { status: "ok", warnings: warnings(&call.app) }),
        Some(problem) => Err(ApiError::new(503, "SERVICE_UNAVAILABLE", problem)),
    }
}

/// Notes how the request of `teamchat doctor` arrived.
fn note_probe(call: &Call<Anyone>, token: &str) {
    let mut probe = call.app.probe.lock();
    if token.is_empty() || probe.token != token {
        return;
    }
    let lines = call.info.headers.iter().flat_map(|headers| headers.get_all("x-forwarded-for"));
    let lines: Vec<&str> = lines.filter_map(|line| line.to_str().ok()).collect();
    let (client, is_proxied) = (call.info.peer, call.info.is_proxied);
    probe.seen = Some(SeenProbe { client, is_proxied, forwarded_for: lines.join(", ") });
}

async fn problem(app: &App) -> Option<&'static str> {
    let (writer, readers) = (app.writer.clone(), Arc::clone(&app.readers));
    // On a thread of its own: each of these blocks its thread for as long as the disk hangs.
    let examined = app.pools.health.run(None, move || {
        if let Err(error) = writer.check_file() {
            tracing::warn!(%error, "the database file is not usable");
            return Err("The database file is gone, or another one is in its place.");
        }
        if writer.free_space().is_some_and(|free| free < MIN_FREE_BYTES) {
            return Err("The disk is full.");
        }
        let read = readers.read_now(|snapshot| -> ApiResult<i64> {
            Ok(snapshot.query_row("SELECT count(*) FROM realm", (), |row| row.get(0))?)
        });
        Ok(read.is_ok())
    });
    let is_readable = match examined.await {
        Ok(Ok(is_readable)) => is_readable,
        Ok(Err(problem)) => return Some(problem),
        Err(_) => return Some(UNREADABLE),
    };
    let written = app.writer.check_commit();
    if !matches!(tokio::time::timeout(PATIENCE, written).await, Ok(Ok(()))) {
        return Some("The database cannot be changed.");
    }
    (!is_readable).then_some(UNREADABLE)
}

fn warnings(app: &App) -> Vec<&'static str> {
    let mut warnings = Vec::new();
    if app.refuses_changes() {
        warnings.push("The disk is almost full: changes are refused.");
    }
    if app.backups.status().failure.is_some() {
        warnings.push("The last backup failed.");
    }
    if app.is_backup_overdue() {
        warnings.push("There was no backup for a long time.");
    }
    warnings
}
