//! Storing one of the organization's images, and telling everybody.

use crate::domain::images::public;
use crate::domain::images::realm::RealmImage;
use crate::domain::realm::settings;
use crate::domain::users::events::everyone;
use crate::events::Event;
use crate::http::ApiResult;
use crate::store::Tx;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// `realm`, `op: update_dict`: an image is another one.
#[derive(Serialize)]
struct ImageChanged {
    r#type: &'static str,
    op: &'static str,
    /// `icon`, `logo` or `night_logo`.
    property: &'static str,
    /// `..._url` and `..._source`.
    data: Map<String, Value>,
}

impl Event for ImageChanged {
    const TYPE: &'static str = "realm";
}

/// Puts a PNG file in the place of an image, or the default back, and tells everybody. Answers where it is now.
pub fn set(tx: &mut Tx<'_>, image: RealmImage, file: Option<&[u8]>) -> ApiResult<String> {
    match file {
        Some(file) => public::put(tx, &image.path(), "image/png", file)?,
        None => public::remove(tx, &image.path())?,
    }
    let source = if file.is_some() { "U" } else { image.default_source() };
    let version: i64 = settings::get(tx, &image.version())?;
    settings::set(tx, &image.source(), &json!(source))?;
    settings::set(tx, &image.version(), &json!(version + 1))?;
    let url = image.url(&settings::all(tx)?);
    let data = [(format!("{}_url", image.name()), json!(url)), (image.source(), json!(source))];
    let event = ImageChanged {
        r#type: ImageChanged::TYPE,
        op: "update_dict",
        property: image.name(),
        data: data.into_iter().collect(),
    };
    let audience = everyone(tx)?;
    tx.emit(&event, audience);
    Ok(url)
}
