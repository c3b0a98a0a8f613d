//! `GET /user_uploads/thumbnail/{realm_id}/{filename}/{format}`: the thumbnails that messages show.

use crate::api::uploads::download::{FileParams, common_headers, count_visit, not_modified, serve};
use crate::auth::Ctx;
use crate::domain::files;
use crate::domain::files::thumbnails::CONTENT_TYPE;
use crate::http::ranges::{Wanted, wanted};
use crate::http::{ApiError, ApiResult, Call, Caller, OtherReply, Reply, Visitor};

/// `GET /user_uploads/thumbnail/{realm_id}/{filename}/{format}`. Requires permission to download the image.
pub async fn get_thumbnail(call: Call<Visitor>, params: FileParams) -> ApiResult<Reply> {
    let path = params.path_id();
    let (path_id, format) = path.rsplit_once('/').ok_or_else(ApiError::not_found)?;
    count_visit(&call, path_id)?;
    let (caller, now) = (Caller::clone(&call.caller), call.app.clock.seconds());
    let names = (path_id.to_owned(), format.to_owned());
    let found = call.app.read_quickly_or_slowly(Some(caller.quota_owner()), move |snapshot| {
        let (path_id, format) = &names;
        let file = files::access::find(Ctx::new(snapshot, &caller, now), path_id)?;
        let body = files::thumbnail(snapshot, file.id, format)?.ok_or_else(ApiError::not_found)?;
        Ok((file, body))
    });
    let (file, body) = found.await?;
    let conditions = call.info.conditions.as_deref();
    if body.is_empty() {
        return serve(&call.app, conditions, &call.caller, &file, false);
    }
    let etag = format!("\"{}-{format}\"", file.content_id);
    let headers = common_headers(&etag, CONTENT_TYPE, &call.caller);
    if wanted(conditions, body.len() as u64, &etag) == Wanted::NotModified {
        return Ok(not_modified(CONTENT_TYPE, headers));
    }
    Ok(Reply::other(OtherReply { status: 200, content_type: CONTENT_TYPE, headers, body: body.into() }))
}
