//! `teamchat health`: asks a server whether it does its work.

use super::common::Failure;
use super::fetch::fetch;
use super::serve::DEFAULT_ADDRESS;
use clap::Args;
use url::Url;

#[derive(Args)]
pub(super) struct Health {
    /// The address of the server: http:// with host and port. A server behind a proxy is asked on this machine.
    #[arg(long, env = "TEAMCHAT_URL", value_name = "URL", default_value_t = format!("http://{DEFAULT_ADDRESS}"), value_parser = parse_url)]
    url: String,
}

fn parse_url(text: &str) -> Result<String, String> {
    let example = format!("write it like http://{DEFAULT_ADDRESS}");
    let url = Url::parse(text).map_err(|error| format!("{error}; {example}"))?;
    if url.scheme() != "http" || !url.has_host() {
        return Err(format!("it begins with http://; {example}"));
    }
    Ok(url.origin().ascii_serialization())
}

impl Health {
    pub(super) fn run(self) -> Result<(), Failure> {
        let url = Url::parse(&self.url)?.join("/health")?;
        let answer = fetch("GET", &url, &[], None)
            .map_err(|error| format!("{} does not answer: {error}", self.url))?;
        if answer.status == 200 {
            return Ok(());
        }
        let json = answer.json();
        let what = json["msg"].as_str().unwrap_or("it is no server of this kind, or an older one");
        Err(format!("{} answers with status {}: {what}", self.url, answer.status).into())
    }
}
