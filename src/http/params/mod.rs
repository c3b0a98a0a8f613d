//! Request parameters with types.
//!
//! One struct with `#[derive(Deserialize)]` is the table of parameters of an endpoint. [`Form::parse`] fills it:
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
//! How a field reads its text:
//!
//! | type | text |
//! |---|---|
//! | `String`, `&str`, `Cow<str>`, `char` | as it stands |
//! | an enum without data | a variant's name as it stands, or as a JSON string |
//! | `bool`, integers, floats | JSON |
//! | lists, tuples, maps, structs, other enums, `serde_json::Value` | JSON |
//! | `Option<T>` | absent is `None`; JSON `null` too, unless `T` takes the text as it stands |
//! | `Option<Option<T>>` | the same, and tells absent from `null`: see [`nullable`] |
//!
//! `rename`, `alias`, `default`, `deserialize_with`, `try_from`, `deny_unknown_fields` (of nested structs) and
//! the enum attributes of serde work. `flatten` cannot work: with it a struct does not say which names it
//! wants, and without that nothing tells a known parameter from an ignored one. Parse two structs from the
//! same form instead.
//!
//! An error names the parameter, and the place in its JSON, as `narrow[0]["operator"]`. A check of one's own
//! does so with `{}`: `de::Error::custom("{} is too old")` gives `narrow[0]["operand"] is too old`. The first
//! `{}` is replaced; a text without it goes to the client as it stands. `#[serde(expecting = "{} is not ...")]`
//! on an enum or a struct works alike. An internally tagged or untagged enum loses the place below itself,
//! since serde keeps its content aside: the error then names the enum. An internally tagged enum also reads a
//! list of its tag and fields in order, which serde does not let us refuse.

mod error;
mod fields;
mod json_value;
#[cfg(test)]
mod tests;
mod text;
mod types;

use serde::{Deserialize, Deserializer};
use thiserror::Error;

pub use self::types::{BoundedText, JsonOrText, NoParams, RequiredText, Trimmed};
use super::form::Form;
use crate::error::ApiError;

/// Why a request's parameters do not fit. Each is answered with status 400.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParamError {
    /// `BAD_REQUEST`: a value does not have its type, or fails a check.
    #[error("{message}")]
    Invalid {
        /// The published text, with the parameter's name and the place in it filled in.
        message: String,
        /// The parameter; `None` when the check was about several together.
        var_name: Option<&'static str>,
    },
    /// `REQUEST_VARIABLE_MISSING`: a required parameter was not given.
    #[error("Missing '{var_name}' argument")]
    Missing {
        /// The parameter.
        var_name: &'static str,
    },
    /// `REQUEST_CONFUSING_VAR`: a parameter was given under two of its names.
    #[error("Can't decide between '{var_name1}' and '{var_name2}' arguments")]
    Confusing {
        /// The parameter's own name, or one of its aliases.
        var_name1: &'static str,
        /// Another alias that was given as well.
        var_name2: &'static str,
    },
}

impl ParamError {
    /// The `code` of the answer.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "BAD_REQUEST",
            Self::Missing { .. } => "REQUEST_VARIABLE_MISSING",
            Self::Confusing { .. } => "REQUEST_CONFUSING_VAR",
        }
    }
}

impl From<ParamError> for ApiError {
    fn from(error: ParamError) -> Self {
        let response = Self::new(400, error.code(), error.to_string());
        match error {
            ParamError::Invalid { .. } => response,
            ParamError::Missing { var_name } => response.with("var_name", var_name),
            ParamError::Confusing { var_name1, var_name2 } => {
                response.with("var_name1", var_name1).with("var_name2", var_name2)
            }
        }
    }
}

impl Form {
    /// Reads a struct of parameters. What the struct names is from then on known, and not in
    /// [`Form::ignored`]; several structs may be read from one form.
    ///
    /// An error of a value names the parameter as the client did, so an alias stays an alias.
    pub fn parse<'form, P: Deserialize<'form>>(&'form self) -> Result<P, ParamError> {
        fields::parse(self)
    }
}

/// For a field that tells absent (`None`) from `null` (`Some(None)`) and from a value.
///
/// A parameter whose type takes the text as it stands has no `null`, as everywhere.
///
/// ```
/// # use serde::Deserialize;
/// # use teamchat::http::params::nullable;
/// #[derive(Deserialize)]
/// struct Params {
///     #[serde(default, deserialize_with = "nullable")]
///     folder_id: Option<Option<u64>>,
/// }
/// # let form = teamchat::http::form::Form::new(Some("folder_id=null"), None, bytes::Bytes::new(), vec![])?;
/// # assert_eq!(form.parse::<Params>()?.folder_id, Some(None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn nullable<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Some)
}
