//! A profile field and its type.

use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

/// A custom profile field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileField {
    /// The field's id.
    pub id: i64,
    /// The name, which no other field has.
    pub name: String,
    /// The type, which never changes: 1 short text, 2 long text, 3 list of options, 4 date, 5 URL, 6 people, 7 external
    /// account, 8 pronouns.
    pub r#type: FieldType,
    /// A hint for people who fill in the field, at most 80 characters.
    pub hint: String,
    /// The options of a list, or the subtype and URL pattern of an external account, as JSON in a string. Empty for
    /// other types.
    pub field_data: String,
    /// The position: fields are shown in ascending order.
    pub order: i64,
    /// True if clients ask people to fill in the field. The server accepts profiles without it.
    pub required: bool,
    /// True if people may change their own value. Administrators always may.
    pub editable_by_user: bool,
    /// True if clients show the field in the summary of a profile; absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub display_in_profile_summary: bool,
}

/// The columns of [`ProfileField`], in order.
pub const COLUMNS: &str = "id, name, type, hint, field_data, position, required, editable_by_user,
    display_in_profile_summary";

impl ProfileField {
    /// Reads a row of [`COLUMNS`].
    pub fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            name: row.get(1)?,
            r#type: row.get(2)?,
            hint: row.get(3)?,
            field_data: row.get(4)?,
            order: row.get(5)?,
            required: row.get(6)?,
            editable_by_user: row.get(7)?,
            display_in_profile_summary: row.get(8)?,
        })
    }

    /// Returns `field_data` as an object, which is empty for types without data.
    pub fn data(&self) -> Map<String, Value> {
        serde_json::from_str(&self.field_data).unwrap_or_default()
    }
}

/// The type of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// 1: a line of Markdown.
    ShortText,
    /// 2: several lines of Markdown.
    LongText,
    /// 3: one of the field's options.
    Select,
    /// 4: a date.
    Date,
    /// 5: a URL.
    Url,
    /// 6: people of the organization.
    User,
    /// 7: a user name on another site.
    ExternalAccount,
    /// 8: a line of text.
    Pronouns,
}

impl FieldType {
    /// All types, in the order of their codes.
    pub const ALL: [Self; 8] = [
        Self::ShortText,
        Self::LongText,
        Self::Select,
        Self::Date,
        Self::Url,
        Self::User,
        Self::ExternalAccount,
        Self::Pronouns,
    ];

    /// Returns the type with this code.
    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// Returns the code of the type, on the wire and in the database.
    pub fn code(self) -> i64 {
        match self {
            Self::ShortText => 1,
            Self::LongText => 2,
            Self::Select => 3,
            Self::Date => 4,
            Self::Url => 5,
            Self::User => 6,
            Self::ExternalAccount => 7,
            Self::Pronouns => 8,
        }
    }

    /// Returns the key in `custom_profile_field_types` and the display name.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::ShortText => ("SHORT_TEXT", "Text (short)"),
            Self::LongText => ("LONG_TEXT", "Text (long)"),
            Self::Select => ("SELECT", "List of options"),
            Self::Date => ("DATE", "Date"),
            Self::Url => ("URL", "Link"),
            Self::User => ("USER", "Users"),
            Self::ExternalAccount => ("EXTERNAL_ACCOUNT", "External account"),
            Self::Pronouns => ("PRONOUNS", "Pronouns"),
        }
    }

    /// True if values are Markdown, and come with `rendered_value`.
    pub fn is_rendered(self) -> bool {
        matches!(self, Self::ShortText | Self::LongText)
    }

    /// True if fields of the type have `field_data`.
    pub fn has_data(self) -> bool {
        matches!(self, Self::Select | Self::ExternalAccount)
    }

    /// True if fields of the type can be shown in the summary of a profile.
    pub fn fits_in_summary(self) -> bool {
        !matches!(self, Self::LongText | Self::User)
    }
}

impl<'de> Deserialize<'de> for FieldType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = i64::deserialize(deserializer)?;
        Self::from_code(code).ok_or_else(|| de::Error::custom("no such type of a field"))
    }
}

impl Serialize for FieldType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.code())
    }
}

impl ToSql for FieldType {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.code()))
    }
}

impl FromSql for FieldType {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let code = i64::column_result(value)?;
        Self::from_code(code).ok_or(FromSqlError::OutOfRange(code))
    }
}

/// True if a text is an absolute http, https, ftp or ftps URL.
pub fn is_url(text: &str) -> bool {
    if text.chars().any(|character| character.is_whitespace() || character.is_control()) {
        return false;
    }
    let Ok(url) = url::Url::parse(text) else { return false };
    let has_slashes = text.get(url.scheme().len()..).is_some_and(|rest| rest.starts_with("://"));
    has_slashes
        && matches!(url.scheme(), "http" | "https" | "ftp" | "ftps")
        && match url.host() {
            Some(url::Host::Domain(domain)) => domain == "localhost" || domain.contains('.'),
            Some(_) => true,
            None => false,
        }
}
