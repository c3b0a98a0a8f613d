//! `/channel_folders`: folders that group channels in the sidebar (feature levels 389, 414 and 418). Administrators
//! manage them; all users see them.

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::domain::access::channels::Viewer;
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::channel_folders::ChannelFolder;
use crate::domain::limits::{
    MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH, MAX_CHANNEL_FOLDER_NAME_LENGTH, MAX_CHANNEL_FOLDERS, organization,
};
use crate::domain::realm::user_ids::everyone;
use crate::domain::rendering::render_one_description;
use crate::domain::{channel_folders, channels};
use crate::events::uniform_event;
use crate::http::params::{BoundedText, Order};
use crate::http::{ADMINISTRATOR, Administrator, ApiError, ApiResult, Call, Read, Reply, Route, USER, User};
use crate::store::Tx;
use crate::types::find_forbidden_in_name;
use hyper::Method;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashSet;

pub const RESOURCE: Resource = Resource { name: "channel_folders", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "channel_folders", fetch: state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/channel_folders", USER, get_channel_folders),
        Route::write(Method::PATCH, "/channel_folders", ADMINISTRATOR, reorder_channel_folders),
        Route::call(Method::POST, "/channel_folders/create", ADMINISTRATOR, create_channel_folder),
        Route::call(
            Method::PATCH,
            "/channel_folders/{channel_folder_id}",
            ADMINISTRATOR,
            update_channel_folder,
        ),
    ]
}

/// Parameters of `GET /channel_folders`.
#[derive(Deserialize)]
pub struct ListParams {
    /// True to include archived folders; false when absent.
    #[serde(default)]
    include_archived: bool,
}

/// The reply to `GET /channel_folders`.
#[derive(Serialize)]
struct ChannelFolders {
    /// The folders, in display order.
    channel_folders: Vec<ChannelFolder>,
}

/// `GET /channel_folders`: lists the folders that channels are shown in, in display order.
fn get_channel_folders(read: &Read<'_, User>, params: ListParams) -> ApiResult<Reply<ChannelFolders>> {
    let mut folders = channel_folders::all(read)?;
    folders.retain(|folder| params.include_archived || !folder.is_archived);
    Reply::data(&ChannelFolders { channel_folders: folders })
}

/// Parameters of `POST /channel_folders/create`.
#[derive(Deserialize)]
pub struct CreateParams {
    /// The name, 1 to 60 characters. Folders that are not archived have different names, regardless of case.
    name: BoundedText<MAX_CHANNEL_FOLDER_NAME_LENGTH>,
    /// The description in Markdown, at most 1024 characters. It may be empty.
    description: BoundedText<MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH>,
}

/// The reply to `POST /channel_folders/create`.
#[derive(Serialize)]
struct CreatedFolder {
    /// The id of the new folder.
    channel_folder_id: i64,
}

/// `POST /channel_folders/create`: creates a folder after all others.
async fn create_channel_folder(
    call: Call<Administrator>,
    params: CreateParams,
) -> ApiResult<Reply<CreatedFolder>> {
    let name = checked_name(&params.name)?;
    let description = params.description.into_inner();
    let rendered_description =
        render_one_description(&call.app, &call.caller, &call.info.origin, &description).await?;
    let job = move |tx: &mut Tx<'_>, caller: &Administrator| {
        check_is_free(tx, &name, None)?;
        let statement = "SELECT count(*) FROM channel_folder";
        organization::check_few(tx, "channel folders", statement, MAX_CHANNEL_FOLDERS)?;
        let mut folder = ChannelFolder {
            id: 0,
            name,
            description,
            rendered_description,
            date_created: tx.now(),
            creator_id: Some(caller.user_id),
            order: 0,
            is_archived: false,
        };
        folder.id = channel_folders::insert(tx, &folder)?;
        folder.order = folder.id;
        let id = folder.id;
        let created = Subject::with_id("channel folder", id).with_name(&folder.name);
        tx.audit(Entry::new(Action::ItemCreated, created))?;
        emit_added(tx, folder)?;
        Ok(id)
    };
    Reply::data(&CreatedFolder { channel_folder_id: call.write(job).await? })
}

