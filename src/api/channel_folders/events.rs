//! `channel_folder` events, and the folders in the answer of `POST /register`.

use crate::domain::channels::folder::ChannelFolder;
use crate::domain::channels::folder_sql;
use crate::domain::users::events::everyone;
use crate::events::Event;
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use serde::Serialize;
use serde_json::{Value, json};

/// `channel_folder`, `op: add`.
#[derive(Serialize)]
struct FolderAdded<'a> {
    r#type: &'static str,
    op: &'static str,
    channel_folder: &'a ChannelFolder,
}

/// `channel_folder`, `op: update`.
#[derive(Serialize)]
struct FolderUpdated {
    r#type: &'static str,
    op: &'static str,
    channel_folder_id: i64,
    /// What is new.
    data: Value,
}

/// `channel_folder`, `op: reorder` (feature level 418).
#[derive(Serialize)]
struct FoldersReordered {
    r#type: &'static str,
    op: &'static str,
    /// The ids of all folders, as they are shown.
    order: Vec<i64>,
}

impl Event for FolderAdded<'_> {
    const TYPE: &'static str = "channel_folder";
}

impl Event for FolderUpdated {
    const TYPE: &'static str = "channel_folder";
}

impl Event for FoldersReordered {
    const TYPE: &'static str = "channel_folder";
}

/// Tells everybody of a new folder.
pub fn added(tx: &mut Tx<'_>, channel_folder: &ChannelFolder) -> ApiResult<()> {
    let audience = everyone(tx)?;
    tx.emit(&FolderAdded { r#type: FolderAdded::TYPE, op: "add", channel_folder }, audience);
    Ok(())
}

/// Tells everybody what is new about a folder.
pub fn updated(tx: &mut Tx<'_>, channel_folder_id: i64, data: Value) -> ApiResult<()> {
    let audience = everyone(tx)?;
    tx.emit(&FolderUpdated { r#type: FolderUpdated::TYPE, op: "update", channel_folder_id, data }, audience);
    Ok(())
}

/// Tells everybody of another order.
pub fn reordered(tx: &mut Tx<'_>) -> ApiResult<()> {
    let order = folder_sql::all(tx)?.iter().map(|folder| folder.id).collect();
    let audience = everyone(tx)?;
    tx.emit(&FoldersReordered { r#type: FoldersReordered::TYPE, op: "reorder", order }, audience);
    Ok(())
}

/// Word `channel_folders`: all folders, also archived ones.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("channel_folders".into(), json!(folder_sql::all(request.connection)?));
    Ok(())
}
