//! `POST /channel_folders/create`.

use crate::api::channel_folders::{events, rules};
use crate::domain::channels::folder::ChannelFolder;
use crate::domain::channels::folder_sql;
use crate::domain::limits::{MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH, MAX_CHANNEL_FOLDER_NAME_LENGTH};
use crate::domain::messages::render_context::render_description;
use crate::http::params::BoundedText;
use crate::http::{Administrator, ApiResult, Call, Reply};
use crate::store::Tx;
use serde::Deserialize;

/// Parameters of `POST /channel_folders/create`.
#[derive(Deserialize)]
pub struct CreateParams {
    /// The name.
    name: BoundedText<MAX_CHANNEL_FOLDER_NAME_LENGTH>,
    /// Markdown; may be empty.
    description: BoundedText<MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH>,
}

/// `POST /channel_folders/create`: a new folder, after all others.
pub async fn create_channel_folder(call: Call<Administrator>, params: CreateParams) -> ApiResult<Reply> {
    let name = rules::name(&params.name)?;
    let description = params.description.into_inner();
    let rendered_description = render(&call, &description).await?;
    let job = move |tx: &mut Tx<'_>, caller: &Administrator| {
        rules::check_is_free(tx, &name, None)?;
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
        folder.id = folder_sql::insert(tx, &folder)?;
        folder.order = folder.id;
        events::added(tx, &folder)?;
        Ok(folder.id)
    };
    Reply::field("channel_folder_id", &call.write(job).await?)
}

/// Renders a description before the writer is asked.
pub async fn render(call: &Call<Administrator>, description: &str) -> ApiResult<String> {
    let now = call.app.clock.seconds();
    let origin = &call.info.origin;
    call.app
        .readers
        .read(|snapshot| render_description(snapshot, &call.caller, now, origin, description))
        .await
}
