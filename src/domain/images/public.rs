//! Storage of public images: avatars, emoji and the organization's images. Clients load them without credentials, so
//! the paths of uploaded images are random.

use crate::store::ExecuteCached;
use rand::RngExt;
use rusqlite::{Connection, OptionalExtension};

/// The path of the names of Unicode emoji.
pub const EMOJI_DATA_PATH: &str = "/static/generated/emoji/emoji_api.json";

/// The prefix of the URL paths of all public images. It includes the organization's id.
pub const ROOT: &str = "/user_avatars/1/";

/// The folder of generated avatars: `{user_id}.png` and `{user_id}-medium.png`.
pub const GENERATED: &str = "generated/";

/// Generates a name that cannot be guessed.
pub fn random_name() -> String {
    format!("{:016x}", rand::rng().random::<u64>())
}

/// Inserts or replaces an image.
pub fn store(
    connection: &Connection,
    path: &str,
    content_type: &str,
    content: &[u8],
) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO public_image (path, content_type, content) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET content_type = excluded.content_type, content = excluded.content",
        (path, content_type, content),
    )
}

/// Deletes an image.
pub fn delete(connection: &Connection, path: &str) -> rusqlite::Result<()> {
    connection.execute_cached("DELETE FROM public_image WHERE path = ?1", [path])
}

/// Loads the media type and the content of an image.
pub fn load(connection: &Connection, path: &str) -> rusqlite::Result<Option<(String, Vec<u8>)>> {
    connection
        .prepare_cached("SELECT content_type, content FROM public_image WHERE path = ?1")?
        .query_row([path], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// The user id and the side in pixels of a generated avatar, by its path.
pub fn parse_generated_path(path: &str) -> Option<(i64, u32)> {
    let name = path.strip_prefix(GENERATED)?.strip_suffix(".png")?;
    let (user_id, side) = name.strip_suffix("-medium").map_or((name, 100), |user_id| (user_id, 500));
    Some((user_id.parse().ok()?, side))
}
