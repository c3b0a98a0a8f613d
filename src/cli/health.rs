//! `teamchat health`: asks a server if it works.

use super::common::{Failure, escaped};
#[cfg(unix)]
use super::fetch::fetch_from_socket;
use super::fetch::{Answer, config_without_verification, fetch};
use super::serve::DEFAULT_ADDRESS;
use clap::Args;
use serde_json::Value;
use std::io::Write;
use std::sync::Arc;
use teamchat::server::ListenAddress;
use url::Url;

/// The path that is asked.
const PATH: &str = "/health";

#[derive(Args)]
pub(super) struct Health {
    /// The address of the server: http:// or https:// with host and port, or unix:PATH. For a server behind a proxy, name the
    /// address of --listen. Certificates are not checked: `teamchat doctor` checks them.
    #[arg(long, env = "TEAMCHAT_URL", value_name = "URL", default_value_t = format!("http://{DEFAULT_ADDRESS}"), value_parser = parse_url)]
    url: String,
}

fn parse_url(text: &str) -> Result<String, String> {
    let example = format!("write it like http://{DEFAULT_ADDRESS} or unix:/run/teamchat/http");
    if text.starts_with("unix:") {
        return text.parse::<ListenAddress>().map(|_| text.to_owned());
    }
    let url = Url::parse(text).map_err(|error| format!("{error}; {example}"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(format!("the URL must begin with http://, https:// or unix:; {example}"));
    }
    Ok(url.origin().ascii_serialization())
}

impl Health {
    pub(super) fn run(self) -> Result<(), Failure> {
        let answer = self.ask().map_err(|error| format!("{} does not answer: {error}", self.url))?;
        let json = answer.json();
        if answer.status == 200 {
            let warnings = json["warnings"].as_array().into_iter().flatten();
            for warning in warnings.filter_map(Value::as_str) {
                writeln!(std::io::stderr(), "warning: {}", escaped(&warning))?;
            }
            return Ok(());
        }
        let what = json["msg"].as_str().unwrap_or("it is not a teamchat server, or an older version");
        Err(format!("{} answers with status {}: {what}", self.url, answer.status).into())
    }

    fn ask(&self) -> Result<Answer, Failure> {
        #[cfg(unix)]
        if let Ok(socket @ ListenAddress::Unix(_)) = self.url.parse() {
            return Ok(fetch_from_socket(&socket, PATH)?);
        }
        let url = Url::parse(&self.url)?.join(PATH)?;
        Ok(fetch("GET", &url, &[], Some(&Arc::new(config_without_verification()?)))?)
    }
}
