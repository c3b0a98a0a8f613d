//! Request parameters with types.
//!
//! A struct with `#[derive(Deserialize)]` is the table of parameters of an endpoint. [`Form::parse`] fills it:
//!
//! ```
//! use bytes::Bytes;
//! use serde::Deserialize;
//! use teamchat::http::{form::Form, params::BoundedText};
//!
//! #[derive(Deserialize)]
//! struct Params {
//!     stream_id: u64,
//!     #[serde(alias = "subject")]
//!     topic: Option<BoundedText<60>>,
//!     #[serde(default)]
//!     to: Vec<u64>,
//! }
//!
//! let form = Form::new(Some("stream_id=7&to=[1,2]&color=red"), None, Bytes::new(), vec![])?;
//! let params: Params = form.parse()?;
//! assert_eq!((params.stream_id, params.to), (7, vec![1, 2]));
//! assert!(params.topic.is_none());
//! assert_eq!(form.ignored(), ["color"]);
//!
//! let form = Form::new(Some("stream_id=seven"), None, Bytes::new(), vec![])?;
//! let error = form.parse::<Params>().err().map(|error| error.to_string());
//! assert_eq!(error.as_deref(), Some("stream_id is not valid JSON"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Parsing of a parameter's text by type:
//!
//! | type | text |
//! |---|---|
//! | `String`, `&str`, `Cow<str>`, `char` | plain text |
//! | an enum without data | a variant's name, as plain text or as a JSON string |
//! | `bool`, integers, floats | JSON |
//! | lists, tuples, maps, structs, other enums, `serde_json::Value` | JSON |
//! | `Option<T>` | absent is `None`; JSON `null` too, unless `T` reads plain text |
//! | `Option<Option<T>>` | the same, and distinguishes absent from `null`: see [`nullable`](crate::types::nullable) |
//!
//! `rename`, `alias`, `default`, `deserialize_with`, `try_from`, `deny_unknown_fields` (of nested structs) and
//! the enum attributes of serde work. `flatten` cannot work: with it a struct does not announce its names, so
//! known and ignored parameters could not be distinguished. Parse two structs from the same form instead.
//!
//! An error names the parameter and the place in its JSON, as `narrow[0]["operator"]`. A custom check does so with
//! `{}`: `de::Error::custom("{} is too old")` gives `narrow[0]["operand"] is too old`. The first `{}` is replaced; a
//! text without it is sent unchanged. The same holds for `#[serde(expecting = "{} is not ...")]` on an enum or a
//! struct. An internally tagged or untagged enum loses the place below itself, since serde buffers its content: the
//! error then names the enum. An internally tagged enum also reads a list of its tag and fields in order, which serde
//! does not let us refuse.

mod error;
mod fields;
#[cfg(test)]
mod tests;
mod types;
mod value;

use serde::Deserialize;

pub use self::error::ParamError;
pub use self::types::{BoundedText, FractionalTime, NoParams, Order, RequiredText, Trimmed, UnixTime};
use super::form::Form;

impl Form {
    /// Reads a struct of parameters. The names of its fields are then no longer in [`Form::ignored`]; several structs
    /// may be read from one form.
    ///
    /// An error names the parameter as the client did: an alias stays an alias.
    pub fn parse<'form, P: Deserialize<'form>>(&'form self) -> Result<P, ParamError> {
        fields::parse(self)
    }

    /// Reads one parameter; `None` if it is absent, or JSON `null` for a type that reads JSON.
    pub fn parameter<'form, T: Deserialize<'form>>(
        &'form self,
        name: &'static str,
    ) -> Result<Option<T>, ParamError> {
        fields::parse_one(self, name)
    }
}
