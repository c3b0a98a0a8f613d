//! Flags of `serve` for notifications of phones.

use super::serve_options::parse_bouncer_url;
use super::test_flags::UsageError;
use clap::Args;
use teamchat::app::PushBouncer;

/// Notifications of phones; docs/configuration.md shows their use.
#[derive(Args)]
#[expect(clippy::struct_field_names, reason = "named as the flags")]
pub struct PushFlags {
    /// The push bouncer that passes notifications on to the phone apps: an https URL, or http on this machine. The publisher of
    /// the apps runs it, and identifies this server by --push-org-id and --push-org-key. Without this flag, phones get no
    /// notifications, and the server sends nothing to a bouncer.
    #[arg(long, env = "TEAMCHAT_PUSH_BOUNCER", value_name = "URL", value_parser = parse_bouncer_url)]
    pub push_bouncer: Option<String>,
    /// The id of this server at the push bouncer.
    #[arg(long, env = "TEAMCHAT_PUSH_ORG_ID", value_name = "ID")]
    pub push_org_id: Option<String>,
    /// The key of this server at the push bouncer, a secret. TEAMCHAT_PUSH_ORG_KEY_FILE names a file with the key.
    #[arg(long, env = "TEAMCHAT_PUSH_ORG_KEY", value_name = "KEY", hide_env_values = true)]
    pub push_org_key: Option<String>,
}

impl PushFlags {
    /// The bouncer, if there is one. Its three flags belong together; the key may come from a file that is read after the others.
    pub fn bouncer(&self) -> Result<Option<PushBouncer>, UsageError> {
        match (&self.push_bouncer, &self.push_org_id, &self.push_org_key) {
            (None, None, None) => Ok(None),
            (Some(url), Some(org_id), Some(org_key)) => {
                let (url, org_id, org_key) = (url.clone(), org_id.clone(), org_key.clone());
                Ok(Some(PushBouncer { url, org_id, org_key }))
            }
            _ => {
                Err(UsageError("--push-bouncer, --push-org-id and --push-org-key belong together".to_owned()))
            }
        }
    }
}
