//! A field as clients see it, and the types of fields.

use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

/// A field on the wire, in lists and events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileField {
    /// The id.
    pub id: i64,
    /// What it is called.
    pub name: String,
    /// What its values are.
    pub r#type: FieldType,
    /// What people are told about filling it in.
    pub hint: String,
    /// The choices of a list, or where an external account is: an object as JSON text. Empty for other types.
    pub field_data: String,
    /// Fields are shown in ascending order.
    pub order: i64,
    /// Whether people are urged to fill it in. They need not.
    pub required: bool,
    /// Whether people may change their own; administrators always may.
    pub editable_by_user: bool,
    /// Whether it is shown where there is little room. Left out when it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub display_in_profile_summary: bool,
}

/// The columns of [`ProfileField`], in order.
pub const COLUMNS: &str = "id, name, type, hint, field_data, position, required, editable_by_user,
    display_in_profile_summary";

impl ProfileField {
    /// Reads [`COLUMNS`].
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

    /// `field_data` as an object; an empty one for types that have none.
    pub fn data(&self) -> Map<String, Value> {
        serde_json::from_str(&self.field_data).unwrap_or_default()
    }
}

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// 1: a line of Markdown.
    ShortText,
    /// 2: some lines of Markdown.
    LongText,
    /// 3: one of the field's choices.
    Select,
    /// 4: a day.
    Date,
    /// 5: an address.
    Url,
    /// 6: some people of the organization.
    User,
    /// 7: a name on another site.
    ExternalAccount,
    /// 8: a line of text.
    Pronouns,
}

impl FieldType {
    /// All types, by their numbers.
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

    /// The type with this number.
    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// The number on the wire and in the file.
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

    /// The key in `custom_profile_field_types`, and the text for people.
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

    /// Whether values are Markdown, and come with `rendered_value`.
    pub fn is_rendered(self) -> bool {
        matches!(self, Self::ShortText | Self::LongText)
    }

    /// Whether fields of the type have `field_data`.
    pub fn has_data(self) -> bool {
        matches!(self, Self::Select | Self::ExternalAccount)
    }

    /// Whether values can be shown where there is little room.
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

/// Whether a text is the whole address of something on the web.
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
