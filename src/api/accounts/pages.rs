//! Parts of the pages.

use crate::domain::{mail, realm};
use crate::http::{ApiResult, OtherReply, Reply, RequestInfo, page};
use crate::types::Language;
use rusqlite::Connection;

/// The language of a page that works by mail, or the page that is shown where the server sends none.
pub fn by_mail(
    connection: &Connection,
    info: &RequestInfo,
    without_mail: fn(Language) -> Reply,
) -> ApiResult<Result<Language, Reply>> {
    let language = realm::page_language(connection, info.language)?;
    Ok(if mail::is_on(connection)? { Ok(language) } else { Err(without_mail(language)) })
}

/// A page with a form. The status is 400 if it has an error.
pub fn form(form: &page::Form<'_>) -> Reply {
    let status = if form.error.is_some() { 400 } else { 200 };
    let body = form.write().into();
    Reply::other(OtherReply { status, content_type: page::HTML, headers: page::form_headers(), body })
}

/// The page for a link that does not work, with status 404.
pub fn dead_link(language: Language) -> Reply {
    let sentence =
        language.t("The link is not complete, has expired, or was already used. You can request a new one.");
    page::reply(404, language, language.t("This link does not work"), &[sentence])
}
