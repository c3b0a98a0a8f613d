//! `POST /realm/emoji/{emoji_name}`.

use crate::api::emoji::{EmojiParams, MAX_EMOJI_FILE_SIZE_MIB, events, rules};
use crate::domain::emoji::sql;
use crate::domain::images::decoding::{ImageError, decode};
use crate::domain::images::scaling::{cover, to_png};
use crate::domain::images::{animation, public, upload};
use crate::http::{ApiResult, Call, Reply, User};
use crate::store::Tx;
use image::ImageFormat;

/// Emoji are squares of this side, in pixels.
const SIDE: u32 = 64;

/// An emoji's image in its size.
struct EmojiImage {
    content: Vec<u8>,
    /// The first frame of an animation, as PNG.
    still: Option<Vec<u8>>,
}

/// `POST /realm/emoji/{emoji_name}`, with the image as the one file of a multipart body.
pub async fn upload_custom_emoji(mut call: Call<User>, params: EmojiParams) -> ApiResult<Reply> {
    let name = rules::name(&params.emoji_name)?;
    let now = call.app.clock.seconds();
    // Asked before anything is decoded, and again when it is stored.
    call.app.readers.read(|snapshot| rules::check_add(snapshot, &call.caller, now, &name)).await?;
    let file = upload::only_file(std::mem::take(&mut call.files), "You must upload exactly one file.")?;
    rules::check_override(&call.caller, &name)?;
    upload::check(&file, MAX_EMOJI_FILE_SIZE_MIB)?;
    let image = upload::make(file, scale).await?;
    call.write(move |tx, caller| {
        rules::check_add(tx, caller, tx.now(), &name)?;
        rules::check_override(caller, &name)?;
        add(tx, caller, &name, &image)
    })
    .await
}

fn add(tx: &mut Tx<'_>, caller: &User, name: &str, image: &EmojiImage) -> ApiResult<Reply> {
    let stem = public::secret();
    let (ending, content_type) =
        if image.still.is_some() { ("gif", "image/gif") } else { ("png", "image/png") };
    let file = format!("{stem}.{ending}");
    sql::insert(tx, name, &file, image.still.is_some(), caller.user_id)?;
    public::put(tx, &sql::image_path(&file), content_type, &image.content)?;
    if let Some(still) = &image.still {
        public::put(tx, &sql::still_path(&file), "image/png", still)?;
    }
    events::announce(tx)?;
    Ok(Reply::ok())
}

/// Animations stay animations. What is not square is cut to a square, or, moving, put into one.
fn scale(file: &[u8]) -> Result<EmojiImage, ImageError> {
    let decoded = decode(file)?;
    let still = to_png(&cover(&decoded.picture, SIDE, SIDE)?)?;
    if decoded.format == ImageFormat::Gif
        && let Some(animation) = animation::scaled(file, SIDE)?
    {
        return Ok(EmojiImage { content: animation, still: Some(still) });
    }
    Ok(EmojiImage { content: still, still: None })
}