/// Parameters of `PATCH /channel_folders/{channel_folder_id}`. Absent properties do not change.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// The id of the folder to change.
    channel_folder_id: i64,
    /// The new name, 1 to 60 characters. Folders that are not archived have different names, regardless of case.
    name: Option<BoundedText<MAX_CHANNEL_FOLDER_NAME_LENGTH>>,
    /// The new description in Markdown, at most 1024 characters. It may be empty.
    description: Option<BoundedText<MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH>>,
    /// True to archive the folder, false to unarchive it. A folder with channels cannot be archived.
    is_archived: Option<bool>,
}

/// `PATCH /channel_folders/{channel_folder_id}`: changes a folder, with one event for each changed property.
async fn update_channel_folder(call: Call<Administrator>, params: UpdateParams) -> ApiResult<Reply> {
    let rendered = match &params.description {
        Some(description) => {
            Some(render_one_description(&call.app, &call.caller, &call.info.origin, description).await?)
        }
        None => None,
    };
    call.write(move |tx, _caller| update_folder(tx, params, rendered)).await?;
    Ok(Reply::ok())
}

fn update_folder(tx: &mut Tx<'_>, params: UpdateParams, rendered: Option<String>) -> ApiResult<()> {
    let before = channel_folders::load(tx, params.channel_folder_id)?;
    let mut folder = before.clone();
    if let Some(name) = params.name {
        folder.name = checked_name(&name)?;
    }
    if let (Some(description), Some(rendered)) = (params.description, rendered) {
        folder.description = description.into_inner();
        folder.rendered_description = rendered;
    }
    folder.is_archived = params.is_archived.unwrap_or(folder.is_archived);
    if folder == before {
        return Ok(());
    }
    let is_renamed = folder.name != before.name;
    let is_unarchived = before.is_archived && !folder.is_archived;
    // The names of archived folders can be used again.
    if is_renamed || is_unarchived {
        check_is_free(tx, &folder.name, Some(folder.id))?;
    }
    if folder.is_archived && !before.is_archived && channel_folders::has_channels(tx, folder.id)? {
        return Err(ApiError::bad_request(
            "You need to remove all the channels from this folder to archive it.",
        ));
    }
    channel_folders::update(tx, &folder)?;
    let facts = |folder: &ChannelFolder| json!({ "name": folder.name, "is_archived": folder.is_archived });
    let changed = Entry::new(Action::ItemChanged, Subject::with_id("channel folder", folder.id));
    tx.audit(changed.before(facts(&before)).after(facts(&folder)))?;
    if is_renamed {
        emit_updated(tx, folder.id, FolderChange::Name(folder.name))?;
    }
    if folder.description != before.description {
        let (description, rendered_description) = (folder.description, folder.rendered_description);
        emit_updated(tx, folder.id, FolderChange::Description { description, rendered_description })?;
    }
    if folder.is_archived != before.is_archived {
        emit_updated(tx, folder.id, FolderChange::IsArchived(folder.is_archived))?;
    }
    Ok(())
}

/// Parameters of `PATCH /channel_folders`.
#[derive(Deserialize)]
pub struct ReorderParams {
    /// The ids of all folders, in the new order. A missing id is an error; unknown ids are ignored.
    order: Order,
}

/// `PATCH /channel_folders`: changes the display order of the folders.
fn reorder_channel_folders(
    tx: &mut Tx<'_>,
    _caller: &Administrator,
    params: ReorderParams,
) -> ApiResult<Reply> {
    let positions = channel_folders::all(tx)?.into_iter().map(|folder| (folder.id, folder.order));
    let changes = params.order.changes(positions)?;
    for (id, position) in &changes {
        channel_folders::set_position(tx, *id, *position)?;
    }
    if !changes.is_empty() {
        tx.audit(Entry::new(Action::ItemChanged, Subject::named("channel folder", "order")))?;
        emit_reordered(tx)?;
    }
    Ok(Reply::ok())
}

