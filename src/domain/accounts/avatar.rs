//! Avatars: reading and scaling an uploaded image, and setting it.
//!
//! Users without an uploaded image have a generated one. This server serves all of them, so `avatar_url` is always
//! present and no third party is involved, regardless of `client_gravatar`.

use crate::app::App;
use crate::domain::bots::events::BotChange;
use crate::domain::images::avatar::{Avatar, MEDIUM_SIDE, SIDE};
use crate::domain::images::decoding::{ImageError, decode};
use crate::domain::images::scaling::{cover, to_png};
use crate::domain::images::{public, upload};
use crate::domain::limits::MAX_AVATAR_FILE_SIZE_MIB;
use crate::domain::rows::user::UserRow;
use crate::domain::upload_quota::UploadQuota;
use crate::domain::users::events::{UserChange, UserUpdated};
use crate::domain::{access, bots, users};
use crate::error::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{UploadedFile, UserId};
use rand::RngExt;

/// An uploaded image in the two served sizes, as PNG.
pub struct AvatarImage {
    usual: Vec<u8>,
    medium: Vec<u8>,
    /// The quotas that it has to be within.
    quota: UploadQuota,
}

/// Checks and scales a file that a user uploaded. Fails with 400 `BAD_IMAGE` if it is not an image.
pub async fn from_file(app: &App, user_id: UserId, file: UploadedFile) -> ApiResult<AvatarImage> {
    upload::check(&file, MAX_AVATAR_FILE_SIZE_MIB)?;
    let image = upload::make(app, user_id, file, AvatarImage::scale).await?;
    Ok(AvatarImage { quota: UploadQuota::of(&app.options), ..image })
}

impl AvatarImage {
    /// Scales an image to both sizes. No quota limits it.
    pub fn scale(file: &[u8]) -> Result<Self, ImageError> {
        let picture = decode(file)?.picture;
        let png = |side| Ok::<_, ImageError>(to_png(&cover(&picture, side, side)?)?);
        Ok(Self { usual: png(SIDE)?, medium: png(MEDIUM_SIDE)?, quota: UploadQuota::default() })
    }

    /// Stores the image of a user who has none. The version of the avatar stays.
    pub fn store_first(&self, tx: &Tx<'_>, user_id: UserId, version: i64) -> ApiResult<()> {
        let avatar = Avatar { user_id, version, key: Some(rand::rng().random()) };
        self.store(tx, avatar)?;
        Ok(users::set_avatar(tx, avatar)?)
    }

    fn store(&self, tx: &Tx<'_>, avatar: Avatar) -> ApiResult<()> {
        public::store(tx, &avatar.path(""), "image/png", &self.usual)?;
        Ok(public::store(tx, &avatar.path("-medium"), "image/png", &self.medium)?)
    }
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
/// Returns the new avatar. Fails with 400 `REALM_UPLOAD_QUOTA` if the quota of its person is used up.
pub fn set(tx: &mut Tx<'_>, user: &UserRow, image: Option<&AvatarImage>) -> ApiResult<Avatar> {
    let old = user.avatar;
    if old.key.is_some() {
        public::delete(tx, &old.path(""))?;
        public::delete(tx, &old.path("-medium"))?;
    }
    let key = image.map(|_| rand::rng().random());
    let avatar = Avatar { user_id: user.user_id, version: old.version + 1, key };
    if let Some(image) = image {
        image.store(tx, avatar)?;
    }
    users::set_avatar(tx, avatar)?;
    if let Some(image) = image {
        image.quota.check_stored(tx, user.user_id, image.usual.len() + image.medium.len())?;
    }
    let change = UserChange::Avatar {
        avatar_url: avatar.url(),
        avatar_source: avatar.source().into(),
        avatar_url_medium: avatar.medium_url(),
        avatar_version: avatar.version,
    };
    bots::events::emit_updated(tx, user, BotChange::AvatarUrl(avatar.url()))?;
    let audience = access::users::audience(tx, user)?;
    tx.emit(UserUpdated::new(user.user_id, change), audience);
    Ok(avatar)
}
