//! The manifest of the web application: how an installed page is named and shown, and what it accepts from other programs.

use crate::app::ClientFiles;
use crate::domain::images::public;
use crate::domain::images::realm::RealmImage;
use crate::domain::realm;
use crate::http::params::NoParams;
use crate::http::{Anyone, ApiError, ApiResult, OtherReply, Read, Reply};
use crate::types::Values;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

/// The path of [`icon`]; the shape is `any.svg` or `maskable.svg`.
pub const ICON_PATH: &str = "/manifest_icon/{shape}";

/// `GET /manifest.webmanifest`: the name and icon are those of the organization.
pub fn manifest(read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    if read.app.options.client_files == ClientFiles::Off {
        return Err(ApiError::not_found());
    }
    let settings = realm::settings::all(read)?;
    let name = settings.value("name").as_str().unwrap_or_default();
    let body = json!({
        "id": "/",
        "name": name,
        "short_name": name,
        "description": settings.value("description"),
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#f3f4f7",
        "theme_color": "#2559c8",
        "icons": icons(&settings),
        "shortcuts": [
            { "name": "Inbox", "url": "/#inbox" },
            { "name": "Recent conversations", "url": "/#recent" },
            { "name": "Combined feed", "url": "/#feed" },
            { "name": "Mentions", "url": "/#narrow/is/mentioned" },
        ],
        "share_target": {
            "action": "/share",
            "method": "POST",
            "enctype": "multipart/form-data",
            "params": {
                "title": "title",
                "text": "text",
                "url": "url",
                "files": [{ "name": "files", "accept": ["*/*"] }],
            },
        },
    });
    let headers = vec![("Cache-Control", "no-cache".to_owned())];
    let content_type = "application/manifest+json";
    Ok(Reply::other(OtherReply { status: 200, content_type, headers, body: body.to_string().into() }))
}

fn is_uploaded(settings: &Values) -> bool {
    settings.value(&RealmImage::Icon.source()) == "U"
}

/// An icon for each shape. Uploaded ones have only 100 pixels, so they are parts of vector images, which have any size.
fn icons(settings: &Values) -> Value {
    let vector = |src: String, purpose| json!({ "src": src, "sizes": "any", "type": "image/svg+xml", "purpose": purpose });
    if is_uploaded(settings) {
        let version = settings.value(RealmImage::Icon.version().name());
        let path = |shape| ICON_PATH.replace("{shape}", &format!("{shape}.svg?version={version}"));
        return json!([vector(path("any"), "any"), vector(path("maskable"), "maskable")]);
    }
    json!([
        { "src": "/static/images/organization.png", "sizes": "200x200", "type": "image/png", "purpose": "any" },
        vector("/manifest_icon/maskable.svg".to_owned(), "maskable"),
    ])
}

/// Parameters of `GET /manifest_icon/{shape}`.
#[derive(Deserialize)]
pub struct IconParams {
    /// `any.svg`, or `maskable.svg` with a margin that systems may cut off.
    shape: String,
    /// Ignored. The URL changes with the image.
    #[serde(rename = "version")]
    _version: Option<String>,
}

/// `GET /manifest_icon/{shape}`: the uploaded icon of the organization as a vector image, or the one of the program.
pub fn icon(read: &Read<'_, Anyone>, params: IconParams) -> ApiResult<Reply> {
    let scale = match params.shape.as_str() {
        "any.svg" => 1.0,
        // The circle that all systems show has a diameter of 80 %. Corners of a square in it may be cut off a little.
        "maskable.svg" => 0.66,
        _ => return Err(ApiError::not_found()),
    };
    let settings = realm::settings::all(read)?;
    let stored = if is_uploaded(&settings) { public::load(read, &RealmImage::Icon.path())? } else { None };
    let (background, content) = match stored {
        Some((content_type, content)) => {
            let data = format!("data:{content_type};base64,{}", STANDARD.encode(content));
            ("#fff", format!("<image width=\"192\" height=\"192\" href=\"{data}\"/>"))
        }
        None => ("#2559c8", PROGRAM_ICON.to_owned()),
    };
    let margin = 96.0 * (1.0 - scale);
    let background = if scale < 1.0 {
        format!("<rect width=\"192\" height=\"192\" fill=\"{background}\"/>")
    } else {
        String::new()
    };
    let body = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 192 192\">{background}\
         <g transform=\"translate({margin} {margin}) scale({scale})\">{content}</g></svg>"
    );
    let headers = vec![
        ("Cache-Control", "no-cache".to_owned()),
        ("Content-Security-Policy", "default-src 'none'; img-src data:".to_owned()),
    ];
    Ok(Reply::other(OtherReply { status: 200, content_type: "image/svg+xml", headers, body: body.into() }))
}

/// The speech bubble of `web/icon.svg`.
const PROGRAM_ICON: &str = concat!(
    r##"<path d="M50 54h92a12 12 0 0 1 12 12v50a12 12 0 0 1-12 12H96l-28 24v-24H50a12 12 0 0 1-12-12V66"##,
    r##"a12 12 0 0 1 12-12z" fill="#fff"/><path d="M64 80h64M64 102h42" stroke="#2559c8" stroke-width="10" "##,
    r##"stroke-linecap="round"/>"##
);
