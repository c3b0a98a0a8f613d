//! The members of objects, as properties of a schema or as parameters.

use super::Parameter;
use serde_json::{Map, Value, json};

/// The members of an object.
#[derive(Clone, Default)]
pub struct Members {
    properties: Map<String, Value>,
    required: Vec<Value>,
    /// The schema of other members, if there can be any.
    additional: Option<Value>,
}

impl Members {
    /// Members of any names, with one schema.
    pub fn of_any_name(schema: Value) -> Self {
        Self { additional: Some(schema), ..Self::default() }
    }

    /// Adds a member.
    pub fn add(&mut self, name: &str, schema: Value, is_required: bool) {
        self.properties.insert(name.to_owned(), schema);
        if is_required {
            self.required.push(name.into());
        }
    }

    /// The schema of a member.
    pub fn property(&self, name: &str) -> Value {
        self.properties[name].clone()
    }

    /// The members as parameters.
    pub fn into_parameters(self) -> Vec<Parameter> {
        let required = self.required;
        let parameter = |(name, schema): (String, Value)| Parameter {
            required: required.iter().any(|known| *known == *name),
            name,
            schema,
        };
        self.properties.into_iter().map(parameter).collect()
    }

    /// Adds those of another object.
    pub fn extend(&mut self, other: &Self, is_required: bool) {
        self.properties.extend(other.properties.clone());
        if is_required {
            self.required.extend(other.required.iter().cloned());
        }
        if other.additional.is_some() {
            self.additional.clone_from(&other.additional);
        }
    }

    /// The schema of the object.
    pub fn schema(self) -> Value {
        let mut schema = json!({"type": "object"});
        if !self.required.is_empty() {
            schema["required"] = self.required.into();
        }
        if !self.properties.is_empty() {
            schema["properties"] = self.properties.into();
        }
        if let Some(additional) = self.additional {
            schema["additionalProperties"] = additional;
        }
        schema
    }
}

/// An object in one of several forms.
pub fn one_of(mut forms: Vec<Members>) -> Value {
    if forms.len() == 1 {
        return forms.remove(0).schema();
    }
    json!({"anyOf": forms.into_iter().map(Members::schema).collect::<Vec<_>>()})
}
