//! Exports of the organization that administrators ask for, and their download.
//!
//! A request inserts a row. The background task (`run`) writes one archive after the other, from one snapshot, as content in
//! the database (`domain::files::blobs`), like an upload. Archives are deleted after a week.

mod record;
mod run;
mod sql;

pub use self::record::ExportsChanged;

use self::record::{ExportRecord, PUBLIC, WITH_CONSENT, emit_changed};
use self::sql::ExportRow;
use crate::api::resource::{Background, Resource};
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::files::blobs;
use crate::domain::{user_settings, users};
use crate::http::params::NoParams;
use crate::http::{
    ADMINISTRATOR, ANYONE, Administrator, Anyone, ApiError, ApiResult, Call, Read, Reply, Route, ranges,
};
use crate::scheduler;
use crate::store::Tx;
use crate::types::{EmailVisibility, Role};
use hyper::Method;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub const RESOURCE: Resource = Resource {
    name: "exports",
    routes,
    set_up: run::fail_interrupted,
    background: Some(BACKGROUND),
    ..Resource::EMPTY
};

const BACKGROUND: Background = |app, mut stopped| {
    Box::pin(async move {
        let task = scheduler::run(app, stopped.clone(), run::run_due);
        // An export takes long, and ends with the server.
        tokio::select! {
            () = task => {}
            _ = stopped.changed() => {}
        }
    })
};

/// The path of archives. It is served without a login: the random part protects it.
const DOWNLOAD: &str = "/user_avatars/exports/1/{token}/{name}";

/// The number of exports in [`RATE_PERIOD`] seconds.
const RATE: i64 = 5;
const RATE_PERIOD: i64 = 7 * 24 * 60 * 60;

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/export/realm", ADMINISTRATOR, list_exports),
        Route::call(Method::POST, "/export/realm", ADMINISTRATOR, start_export),
        Route::write(Method::DELETE, "/export/realm/{export_id}", ADMINISTRATOR, delete_export)
            .on_full_disk(),
        Route::call(Method::GET, DOWNLOAD, ANYONE, download).outside(),
    ]
}

/// The reply to `GET /export/realm`.
#[derive(Serialize)]
struct Exports {
    /// The exports, the oldest first.
    exports: Vec<ExportRecord>,
}

/// `GET /export/realm`: lists all exports that administrators requested, including failed and deleted ones, the oldest
/// first.
fn list_exports(read: &Read<'_, Administrator>, _params: NoParams) -> ApiResult<Reply<Exports>> {
    Reply::data(&Exports { exports: record::list(read)? })
}

/// Parameters of `POST /export/realm`.
#[derive(Deserialize)]
pub struct StartParams {
    /// 1 for public data, which is the default; 2 to add the private data of users who consent.
    export_type: Option<i64>,
}

/// The reply to `POST /export/realm`.
#[derive(Serialize)]
struct StartedExport {
    /// The id of the export.
    id: i64,
}

/// `POST /export/realm`: starts an export of the organization. The archive is written in the background.
async fn start_export(call: Call<Administrator>, params: StartParams) -> ApiResult<Reply<StartedExport>> {
    let export_type = params.export_type.unwrap_or(PUBLIC);
    if ![PUBLIC, WITH_CONSENT].contains(&export_type) {
        let msg = "Invalid export_type: Value error, Not in the list of possible values";
        return Err(ApiError::bad_request(msg));
    }
    let origin = call.info.origin.clone();
    let id = call
        .write(move |tx, caller| {
            if sql::count_since(tx, tx.now() - RATE_PERIOD)? >= RATE {
                return Err(ApiError::bad_request("Exceeded rate limit."));
            }
            check_owners(tx, export_type)?;
            let id = sql::insert(tx, export_type, caller.user_id, &origin, tx.now())?;
            emit_changed(tx)?;
            tx.audit(
                Entry::new(Action::OrganizationExported, Subject::with_id("export", id)).after(export_type),
            )?;
            tx.wake_tasks_after_commit();
            Ok(id)
        })
        .await?;
    Reply::data(&StartedExport { id })
}

/// Checks that the imported organization will have an owner who can log in.
fn check_owners(connection: &Connection, export_type: i64) -> ApiResult<()> {
    for owner in users::all(connection)?.iter().filter(|user| user.role == Role::Owner && !user.is_bot()) {
        let is_usable = if export_type == WITH_CONSENT {
            user_settings::ALLOW_PRIVATE_DATA_EXPORT.get(connection, owner.user_id)?
        } else {
            owner.email_visibility != EmailVisibility::Nobody
        };
        if is_usable {
            return Ok(());
        }
    }
    // The published texts name an address of the server's support.
    Err(ApiError::bad_request(if export_type == WITH_CONSENT {
        "Make sure at least one Organization Owner is consenting to the export or contact the operator of this server for help."
    } else {
        "Make sure at least one Organization Owner allows other Administrators to see their email address or contact \
         the operator of this server for help"
    }))
}

/// Parameters of `DELETE /export/realm/{export_id}`.
#[derive(Deserialize)]
pub struct DeleteParams {
    /// The id of the export. Its archive must be complete.
    export_id: i64,
}

/// `DELETE /export/realm/{export_id}`: deletes the archive of an export. The export stays in the list.
fn delete_export(tx: &mut Tx<'_>, _caller: &Administrator, params: DeleteParams) -> ApiResult<Reply> {
    let refused = |msg: &'static str| Err(ApiError::bad_request(msg));
    match sql::by_id(tx, params.export_id)? {
        None => refused("Invalid data export ID"),
        Some(ExportRow { date_deleted: Some(_), .. }) => refused("Export already deleted"),
        Some(ExportRow { date_failed: Some(_), .. }) => refused("Export failed, nothing to delete"),
        Some(ExportRow { content: None, .. }) => refused("Export still in progress"),
        Some(row) => {
            run::delete_archive(tx, &row)?;
            tx.audit(Entry::new(Action::ItemDeleted, Subject::with_id("export", row.id)))?;
            Ok(Reply::ok())
        }
    }
}

/// Parameters of the download of an archive.
#[derive(Deserialize)]
pub struct DownloadParams {
    /// The random part of the address.
    token: String,
    /// The name of the archive.
    name: String,
}

/// `GET /user_avatars/exports/{realm_id}/{token}/{name}`: an archive, or a range of it.
async fn download(call: Call<Anyone>, params: DownloadParams) -> ApiResult<Reply> {
    let path = format!("{}/{}", params.token, params.name);
    let row = call.app.readers.read(|snapshot| Ok::<_, ApiError>(sql::by_path(snapshot, &path)?)).await?;
    let content = row.and_then(|row| row.content).ok_or_else(ApiError::not_found)?;
    let etag = format!("\"{}\"", content.content_id);
    let headers = vec![
        ("Accept-Ranges", "bytes".to_owned()),
        ("Cache-Control", "private, no-store".to_owned()),
        ("Content-Disposition", "attachment".to_owned()),
        ("ETag", etag.clone()),
        ("X-Robots-Tag", "noindex".to_owned()),
    ];
    let conditions = call.info.conditions.as_deref().filter(|conditions| conditions.if_none_match.is_none());
    let wanted = ranges::wanted(conditions, content.size, &etag);
    ranges::respond(wanted, content.size, "application/gzip", headers, |start| {
        Box::new(blobs::parts(Arc::clone(&call.app), content.content_id, start))
    })
}
