//! Uploaded files (attachments): uploading and loading them, who may, and what becomes of them.
//!
//! A file's content lies in pieces in the same database (`contents`). It is written while the request arrives, a piece
//! in a job, and a file is there only when all of it is. Loading it reads a piece in a snapshot. So no file is ever whole
//! in memory, and no upload holds up those who send messages.
//!
//! Messages claim the files that they link to ([`claims`]). Who may read one of those messages may load the file
//! ([`access`]).

mod attachments;
pub mod cleaning;
mod download;
mod ranges;
mod temporary;
mod thumbnail;
mod upload;

use crate::domain::files::{blobs, sql};
use crate::http::{ANYONE, ApiResult, Route, USER, VISITOR};
use crate::http::{Background, Resource};
use crate::scheduler;
use crate::store::Tx;
use hyper::Method;

/// Uploaded files.
pub const RESOURCE: Resource =
    Resource { name: "uploads", routes, set_up, background: Some(BACKGROUND), ..Resource::EMPTY };

const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| Box::pin(async move { cleaning::clean_due(&app).await })))
};

fn routes() -> Vec<Route> {
    vec![
        Route::upload(Method::POST, "/user_uploads", USER, upload::upload_file),
        Route::call(Method::GET, FILE, USER, temporary::get_temporary_url),
        Route::read(Method::GET, "/attachments", USER, attachments::get_attachments),
        Route::write(Method::DELETE, "/attachments/{attachment_id}", USER, attachments::remove_attachment),
        Route::call(Method::GET, FILE, VISITOR, download::get_file).outside(),
        Route::call(Method::HEAD, FILE, VISITOR, download::get_file).outside(),
        Route::call(Method::GET, TEMPORARY, ANYONE, temporary::get_file_by_temporary_url).outside(),
        Route::call(Method::HEAD, TEMPORARY, ANYONE, temporary::get_file_by_temporary_url).outside(),
        Route::read(Method::GET, THUMBNAIL, VISITOR, thumbnail::get_thumbnail).outside(),
        Route::read(Method::HEAD, THUMBNAIL, VISITOR, thumbnail::get_thumbnail).outside(),
    ]
}

const FILE: &str = "/user_uploads/{realm_id}/{filename...}";

const TEMPORARY: &str = "/user_uploads/temporary/{token}/{filename}";

const THUMBNAIL: &str = "/user_uploads/thumbnail/{realm_id}/{filename...}";

/// Uploads of a server that has stopped meanwhile are lost.
fn set_up(tx: &mut Tx<'_>) -> ApiResult<()> {
    sql::set_up(tx, rand::random::<[u8; 32]>())?;
    blobs::give_up_all(tx)?;
    Ok(())
}
