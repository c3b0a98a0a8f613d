//! Calling endpoints inside the process on behalf of a user, without a connection and without credentials.

use crate::app::App;
use crate::auth::Caller;
use crate::http::form::Form;
use crate::http::{ApiError, ApiResult, Found, ReplyBody, Request, RequestInfo, Router};
use bytes::Bytes;
use hyper::Method;
use serde_json::{Map, Value};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// The client that such requests come from.
const CLIENT: &str = "test control";

/// Calls an endpoint. `path` is below `/api/v1`. Values that are not text are sent as JSON.
pub async fn call(
    app: &Arc<App>,
    router: &Router,
    caller: Caller,
    method: &Method,
    path: &str,
    parameters: &Map<String, Value>,
) -> ApiResult<Value> {
    let (route, path_parameters) = match router.find(method, &format!("/api/v1{path}")) {
        Found::Route(route, path_parameters) => (route, path_parameters),
        Found::MethodNotAllowed(_) | Found::NotFound => {
            return Err(ApiError::bad_request(format!("there is no {method} {path}")));
        }
    };
    let form = Form::new(Some(&urlencoded(parameters)), None, Bytes::new(), path_parameters)?;
    let info = RequestInfo {
        client: CLIENT.to_owned(),
        origin: app.options.public_url.clone().unwrap_or_else(|| "http://localhost".to_owned()),
        peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
        is_proxied: false,
        cookies: None,
        browser: None,
        language: None,
        accepts_html: false,
        accepts_gzip: false,
        accepts_brotli: false,
        conditions: None,
        headers: None,
    };
    let app = Arc::clone(app);
    let request = Request { app, info, caller: Some(caller), form, multipart: None };
    let output = route.run(request).await?;
    let ReplyBody::Json(members) = output.reply else {
        return Err(ApiError::bad_request(format!("{method} {path} does not answer with JSON")));
    };
    let mut answer: Value = serde_json::from_str(&format!("{{{members}}}"))?;
    if !output.ignored.is_empty() {
        answer["ignored_parameters_unsupported"] = output.ignored.into();
    }
    Ok(answer)
}

fn urlencoded(parameters: &Map<String, Value>) -> String {
    let mut text = form_urlencoded::Serializer::new(String::new());
    for (name, value) in parameters {
        match value {
            Value::String(value) => text.append_pair(name, value),
            other => text.append_pair(name, &other.to_string()),
        };
    }
    text.finish()
}
