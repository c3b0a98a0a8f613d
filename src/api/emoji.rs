//! `/realm/emoji`: the organization's own emoji.

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::access::permissions::require;
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::emoji::RealmEmoji;
use crate::domain::emoji::events::{EmojiRecord, all_records, emit_changed};
use crate::domain::emoji::image::EmojiImage;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::images::upload;
use crate::domain::images::upload::BODY_LIMIT;
use crate::domain::limits::{Accounts, MAX_EMOJI_NAME_LENGTH, MAX_EMOJI_OF_AUTHOR, organization};
use crate::domain::upload_quota::UploadQuota;
use crate::domain::{emoji, limits};
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Call, Caller, Read, Reply, Route, USER, User};
use crate::store::Tx;
use hyper::Method;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub const RESOURCE: Resource = Resource { name: "emoji", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "realm_emoji", fetch: state }];

/// The largest file of an emoji, in MiB.
const MAX_EMOJI_FILE_SIZE_MIB: usize = 5;

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/realm/emoji", USER, get_custom_emoji),
        // Names may hold slashes so far that they are refused for them.
        Route::call(Method::POST, "/realm/emoji/{emoji_name...}", USER, upload_custom_emoji)
            .body_limit(BODY_LIMIT),
        Route::write(Method::DELETE, "/realm/emoji/{emoji_name...}", USER, deactivate_custom_emoji),
    ]
}

/// Parameters of `POST` and `DELETE /realm/emoji/{emoji_name}`.
#[derive(Deserialize)]
pub struct EmojiParams {
    /// The emoji's name. A new one has lowercase letters, digits, `-` and `_`, at most 100 characters; spaces become
    /// underscores.
    emoji_name: String,
}

/// The reply to `GET /realm/emoji`.
#[derive(Serialize)]
struct CustomEmoji {
    /// The emoji by their ids.
    emoji: BTreeMap<i64, EmojiRecord>,
}

