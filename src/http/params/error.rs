//! The error that travels through serde, and how it becomes the published text.

use std::borrow::Cow;
use std::fmt::{self, Display, Write};

use serde::de::{self, Expected, Unexpected};
use serde_json::Value;

use super::ParamError;

/// What went wrong, and where. The place is filled in on the way out, from the innermost step.
#[derive(Debug)]
pub(super) struct DecodeError {
    problem: Problem,
    /// The parameter; `None` while the error is not inside of one.
    variable: Option<&'static str>,
    /// Innermost step first.
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Problem {
    /// A text for the client; the first `{}` stands for the place.
    Text(Cow<'static, str>),
    /// A struct did not get this field.
    Missing(&'static str),
    /// A struct does not want this field.
    Unexpected(String),
    /// A struct got this field twice, which is only possible under two names.
    Duplicate(&'static str),
    /// The two names of a parameter that was given twice.
    Confusing(&'static str, &'static str),
    /// JSON `null` where an optional value begins. See [`super::fields::parse`].
    Null,
}

#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

impl DecodeError {
    /// A text for the client, in which `{}` stands for the place.
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

    /// Names both spellings of a parameter that was given twice: serde knows the field, and the caller the
    /// name it gave last and the one before. Names of one field follow each other.
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

/// The published text for what a visitor wanted. Our own decoders check types themselves; this is for values
/// that serde keeps aside, as it does for tagged enums.
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
