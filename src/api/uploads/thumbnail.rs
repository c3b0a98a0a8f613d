//! `GET /user_uploads/thumbnail/{realm_id}/{filename}/{format}`: the thumbnails that messages show.

use crate::api::uploads::download::{FileParams, common_headers, not_modified};
use crate::api::uploads::ranges::{Wanted, wanted};
use crate::domain::files::access;
use crate::domain::files::sql;
use crate::domain::files::thumbnails::CONTENT_TYPE;
use crate::http::{ApiError, ApiResult, OtherReply, Read, Reply, Visitor};

/// `GET /user_uploads/thumbnail/{realm_id}/{filename}/{format}`, and `HEAD`. Requires permission to download the image.
pub fn get_thumbnail(read: &Read<'_, Visitor>, params: FileParams) -> ApiResult<Reply> {
    let path = params.path_id();
    let (path_id, format) = path.rsplit_once('/').ok_or_else(ApiError::not_found)?;
    let file = access::find(read, read.caller.0.as_ref(), read.app.clock.seconds(), path_id)?;
    let body = sql::thumbnail(read, file.id, format)?.ok_or_else(ApiError::not_found)?;
    let etag = format!("\"{}-{format}\"", file.content_id);
    let headers = common_headers(&etag);
    if wanted(read.info.conditions.as_deref(), body.len() as u64, &etag) == Wanted::NotModified {
        return Ok(not_modified(CONTENT_TYPE, headers));
    }
    Ok(Reply::Other(OtherReply { status: 200, content_type: CONTENT_TYPE, headers, body: body.into() }))
}