/// `GET /realm/emoji`: returns all custom emoji by their ids, including deactivated ones.
fn get_custom_emoji(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<CustomEmoji>> {
    Reply::data(&CustomEmoji { emoji: all_records(read)? })
}

/// `POST /realm/emoji/{emoji_name}`: adds a custom emoji. The image, at most 5 MiB, is the only file of a multipart
/// body.
async fn upload_custom_emoji(mut call: Call<User>, params: EmojiParams) -> ApiResult<Reply> {
    let name = checked_name(&params.emoji_name)?;
    let now = call.app.clock.seconds();
    // Asked before anything is decoded, and again when it is stored.
    call.app.readers.read(|snapshot| check_add(Ctx::new(snapshot, &call.caller, now), &name)).await?;
    let file = upload::only_file(std::mem::take(&mut call.files), "You must upload exactly one file.")?;
    check_override(&call.caller, &name)?;
    upload::check(&file, MAX_EMOJI_FILE_SIZE_MIB)?;
    let image = upload::make(&call.app, call.caller.quota_owner(), file, EmojiImage::scale).await?;
    let quota = UploadQuota::of(&call.app.options);
    call.write(move |tx, caller| {
        check_add(tx.ctx(caller), &name)?;
        check_override(caller, &name)?;
        add(tx, caller, &name, &image, quota)
    })
    .await
}

fn add(
    tx: &mut Tx<'_>,
    caller: &User,
    name: &str,
    image: &EmojiImage,
    quota: UploadQuota,
) -> ApiResult<Reply> {
    let file = image.store(tx)?;
    emoji::insert(tx, name, &file, image.is_animated(), caller.user_id)?;
    quota.check_stored(tx, caller.user_id, image.size())?;
    tx.audit(Entry::new(Action::ItemCreated, Subject::named("emoji", name)))?;
    emit_changed(tx)?;
    Ok(Reply::ok())
}

/// `DELETE /realm/emoji/{emoji_name}`: deactivates a custom emoji. It can no longer be used, and is still shown where
/// it was.
fn deactivate_custom_emoji(tx: &mut Tx<'_>, caller: &User, params: EmojiParams) -> ApiResult<Reply> {
    let name = params.emoji_name;
    let emoji = emoji::active_by_name(tx, &name)?
        .ok_or_else(|| ApiError::bad_request(format!("Emoji '{name}' does not exist")))?;
    check_deactivate(caller, &emoji)?;
    emoji::deactivate(tx, emoji.id)?;
    tx.audit(Entry::new(Action::ItemDeleted, Subject::named("emoji", name)))?;
    emit_changed(tx)?;
    Ok(Reply::ok())
}

/// The name of a new emoji as it is stored: without spaces.
fn checked_name(text: &str) -> ApiResult<String> {
    let name = text.trim().replace(' ', "_");
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let msg = if name.is_empty() {
        "Emoji name is missing"
    } else if !name.chars().all(allowed) {
        "Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores."
    } else if name.ends_with(['-', '_']) {
        "Emoji names must end with either a letter or digit."
    } else {
        limits::check_length("emoji_name", &name, MAX_EMOJI_NAME_LENGTH)?;
        return Ok(name);
    };
    Err(ApiError::bad_request(msg))
}

/// Checks that the caller may add emoji, and one of this name.
fn check_add(ctx: Ctx<'_>, name: &str) -> ApiResult<()> {
    require(&Viewer::new(ctx), RealmGroup::CanAddCustomEmoji)?;
    if emoji::active_by_name(&ctx, name)?.is_some() {
        return Err(ApiError::bad_request("A custom emoji with this name already exists."));
    }
    if !ctx.caller.role.is_administrator() {
        let statement =
            "SELECT count(*) FROM realm_emoji WHERE author_id IN (SELECT value FROM json_each(?1))";
        let accounts = Accounts::of(&ctx, ctx.caller.user_id, ctx.now)?;
        accounts.check("custom emoji", statement, 1, MAX_EMOJI_OF_AUTHOR)?;
    }
    organization::EMOJI.check(&ctx, ctx.caller, 1)
}

/// Checks that the caller may replace a Unicode emoji of the same name.
fn check_override(caller: &Caller, name: &str) -> ApiResult<()> {
    if teamchat_markdown::emoji::by_name(name).is_some() && !caller.role.is_administrator() {
        return Err(ApiError::bad_request("Only administrators can override default emoji."));
    }
    Ok(())
}

/// Checks that the caller may deactivate an emoji: their own, and administrators all.
fn check_deactivate(caller: &Caller, emoji: &RealmEmoji) -> ApiResult<()> {
    if caller.role.is_administrator() || emoji.author_id == Some(caller.user_id) {
        return Ok(());
    }
    Err(ApiError::bad_request("Must be an organization administrator or emoji author"))
}

/// State part `realm_emoji`: all custom emoji by their ids, including deactivated ones.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.set::<BTreeMap<i64, EmojiRecord>>("realm_emoji", &all_records(request.connection)?)
}

#[cfg(test)]
mod tests {
    use super::checked_name;

    #[test]
    fn names_are_lower_case_words() {
        for (text, expected) in [
            ("green_tick", "green_tick"),
            (" green tick ", "green_tick"),
            ("a-1", "a-1"),
            ("-a", "-a"),
            ("7", "7"),
        ] {
            assert_eq!(checked_name(text).unwrap(), expected);
        }
        let characters = "Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores.";
        let end = "Emoji names must end with either a letter or digit.";
        for (text, msg) in [
            ("", "Emoji name is missing"),
            ("  ", "Emoji name is missing"),
            ("Green", characters),
            ("my_em*oji", characters),
            ("a/b", characters),
            ("é", characters),
            ("a.b", characters),
            ("a\tb", characters),
            ("_", end),
            ("a-", end),
        ] {
            let error = checked_name(text).unwrap_err();
            assert_eq!((error.status(), error.code(), error.msg()), (400, "BAD_REQUEST", msg), "{text:?}");
        }
    }
}
