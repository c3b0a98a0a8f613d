//! `POST` and `DELETE /users/me/avatar`.

use crate::domain::accounts::avatar;
use crate::domain::accounts::avatar::AvatarImage;
use crate::domain::images::upload;
use crate::domain::{realm, rows};
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Call, Reply, User};
use crate::store::Tx;
use rusqlite::Connection;
use serde::Serialize;

/// `POST /users/me/avatar`: replaces the caller's image. The image, at most 5 MiB, is the only file of a multipart
/// body.
pub async fn upload_avatar(mut call: Call<User>, _params: NoParams) -> ApiResult<Reply<OwnAvatar>> {
    let file = upload::only_file(std::mem::take(&mut call.files), "You must upload exactly one avatar.")?;
    call.app.readers.read(|snapshot| check_allowed(snapshot, &call.caller)).await?;
    let image = avatar::from_file(&call.app, call.caller.user_id, file).await?;
    call.write(move |tx, caller| set(tx, caller, Some(&image))).await
}

/// `DELETE /users/me/avatar`: restores the caller's generated image.
pub fn delete_avatar(tx: &mut Tx<'_>, caller: &User, _params: NoParams) -> ApiResult<Reply<OwnAvatar>> {
    set(tx, caller, None)
}

/// The caller's image.
#[derive(Serialize)]
pub struct OwnAvatar {
    /// The URL of the image.
    pub avatar_url: String,
}

fn set(tx: &mut Tx<'_>, caller: &User, image: Option<&AvatarImage>) -> ApiResult<Reply<OwnAvatar>> {
    check_allowed(tx, caller)?;
    let user = rows::user::existing(tx, caller.user_id)?;
    let avatar = avatar::set(tx, &user, image)?;
    Reply::data(&OwnAvatar { avatar_url: avatar.url() })
}

/// Checks that avatar changes are enabled, or that the caller is an administrator.
fn check_allowed(connection: &Connection, caller: &User) -> ApiResult<()> {
    if realm::settings::AVATAR_CHANGES_DISABLED.get(connection)? && !caller.role.is_administrator() {
        return Err(ApiError::bad_request("Avatar changes are disabled in this organization."));
    }
    Ok(())
}
