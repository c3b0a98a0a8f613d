//! The table of integrations: the function from payload to messages, and further properties.

use super::payload::{Options, Payload, PostsResult};
use super::{gitea, github, gitlab, grafana, media, monitors, plain, sentry, slack};
use crate::domain::bots::integrations::IntegrationName;
use serde::Serialize;

/// Format of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// JSON, in a form's field `payload` or `data` too.
    Json,
    /// Plain text, without a structure.
    Text,
}

/// A parameter of an integration's URL (feature level 403).
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct UrlOption {
    /// The name of the parameter.
    key: &'static str,
    /// A text for people that describes the parameter.
    label: &'static str,
    /// The type of the value: `check_string` or `check_bool`.
    validator: &'static str,
}

const BRANCHES: UrlOption = UrlOption {
    key: "branches",
    label: "The branches whose pushes are shown, separated by commas",
    validator: "check_string",
};

const IGNORE_PRIVATE_REPOSITORIES: UrlOption = UrlOption {
    key: "ignore_private_repositories",
    label: "Exclude notifications from private repositories",
    validator: "check_bool",
};

/// A program whose webhooks are converted to messages, at `/external/{name}`.
pub struct Integration {
    /// Its name, in URLs and for people.
    pub name: IntegrationName,
    /// Its name in texts of errors, and within the name of the client of its messages.
    pub title: &'static str,
    /// Format of the body.
    pub body: Body,
    /// The headers that name the event. The first one present is used.
    pub headers: &'static [&'static str],
    /// The types of events that an address can filter.
    pub events: &'static [&'static str],
    /// Parameters of its own that an address can have, as `DeliverParams` reads them.
    pub url_options: &'static [UrlOption],
    /// True if people outside the organization control text of the messages: titles, names and addresses that a program
    /// passes on. Mentions are then silent. False if the user who sets the program up writes the whole text.
    pub of_strangers: bool,
    /// Creates the messages of a payload.
    pub posts: fn(Payload<'_>, &Options<'_>) -> PostsResult,
}

impl Integration {
    const fn new(
        name: IntegrationName,
        title: &'static str,
        posts: fn(Payload<'_>, &Options<'_>) -> PostsResult,
    ) -> Self {
        let (headers, events, url_options): (&[_], &[_], &[_]) = (&[], &[], &[]);
        Self { name, title, body: Body::Json, headers, events, url_options, of_strangers: true, posts }
    }

    /// Returns the integration for messages that are written by the user who sets the program up.
    const fn of_members(self) -> Self {
        Self { of_strangers: false, ..self }
    }

    /// The published client name of the messages.
    pub fn client(&self) -> String {
        format!("Zulip{}Webhook", self.title)
    }
}

/// All integrations, by name.
pub static TABLE: &[Integration] = &[
    Integration::new(IntegrationName::Alertmanager, "Alertmanager", grafana::alertmanager),
    Integration {
        headers: &[gitea::FORGEJO_HEADER, gitea::GITEA_HEADER],
        events: gitea::EVENTS,
        url_options: &[BRANCHES],
        ..Integration::new(IntegrationName::Forgejo, "Forgejo", gitea::forgejo)
    },
    Integration {
        headers: &[gitea::GITEA_HEADER, gitea::FORGEJO_HEADER],
        events: gitea::EVENTS,
        url_options: &[BRANCHES],
        ..Integration::new(IntegrationName::Gitea, "Gitea", gitea::gitea)
    },
    Integration {
        headers: &[github::HEADER],
        events: github::EVENTS,
        url_options: &[BRANCHES, IGNORE_PRIVATE_REPOSITORIES],
        ..Integration::new(IntegrationName::Github, "GitHub", github::posts)
    },
    Integration {
        headers: &[gitlab::HEADER],
        events: gitlab::EVENTS,
        url_options: &[BRANCHES],
        ..Integration::new(IntegrationName::Gitlab, "GitLab", gitlab::posts)
    },
    Integration {
        events: grafana::EVENTS,
        ..Integration::new(IntegrationName::Grafana, "Grafana", grafana::grafana)
    },
    Integration {
        events: monitors::HEALTHCHECKS_EVENTS,
        ..Integration::new(IntegrationName::Healthchecks, "Healthchecks", monitors::healthchecks)
    },
    Integration::new(IntegrationName::Homeassistant, "HomeAssistant", plain::homeassistant).of_members(),
    Integration::new(IntegrationName::Ifttt, "IFTTT", plain::topic_and_content).of_members(),
    Integration::new(IntegrationName::Json, "JSON", plain::json).of_members(),
    Integration {
        events: monitors::PROXMOX_EVENTS,
        ..Integration::new(IntegrationName::Proxmox, "Proxmox", monitors::proxmox)
    },
    Integration {
        events: media::RADARR_EVENTS,
        ..Integration::new(IntegrationName::Radarr, "Radarr", media::radarr)
    },
    Integration {
        events: sentry::EVENTS,
        ..Integration::new(IntegrationName::Sentry, "Sentry", sentry::posts)
    },
    Integration::new(IntegrationName::SlackIncoming, "SlackIncoming", slack::posts).of_members(),
    Integration {
        events: media::SONARR_EVENTS,
        ..Integration::new(IntegrationName::Sonarr, "Sonarr", media::sonarr)
    },
    Integration {
        body: Body::Text,
        ..Integration::new(IntegrationName::Text, "Text", plain::text).of_members()
    },
    Integration {
        events: monitors::UPTIMEKUMA_EVENTS,
        ..Integration::new(IntegrationName::Uptimekuma, "UptimeKuma", monitors::uptimekuma)
    },
    Integration::new(IntegrationName::Zabbix, "Zabbix", monitors::zabbix),
    Integration::new(IntegrationName::Zapier, "Zapier", plain::topic_and_content).of_members(),
];

/// Finds an integration by its name in the address; `None` if there is none.
pub fn find(name: &str) -> Option<&'static Integration> {
    TABLE.iter().find(|integration| integration.name.as_str() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_a_row() {
        let names: Vec<IntegrationName> = TABLE.iter().map(|integration| integration.name).collect();
        assert_eq!(names, IntegrationName::ALL);
        assert!(names.is_sorted_by_key(|name| name.as_str()));
        assert!(find("nothing").is_none());
        assert_eq!(find("slack_incoming").unwrap().client(), "ZulipSlackIncomingWebhook");
    }
}
