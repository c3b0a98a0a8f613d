//! Free space in the file: pages that deleted rows left. They are used again, and given back to the disk while the server
//! runs, in short jobs. A file that was made before this was possible has to be rewritten once, with the server stopped.

use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::store::{Tx, release_pages};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// Pages that one step gives back: one more page each may have to be moved and written.
const PAGES_PER_STEP: u32 = 8;

/// Space is much if it is a quarter of the file, and at least this many bytes.
const MIN_FREE: i64 = 64 << 20;

/// The value of `PRAGMA auto_vacuum` of files that can be shortened.
const INCREMENTAL: i64 = 2;

/// The size of the file and of what is free in it, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// The size of the file.
    pub size: i64,
    /// The size of its free pages.
    pub free: i64,
    /// True if free pages can be given back while the server runs.
    pub can_shrink: bool,
}

impl Space {
    /// Measures the file.
    pub fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let page = pragma("page_size")?;
        Ok(Self {
            size: pragma("page_count")? * page,
            free: pragma("freelist_count")? * page,
            can_shrink: pragma("auto_vacuum")? == INCREMENTAL,
        })
    }

    /// True if so much is free that it is given back, or named, without being asked for.
    pub fn has_much_free(self) -> bool {
        self.free >= MIN_FREE && self.free * 4 >= self.size
    }
}

/// Gives all free pages back to the disk, some in each job. Returns the file as it was before and after.
pub async fn release(app: &App) -> ApiResult<(Space, Space)> {
    let before = app.readers.read(|snapshot| Ok::<_, ApiError>(Space::of(snapshot)?)).await?;
    if !before.can_shrink {
        let msg = "the file was made by an older version, and cannot be shortened while the server runs; \
                   stop the server, and run `teamchat compact` once";
        return Err(ApiError::bad_request(msg));
    }
    let release = |tx: &mut Tx<'_>| -> ApiResult<bool> {
        release_pages(tx, PAGES_PER_STEP)?;
        Ok(Space::of(tx)?.free == 0)
    };
    app.writer.run_in_steps("free_space", release).await?;
    let after = app.readers.read(|snapshot| Ok::<_, ApiError>(Space::of(snapshot)?)).await?;
    Ok((before, after))
}

#[cfg(test)]
mod tests {
    use crate::domain::space::*;

    #[test]
    fn much_is_a_quarter_of_the_file_and_64_mib() {
        for (free, size, expected) in [(64, 256, true), (64, 257, false), (63, 128, false), (0, 0, false)] {
            let space = Space { size: size << 20, free: free << 20, can_shrink: true };
            assert_eq!(space.has_much_free(), expected, "{space:?}");
        }
    }
}
