//! The URLs of the organization's icon and logos.

use crate::domain::images::public;
use crate::domain::realm;
use crate::domain::realm::settings::RealmSetting;
use crate::types::Values;

/// The URL of the image that is shown until one is uploaded.
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
    /// The name on the wire, and the prefix of the names of its settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Icon => "icon",
            Self::Logo => "logo",
            Self::NightLogo => "night_logo",
        }
    }

    /// The name of the setting with the source; `U` means uploaded.
    pub fn source(self) -> String {
        format!("{}_source", self.name())
    }

    /// The setting that counts the changes of the image.
    pub fn version(self) -> RealmSetting<i64> {
        match self {
            Self::Icon => realm::settings::ICON_VERSION,
            Self::Logo => realm::settings::LOGO_VERSION,
            Self::NightLogo => realm::settings::NIGHT_LOGO_VERSION,
        }
    }

    /// The source of an image that is not uploaded.
    pub fn default_source(self) -> &'static str {
        if self == Self::Icon { "G" } else { "D" }
    }

    /// The path among the public images.
    pub fn path(self) -> String {
        format!("realm/{}.png", self.name())
    }

    /// The URL. It includes the version, so that clients can cache the image forever.
    pub fn url(self, settings: &Values) -> String {
        if settings.value(&self.source()) == "U" {
            format!("{}{}?version={}", public::ROOT, self.path(), settings.value(self.version().name()))
        } else {
            DEFAULT.to_owned()
        }
    }
}
