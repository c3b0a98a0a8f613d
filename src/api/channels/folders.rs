//! Whether a channel can be shown in a folder.

use crate::http::{ApiError, ApiResult};

/// Checks a folder that a client names. The organization has no folders, so only "none" is one.
pub fn check(folder_id: Option<i64>) -> ApiResult<()> {
    match folder_id {
        None => Ok(()),
        Some(_) => Err(ApiError::bad_request("Invalid channel folder ID")),
    }
}
