//! Uploaded files (attachments): uploading, downloading, listing and deleting them.
//!
//! The content of a file is stored in chunks in the database (`domain::files::blobs`). An upload writes one chunk per
//! job while the request arrives, and the file exists once all of them are written. A download reads one chunk per
//! snapshot. So no file is in memory as a whole, and uploads do not delay other jobs.
//!
//! Messages reference the files that they link to (`domain::files::references`). Users who may read one of these
//! messages may download the file (`domain::files::access`).

mod attachments;
pub mod cleaning;
mod download;
mod signed_urls;
mod thumbnail;
mod upload;

use crate::api::resource::{Background, Resource};
use crate::domain::files;
use crate::domain::files::blobs;
use crate::http::{ANYONE, ApiResult, Route, USER, VISITOR};
use crate::scheduler;
use crate::store::Tx;
use hyper::Method;

pub const RESOURCE: Resource =
    Resource { name: "uploads", routes, set_up, background: Some(BACKGROUND), ..Resource::EMPTY };

const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| async move { cleaning::clean_due(&app).await }))
};

fn routes() -> Vec<Route> {
    vec![
        Route::upload(Method::POST, "/user_uploads", USER, upload::upload_file).on_full_disk(),
        Route::call(Method::GET, FILE, USER, signed_urls::get_temporary_url),
        Route::read(Method::GET, "/attachments", USER, attachments::get_attachments).slow(),
        Route::write(Method::DELETE, "/attachments/{attachment_id}", USER, attachments::remove_attachment),
        Route::call(Method::GET, FILE, VISITOR, download::get_file).outside(),
        Route::call(Method::GET, DOWNLOAD, VISITOR, download::get_file_to_save).outside(),
        Route::read(Method::GET, "/thumbnail", ANYONE, download::redirect_old_thumbnail).outside(),
        Route::call(Method::GET, TEMPORARY, ANYONE, signed_urls::get_file_by_temporary_url).outside(),
        Route::call(Method::GET, THUMBNAIL, VISITOR, thumbnail::get_thumbnail).outside(),
    ]
}

const FILE: &str = "/user_uploads/{realm_id}/{filename...}";

const DOWNLOAD: &str = "/user_uploads/download/{realm_id}/{filename...}";

const TEMPORARY: &str = "/user_uploads/temporary/{token}/{filename}";

const THUMBNAIL: &str = "/user_uploads/thumbnail/{realm_id}/{filename...}";

/// Creates the shared row, and schedules the deletion of uploads that the last stop interrupted.
fn set_up(tx: &mut Tx<'_>) -> ApiResult<()> {
    files::set_up(tx, rand::random::<[u8; 32]>())?;
    blobs::schedule_deletion_of_unfinished(tx)?;
    Ok(())
}
