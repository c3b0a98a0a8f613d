//! The error of parameters, and the error that passes through serde until it becomes one.

use std::borrow::Cow;
use std::fmt::{self, Display, Write};

use serde::de::{self, Expected, Unexpected};
use serde_json::Value;

use crate::error::ApiError;
use thiserror::Error;

/// An error in the parameters of a request, a response with status 400.
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
    /// A value that fails a check. `{}` in the text is replaced by the name.
    pub fn invalid(name: &'static str, text: &str) -> Self {
        Self::Invalid { message: text.replacen("{}", name, 1), var_name: Some(name) }
    }

    /// The `code` of the response.
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

/// An error while parameters are deserialized, with its place. The place is filled in from the innermost step outwards.
#[derive(Debug)]
pub(super) struct DecodeError {
    problem: Problem,
    /// The parameter; `None` outside of any.
    variable: Option<&'static str>,
    /// Innermost step first.
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Problem {
    /// A text for the client; the first `{}` is replaced by the place.
    Text(Cow<'static, str>),
    /// This field of a struct is missing.
    Missing(&'static str),
    /// A struct has no such field.
    Unexpected(String),
    /// A field of a struct was given twice, which is only possible under two names.
    Duplicate(&'static str),
    /// The two names of a parameter that was given twice.
    Confusing(&'static str, &'static str),
    /// JSON `null` where an optional value begins. See `fields::parse`.
    Null,
}

#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

impl DecodeError {
    /// A text for the client, in which `{}` is replaced by the place.
    pub(super) fn text(text: &'static str) -> Self {
        Self::new(Problem::Text(Cow::Borrowed(text)))
    }

    /// JSON `null` where an optional value begins.
    pub(super) fn null() -> Self {
        Self::new(Problem::Null)
    }

    pub(super) fn is_not_length(length: usize) -> Self {
        Self::new(Problem::Text(Cow::Owned(format!("{{}} is not length {length}"))))
    }

    pub(super) fn inside_variable(mut self, name: &'static str) -> Self {
        self.variable = Some(name);
        self
    }

    pub(super) fn inside_key(mut self, key: String) -> Self {
        self.steps.push(Step::Key(key));
        self
    }

    pub(super) fn inside_index(mut self, index: usize) -> Self {
        self.steps.push(Step::Index(index));
        self
    }

    /// The parameter that began with `null`, if that is the problem.
    pub(super) fn null_variable(&self) -> Option<&'static str> {
        if matches!(self.problem, Problem::Null) { self.variable } else { None }
    }

    /// Names both spellings of a parameter that was given twice: serde knows the field, and the caller knows the
    /// last two names it offered. Names of one field follow each other.
    pub(super) fn name_duplicate(mut self, last: &'static str, before: &'static str) -> Self {
        if let (Problem::Duplicate(field), None) = (&self.problem, self.variable) {
            let other = if *field == last { before } else { last };
            self.problem = Problem::Confusing(field, other);
        }
        self
    }

    pub(super) fn into_param_error(self) -> ParamError {
        let place = self.variable.map(|name| place(name, &self.steps));
        let message = match (self.problem, place) {
            (Problem::Missing(var_name), None) => return ParamError::Missing { var_name },
            (Problem::Confusing(var_name1, var_name2), _) => {
                return ParamError::Confusing { var_name1, var_name2 };
            }
            (Problem::Text(text), None) => text.into_owned(),
            (Problem::Text(text), Some(place)) => text.replacen("{}", &place, 1),
            (Problem::Missing(field), Some(place)) => {
                format!("{place}[\"{field}\"] field is missing: Field required")
            }
            (Problem::Unexpected(argument), place) => {
                let key = Value::from(argument.as_str());
                format!("Argument \"{argument}\" at {}[{key}] is unexpected", place.unwrap_or_default())
            }
            (Problem::Duplicate(name), None) => format!("Invalid {name}"),
            (Problem::Duplicate(_), Some(place)) => format!("Invalid {place}"),
            (Problem::Null, place) => format!("Invalid {}", place.unwrap_or_default()),
        };
        ParamError::Invalid { message, var_name: self.variable }
    }

    fn new(problem: Problem) -> Self {
        Self { problem, variable: None, steps: Vec::new() }
    }
}

/// `narrow[0]["operator"]`.
fn place(name: &str, steps: &[Step]) -> String {
    let mut place = name.to_owned();
    for step in steps.iter().rev() {
        // Writing to a string cannot fail.
        let _ = match step {
            Step::Key(key) => write!(place, "[{}]", Value::from(key.as_str())),
            Step::Index(index) => write!(place, "[{index}]"),
        };
    }
    place
}

/// The published text for the expectation of a visitor. `ParamValue` checks types itself; this is for values that serde
/// buffers, as it does for tagged enums.
fn text_for(expected: &dyn Expected) -> Cow<'static, str> {
    let expected = expected.to_string();
    if expected.contains("{}") {
        return Cow::Owned(expected);
    }
    Cow::Borrowed(match expected.as_str() {
        "a boolean" => "{} is not a boolean",
        "a string" | "a borrowed string" | "a character" => "{} is not a string",
        "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "isize" | "usize" => {
            "{} is not an integer"
        }
        "f32" | "f64" => "{} is not a float",
        "a sequence" => "{} is not a list",
        "a map" => "{} is not a dict",
        expected if expected.starts_with("struct ") => "{} is not a dict",
        _ => "Invalid {}",
    })
}

impl de::Error for DecodeError {
    fn custom<T: Display>(message: T) -> Self {
        let message = message.to_string();
        // serde's own text for an untagged enum names the Rust type.
        if message.starts_with("data did not match any variant of untagged enum") {
            return Self::text("Invalid {}");
        }
        Self::new(Problem::Text(Cow::Owned(message)))
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(Problem::Text(text_for(expected)))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        let text = if expected.contains("{}") { Cow::Owned(expected) } else { Cow::Borrowed("Invalid {}") };
        Self::new(Problem::Text(text))
    }

    fn invalid_length(_: usize, _: &dyn Expected) -> Self {
        Self::text("Invalid {}")
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self::text("Invalid {}")
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        Self::new(Problem::Unexpected(field.to_owned()))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Problem::Missing(field))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(Problem::Duplicate(field))
    }
}

impl std::error::Error for DecodeError {}

impl Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.problem)
    }
}