/// Checks a name, and returns it without surrounding white space.
fn checked_name(text: &str) -> ApiResult<String> {
    let name = text.trim();
    if name.is_empty() {
        return Err(ApiError::bad_request("Channel folder name can't be empty."));
    }
    if let Some(index) = find_forbidden_in_name(name) {
        let msg = format!("Invalid character in channel folder name, at position {}.", index + 1);
        return Err(ApiError::bad_request(msg));
    }
    Ok(name.to_owned())
}

/// Checks that no other folder has a name, ignoring case, except archived ones.
fn check_is_free(connection: &Connection, name: &str, except: Option<i64>) -> ApiResult<()> {
    if channel_folders::is_taken(connection, name, except)? {
        return Err(ApiError::bad_request(format!("Channel folder '{name}' already exists")));
    }
    Ok(())
}

/// `channel_folder`, `op: add`: a folder was created.
#[derive(Serialize, Deserialize)]
pub struct FolderAdded {
    channel_folder: ChannelFolder,
}

uniform_event!(FolderAdded: "channel_folder", op "add", version 1);

/// `channel_folder`, `op: update`: a property of a folder changed.
#[derive(Serialize, Deserialize)]
pub struct FolderUpdated {
    /// The id of the folder.
    channel_folder_id: i64,
    /// The changed members of its record.
    data: FolderChange,
}

/// Changed members of the record of a folder.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FolderChange {
    /// The new name.
    Name(String),
    /// True if the folder was archived, false if it was unarchived.
    IsArchived(bool),
    /// The new description, in both forms.
    #[serde(untagged)]
    Description {
        /// The new description in Markdown.
        description: String,
        /// The new description as HTML.
        rendered_description: String,
    },
}

uniform_event!(FolderUpdated: "channel_folder", op "update", version 1);

/// `channel_folder`, `op: reorder`: the display order of the folders changed (feature level 418).
#[derive(Serialize, Deserialize)]
pub struct FoldersReordered {
    /// The ids of all folders, in display order.
    order: Vec<i64>,
}

uniform_event!(FoldersReordered: "channel_folder", op "reorder", version 1);

fn emit_added(tx: &mut Tx<'_>, channel_folder: ChannelFolder) -> ApiResult<()> {
    let audience = everyone(tx)?;
    tx.emit(FolderAdded { channel_folder }, audience);
    Ok(())
}

fn emit_updated(tx: &mut Tx<'_>, channel_folder_id: i64, data: FolderChange) -> ApiResult<()> {
    let audience = everyone(tx)?;
    tx.emit(FolderUpdated { channel_folder_id, data }, audience);
    Ok(())
}

fn emit_reordered(tx: &mut Tx<'_>) -> ApiResult<()> {
    let order = channel_folders::all(tx)?.iter().map(|folder| folder.id).collect();
    let audience = everyone(tx)?;
    tx.emit(FoldersReordered { order }, audience);
    Ok(())
}

/// `channel_folders` of `POST /register`: all folders, including archived ones, in display order. Visitors receive the
/// folders of the channels that they can see.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let mut folders = channel_folders::all(request.connection)?;
    if request.caller.is_visitor() {
        // The names of other folders tell what the organization talks about.
        let viewer = Viewer::new(request.ctx());
        let mut shown = HashSet::new();
        for channel in channels::all(request.connection)? {
            if viewer.can_see(&channel)? {
                shown.extend(channel.folder_id);
            }
        }
        folders.retain(|folder| shown.contains(&folder.id));
    }
    state.set::<Vec<ChannelFolder>>("channel_folders", &folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_only_visible_characters() {
        let cases = [
            (" Backend ", Ok("Backend")),
            ("", Err("Channel folder name can't be empty.")),
            (" \t", Err("Channel folder name can't be empty.")),
            ("a\nb", Err("Invalid character in channel folder name, at position 2.")),
            ("a\u{2028}b", Err("Invalid character in channel folder name, at position 2.")),
        ];
        for (text, expected) in cases {
            let checked = checked_name(text);
            let checked = checked.as_ref().map(String::as_str).map_err(ApiError::msg);
            assert_eq!(checked, expected, "{text:?}");
        }
    }
}
