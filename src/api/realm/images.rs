//! Where the organization's icon and logos are.

use crate::types::Values;

/// What is shown until somebody uploads an image.
const DEFAULT: &str = "/static/images/organization.png";

/// The square icon.
pub fn icon_url(settings: &Values) -> String {
    url(settings, "icon_source", "icon_version", "icon.png")
}

/// The wide logo for light themes.
pub fn logo_url(settings: &Values) -> String {
    url(settings, "logo_source", "logo_version", "logo.png")
}

/// The wide logo for dark themes.
pub fn night_logo_url(settings: &Values) -> String {
    url(settings, "night_logo_source", "night_logo_version", "night_logo.png")
}

/// The version changes with the image, so that clients may keep it as long as they like.
fn url(settings: &Values, source: &str, version: &str, file: &str) -> String {
    if settings.value(source) == "U" {
        format!("/user_avatars/1/realm/{file}?version={}", settings.value(version))
    } else {
        DEFAULT.to_owned()
    }
}
