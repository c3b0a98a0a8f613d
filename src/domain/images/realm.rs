//! Where the organization's icon and logos are.

use crate::domain::images::public;
use crate::domain::realm::settings;
use crate::domain::realm::settings::RealmSetting;
use crate::types::Values;

/// What is shown until somebody uploads an image.
const DEFAULT: &str = "/static/images/organization.png";

/// One of the organization's images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealmImage {
    /// The square icon.
    Icon,
    /// The wide logo for light themes.
    Logo,
    /// The wide logo for dark themes.
    NightLogo,
}

impl RealmImage {
    /// The name on the wire, and the beginning of the names of its settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Icon => "icon",
            Self::Logo => "logo",
            Self::NightLogo => "night_logo",
        }
    }

    /// The setting that says whether it was uploaded: `U`.
    pub fn source(self) -> String {
        format!("{}_source", self.name())
    }

    /// The setting that counts its changes.
    pub fn version(self) -> RealmSetting<i64> {
        match self {
            Self::Icon => settings::ICON_VERSION,
            Self::Logo => settings::LOGO_VERSION,
            Self::NightLogo => settings::NIGHT_LOGO_VERSION,
        }
    }

    /// The source of an image that nobody uploaded.
    pub fn default_source(self) -> &'static str {
        if self == Self::Icon { "G" } else { "D" }
    }

    /// Its place among the public images.
    pub fn path(self) -> String {
        format!("realm/{}.png", self.name())
    }

    /// Its address. The version changes with the image, so that clients may keep it as long as they like.
    pub fn url(self, settings: &Values) -> String {
        if settings.value(&self.source()) == "U" {
            format!("{}{}?version={}", public::ROOT, self.path(), settings.value(self.version().name()))
        } else {
            DEFAULT.to_owned()
        }
    }
}
