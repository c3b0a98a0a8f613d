//! Providers of OpenID Connect: whether they answer, and who gets an account.

use super::findings::Findings;
use crate::cli::common::Failure;
use crate::cli::serve::Serve;
use rusqlite::Connection;
use teamchat::domain::realm;
use teamchat::http_client::TlsClient;
use teamchat::oidc::{Environment, discover};
use teamchat::server::runtime;
use teamchat::types::Clock;

const CHECK: &str = "single sign-on";

/// Checks the tables `[[oidc]]` of the configuration.
pub(super) fn check(serve: &Serve, connection: &Connection, findings: &mut Findings) -> Result<(), Failure> {
    if serve.oidc.is_empty() {
        return Ok(());
    }
    let tls = TlsClient::trusting(serve.web_push_authorities.clone());
    let runtime = runtime()?;
    for provider in &serve.oidc {
        let environment = Environment { tls: &tls, timeout: None, clock: &Clock::System };
        match runtime.block_on(discover(environment, provider)) {
            Ok(_) => findings.ok(CHECK, format!("{} answers at {}", provider.id, provider.issuer)),
            Err(error) => findings.problem(
                CHECK,
                format!("{}: {error}", provider.id),
                "compare 'issuer' with the provider's settings for this client",
            ),
        }
    }
    let is_open = serve.oidc.iter().any(|provider| provider.auto_create);
    if is_open && realm::settings::INVITE_REQUIRED.get(connection)? {
        let remedy = "run `teamchat organization set invite_required false`, or remove 'auto-create'";
        findings.warning(
            CHECK,
            "'auto-create' has no effect, because the organization requires invitations",
            remedy,
        );
    }
    Ok(())
}
