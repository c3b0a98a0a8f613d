//! `POST /act` of the control: an action of a user in one request.

use super::double::Double;
use crate::http::{ApiError, ApiResult};
use hyper::Method;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

/// An action of a user: an endpoint with its parameters, or a message, a reaction or a typing notification with the
/// members of fixtures.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct Act {
    user: String,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    form: Map<String, Value>,
    #[serde(default)]
    channel: Option<String>,
    #[serde(default)]
    topic: Option<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    to: Option<Vec<String>>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    react: Option<String>,
    #[serde(default)]
    message: Option<i64>,
    #[serde(default)]
    typing: Option<String>,
}

impl Act {
    /// Refuses members that the action would ignore, and paths with a query.
    fn check(&self) -> ApiResult<()> {
        let (action, allowed): (_, &[&str]) = if self.path.is_some() {
            ("path", &["method", "form"])
        } else if self.react.is_some() {
            ("react", &["message"])
        } else if self.to.is_some() {
            ("to", &["to"])
        } else {
            ("channel", &["channel", "topic"])
        };
        let given = [
            ("method", self.method.is_some()),
            ("form", !self.form.is_empty()),
            ("channel", self.channel.is_some()),
            ("topic", self.topic.is_some()),
            ("to", self.to.is_some()),
            ("message", self.message.is_some()),
        ];
        let unused = given.iter().find(|(name, is_given)| *is_given && !allowed.contains(name));
        if let Some((name, _)) = unused {
            return Err(ApiError::bad_request(format!("\"{name}\" has no effect with \"{action}\"")));
        }
        if self.path.as_ref().is_some_and(|path| !path.starts_with('/') || path.contains('?')) {
            return Err(ApiError::bad_request("\"path\" begins with '/'; parameters belong into \"form\""));
        }
        Ok(())
    }

    /// Does it, and returns the reply.
    pub(super) async fn run(self, double: &Double) -> ApiResult<Value> {
        let ask = |what: &str| ApiError::bad_request(what.to_owned());
        self.check()?;
        let Act { user, method, path, form, channel, topic, to, content, react, message, typing } = self;
        let mut parameters = Map::new();
        let mut add = |name: &str, value: Value| parameters.insert(name.to_owned(), value);
        let (method, path) = match (path, content, react, typing) {
            (Some(path), None, None, None) => {
                parameters = form;
                let method = method.unwrap_or_else(|| "POST".to_owned()).to_uppercase();
                let method = method.parse().map_err(|_| ask("\"method\" is not a method"))?;
                (method, path.strip_prefix("/api/v1").map_or(path.clone(), str::to_owned))
            }
            (None, Some(content), None, None) => {
                add("content", content.into());
                match (channel, to) {
                    (Some(channel), None) => {
                        let topic = topic.ok_or_else(|| ask("a message to a channel needs a \"topic\""))?;
                        add("type", "channel".into());
                        add("to", json!([channel]));
                        add("topic", topic.into());
                    }
                    (None, Some(to)) => {
                        add("type", "direct".into());
                        add("to", json!(to));
                    }
                    _ => return Err(ask("a message needs either \"channel\" and \"topic\", or \"to\"")),
                }
                (Method::POST, "/messages".to_owned())
            }
            (None, None, Some(emoji_name), None) => {
                add("emoji_name", emoji_name.into());
                let message = message.ok_or_else(|| ask("a reaction needs the id of a \"message\""))?;
                (Method::POST, format!("/messages/{message}/reactions"))
            }
            (None, None, None, Some(op)) => {
                add("op", op.into());
                match (channel, to) {
                    (Some(channel), None) => {
                        let mut of_channel = Map::new();
                        of_channel.insert("stream".to_owned(), channel.into());
                        let found = double.call(&user, &Method::GET, "/get_stream_id", &of_channel).await?;
                        add("type", "channel".into());
                        add("stream_id", found["stream_id"].clone());
                        add("topic", topic.unwrap_or_default().into());
                    }
                    (None, Some(to)) => {
                        add("type", "direct".into());
                        let mut ids = Vec::with_capacity(to.len());
                        for email in &to {
                            let path = format!("/users/{email}");
                            let found = double.call(&user, &Method::GET, &path, &Map::new()).await?;
                            ids.push(found["user"]["user_id"].clone());
                        }
                        add("to", json!(ids));
                    }
                    _ => return Err(ask("\"typing\" needs either \"channel\" and \"topic\", or \"to\"")),
                }
                (Method::POST, "/typing".to_owned())
            }
            _ => return Err(ask("give one of \"content\", \"react\", \"typing\" or \"path\"")),
        };
        let mut answer = double.call(&user, &method, &path, &parameters).await?;
        answer["result"] = "success".into();
        Ok(answer)
    }
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected an email or a list of emails")]
    enum Written {
        One(String),
        Many(Vec<String>),
    }
    Ok(Some(match Written::deserialize(deserializer)? {
        Written::One(one) => vec![one],
        Written::Many(many) => many,
    }))
}
