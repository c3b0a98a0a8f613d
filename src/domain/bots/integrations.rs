//! The programs for which there are incoming webhook bots.

use crate::error::{ApiError, ApiResult};

macro_rules! integrations {
    ($($variant:ident: $name:literal, $display_name:literal;)*) => {
        /// The name of a program whose webhooks are converted to messages. `api::incoming_webhooks` has the conversions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum IntegrationName {
            $(#[doc = $display_name] $variant,)*
        }

        impl IntegrationName {
            /// All of them, in order.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in URLs, and in bots of type [`BotType::IncomingWebhook`](crate::types::BotType::IncomingWebhook).
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The name for people.
            pub const fn display_name(self) -> &'static str {
                match self { $(Self::$variant => $display_name,)* }
            }
        }
    };
}

integrations! {
    Alertmanager: "alertmanager", "Prometheus Alertmanager";
    Forgejo: "forgejo", "Forgejo";
    Gitea: "gitea", "Gitea";
    Github: "github", "GitHub";
    Gitlab: "gitlab", "GitLab";
    Grafana: "grafana", "Grafana";
    Healthchecks: "healthchecks", "Healthchecks";
    Homeassistant: "homeassistant", "Home Assistant";
    Ifttt: "ifttt", "IFTTT";
    Json: "json", "JSON formatter";
    Proxmox: "proxmox", "Proxmox";
    Radarr: "radarr", "Radarr";
    Sentry: "sentry", "Sentry";
    SlackIncoming: "slack_incoming", "Slack-compatible webhook";
    Sonarr: "sonarr", "Sonarr";
    Text: "text", "Plain text";
    Uptimekuma: "uptimekuma", "Uptime Kuma";
    Zabbix: "zabbix", "Zabbix";
    Zapier: "zapier", "Zapier";
}

impl IntegrationName {
    /// Finds an integration by its name in URLs.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|integration| integration.as_str() == name)
    }

    /// Checks that an integration exists.
    pub fn check(name: &str) -> ApiResult<()> {
        Self::find(name)
            .map(|_| ())
            .ok_or_else(|| ApiError::bad_request(format!("Invalid integration '{name}'.")))
    }
}
