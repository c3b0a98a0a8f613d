//! Images for whoever knows the address. Clients load them without credentials, so the addresses of uploaded ones are
//! not to be guessed.

use rand::RngExt;
use rusqlite::{Connection, OptionalExtension};

/// Where the names of the Unicode emoji are, below the origin.
pub const EMOJI_DATA_PATH: &str = "/static/generated/emoji/emoji_api.json";

/// Where the addresses of all of them begin: with the number of the one organization.
pub const ROOT: &str = "/user_avatars/1/";

/// The folder of the images that are drawn for users who uploaded none: `{user_id}.png` and `{user_id}-medium.png`.
pub const GENERATED: &str = "generated/";

/// A part of an address that nobody can guess.
pub fn secret() -> String {
    format!("{:016x}", rand::rng().random::<u64>())
}

/// Stores an image, in the place of the one that was there.
pub fn put(connection: &Connection, path: &str, content_type: &str, content: &[u8]) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO public_image (path, content_type, content) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET content_type = excluded.content_type, content = excluded.content",
        )?
        .execute((path, content_type, content))
        .map(|_| ())
}

/// Removes an image.
pub fn remove(connection: &Connection, path: &str) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM public_image WHERE path = ?1")?.execute([path]).map(|_| ())
}

/// The media type and the content of an image.
pub fn get(connection: &Connection, path: &str) -> rusqlite::Result<Option<(String, Vec<u8>)>> {
    connection
        .prepare_cached("SELECT content_type, content FROM public_image WHERE path = ?1")?
        .query_row([path], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// The user and the size of an image that is drawn.
pub fn generated(path: &str) -> Option<(i64, u32)> {
    let name = path.strip_prefix(GENERATED)?.strip_suffix(".png")?;
    let (user_id, side) = name.strip_suffix("-medium").map_or((name, 100), |user_id| (user_id, 500));
    Some((user_id.parse().ok()?, side))
}
