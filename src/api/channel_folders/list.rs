//! `GET /channel_folders`.

use crate::domain::channels::folder_sql;
use crate::http::{ApiResult, Read, Reply, User};
use serde::Deserialize;

/// Parameters of `GET /channel_folders`.
#[derive(Deserialize)]
pub struct ListParams {
    /// Whether archived folders are wanted too.
    #[serde(default)]
    include_archived: bool,
}

/// `GET /channel_folders`: the folders, as they are shown.
pub fn get_channel_folders(read: &Read<'_, User>, params: ListParams) -> ApiResult<Reply> {
    let mut folders = folder_sql::all(read)?;
    folders.retain(|folder| params.include_archived || !folder.is_archived);
    Reply::field("channel_folders", &folders)
}
