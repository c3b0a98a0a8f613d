//! `PATCH /channel_folders/{channel_folder_id}`.

use crate::api::channel_folders::create::render;
use crate::api::channel_folders::{events, rules};
use crate::domain::channels::folder_sql;
use crate::domain::limits::{MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH, MAX_CHANNEL_FOLDER_NAME_LENGTH};
use crate::http::params::BoundedText;
use crate::http::{Administrator, ApiError, ApiResult, Call, Reply};
use crate::store::Tx;
use serde::Deserialize;
use serde_json::json;

/// Parameters of `PATCH /channel_folders/{channel_folder_id}`. What is absent stays.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// Which folder.
    channel_folder_id: i64,
    /// The name.
    #[serde(default)]
    name: Option<BoundedText<MAX_CHANNEL_FOLDER_NAME_LENGTH>>,
    /// Markdown.
    #[serde(default)]
    description: Option<BoundedText<MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH>>,
    /// Whether it is out of use.
    #[serde(default)]
    is_archived: Option<bool>,
}

/// `PATCH /channel_folders/{channel_folder_id}`: changes what is given, each told in an event of its own.
pub async fn update_channel_folder(call: Call<Administrator>, params: UpdateParams) -> ApiResult<Reply> {
    let rendered = match &params.description {
        Some(description) => Some(render(&call, description).await?),
        None => None,
    };
    call.write(move |tx, _caller| change(tx, params, rendered)).await?;
    Ok(Reply::ok())
}

fn change(tx: &mut Tx<'_>, params: UpdateParams, rendered: Option<String>) -> ApiResult<()> {
    let before = folder_sql::find(tx, params.channel_folder_id)?;
    let mut folder = before.clone();
    if let Some(name) = params.name {
        folder.name = rules::name(&name)?;
    }
    if let (Some(description), Some(rendered)) = (params.description, rendered) {
        folder.description = description.into_inner();
        folder.rendered_description = rendered;
    }
    folder.is_archived = params.is_archived.unwrap_or(folder.is_archived);
    let (is_renamed, is_back) = (folder.name != before.name, before.is_archived && !folder.is_archived);
    // Archived folders do not keep their names from others.
    if is_renamed || is_back {
        rules::check_is_free(tx, &folder.name, Some(folder.id))?;
    }
    if folder.is_archived && !before.is_archived && folder_sql::has_channels(tx, folder.id)? {
        return Err(ApiError::bad_request(
            "You need to remove all the channels from this folder to archive it.",
        ));
    }
    folder_sql::update(tx, &folder)?;
    if is_renamed {
        events::updated(tx, folder.id, json!({"name": folder.name}))?;
    }
    if folder.description != before.description {
        let data = json!({
            "description": folder.description,
            "rendered_description": folder.rendered_description,
        });
        events::updated(tx, folder.id, data)?;
    }
    if folder.is_archived != before.is_archived {
        events::updated(tx, folder.id, json!({"is_archived": folder.is_archived}))?;
    }
    Ok(())
}
