//! Avatars: reading and scaling an uploaded image, and setting it.
//!
//! Users without an uploaded image have a generated one. This server serves them all, so `avatar_url` is always present
//! and no third party is asked, whatever `client_gravatar` says.

use crate::app::App;
use crate::domain::access::user_rows::UserRow;
use crate::domain::access::users;
use crate::domain::bots;
use crate::domain::bots::events::BotChange;
use crate::domain::images::avatar::{Avatar, MEDIUM_SIDE, SIDE};
use crate::domain::images::decoding::{ImageError, decode};
use crate::domain::images::scaling::{cover, to_png};
use crate::domain::images::{public, upload};
use crate::domain::limits::MAX_AVATAR_FILE_SIZE_MIB;
use crate::domain::users::events::{UserChange, UserUpdated};
use crate::domain::users::sql;
use crate::http::form::UploadedFile;
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::UserId;
use rand::RngExt;

/// An uploaded image in the two served sizes, as PNG.
pub struct AvatarImage {
    usual: Vec<u8>,
    medium: Vec<u8>,
}

/// Checks and scales a file that a user uploaded. Fails with 400 `BAD_IMAGE` if it is not an image.
pub async fn from_file(app: &App, user_id: UserId, file: UploadedFile) -> ApiResult<AvatarImage> {
    upload::check(&file, MAX_AVATAR_FILE_SIZE_MIB)?;
    upload::make(app, user_id, file, scale).await
}

fn scale(file: &[u8]) -> Result<AvatarImage, ImageError> {
    let picture = decode(file)?.picture;
    let png = |side| Ok::<_, ImageError>(to_png(&cover(&picture, side, side)?)?);
    Ok(AvatarImage { usual: png(SIDE)?, medium: png(MEDIUM_SIDE)? })
}

/// Scales the image of a form that has at most one file.
pub async fn from_files(
    app: &App,
    user_id: UserId,
    mut files: Vec<UploadedFile>,
) -> ApiResult<Option<AvatarImage>> {
    match (files.pop(), files.is_empty()) {
        (None, _) => Ok(None),
        (Some(file), true) => from_file(app, user_id, file).await.map(Some),
        (Some(_), false) => Err(ApiError::bad_request("You may only upload one file at a time")),
    }
}

/// Sets the avatar of a person or bot, or restores the generated one, and emits it to the users who can access them.
/// Returns the new avatar.
pub fn set(tx: &mut Tx<'_>, user: &UserRow, image: Option<&AvatarImage>) -> ApiResult<Avatar> {
    let old = user.avatar;
    if old.key.is_some() {
        public::delete(tx, &old.path(""))?;
        public::delete(tx, &old.path("-medium"))?;
    }
    let key = image.map(|_| rand::rng().random());
    let avatar = Avatar { user_id: user.user_id, version: old.version + 1, key };
    if let Some(image) = image {
        public::store(tx, &avatar.path(""), "image/png", &image.usual)?;
        public::store(tx, &avatar.path("-medium"), "image/png", &image.medium)?;
    }
    sql::set_avatar(tx, avatar)?;
    let change = UserChange::Avatar {
        avatar_url: avatar.url(),
        avatar_source: avatar.source().into(),
        avatar_url_medium: avatar.medium_url(),
        avatar_version: avatar.version,
    };
    bots::events::emit_updated(tx, user, BotChange::AvatarUrl(avatar.url()))?;
    let audience = users::audience(tx, user)?;
    tx.emit(UserUpdated::new(user.user_id, change), audience);
    Ok(avatar)
}
