//! Subjects of emails, and the sentence that says why an email was sent.

use crate::domain::messages::markup::enumerated;
use crate::domain::notifications::Trigger;
use crate::types::{Language, Topic, fill};

/// The subject of an email.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Messages of one topic.
    Topic {
        /// The name of the channel.
        channel: String,
        /// Resolved or not; an empty one is shown as "general chat".
        topic: Topic,
    },
    /// A direct conversation with this sender.
    Direct(String),
    /// A direct conversation with these others.
    Group(Vec<String>),
    /// Texts and names are not shown.
    Hidden,
}

impl Subject {
    /// Writes it. A resolved topic keeps its place in threads: mail programs ignore the bracketed prefix.
    pub fn write(&self, language: Language) -> String {
        match self {
            Self::Topic { channel, topic } => {
                let name = topic.as_str();
                let name = name.strip_prefix(Topic::RESOLVED_PREFIX).unwrap_or(name);
                let name = if name.is_empty() { language.t("general chat") } else { name };
                let subject = format!("#{channel} > {name}");
                if topic.is_resolved() { format!("{} {subject}", language.t("[resolved]")) } else { subject }
            }
            Self::Direct(sender) => fill(language.t("DMs with {sender}"), &[("sender", sender)]),
            Self::Group(names) => {
                fill(language.t("Group DMs with {names}"), &[("names", &listed(names, language))])
            }
            Self::Hidden => language.t("New messages").to_owned(),
        }
    }
}

/// The names of a group: three at most, or two and the number of the others.
fn listed(names: &[String], language: Language) -> String {
    match names {
        [one, two, rest @ ..] if rest.len() > 1 => {
            let count = rest.len().to_string();
            let parameters = [("one", one.as_str()), ("two", two.as_str()), ("count", count.as_str())];
            fill(language.t("{one}, {two}, and {count} others"), &parameters)
        }
        few => enumerated(language, few),
    }
}

/// The mentioned user or group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mentioned {
    /// The reader by name.
    User,
    /// A group of the reader, by its name.
    Group(String),
}

/// Why an email was sent.
#[derive(Clone, Copy, Debug)]
pub struct Reason<'a> {
    /// The first that applies to its messages.
    pub trigger: Trigger,
    /// The mentioned user or group, if that is the reason.
    pub mentioned: &'a Mentioned,
    /// The subject, which has the channel.
    pub subject: &'a Subject,
}

impl Reason<'_> {
    /// Writes it. There is none for direct messages, and none where names are hidden.
    pub fn write(self, language: Language) -> Option<String> {
        let Subject::Topic { channel, .. } = self.subject else { return None };
        let text = match (self.trigger, self.mentioned) {
            (Trigger::DirectMessage, _) => return None,
            (Trigger::Mention, Mentioned::User) => {
                language.t("You get this email because you were mentioned.")
            }
            (Trigger::Mention, Mentioned::Group(group)) => {
                let text = language.t("You get this email because the group {group} was mentioned.");
                return Some(fill(text, &[("group", &format!("@{group}"))]));
            }
            (Trigger::TopicWildcardInFollowedTopic | Trigger::ChannelWildcardInFollowedTopic, _) => {
                language.t("You get this email because everyone was mentioned in a topic that you follow.")
            }
            (Trigger::TopicWildcard, _) => {
                language.t("You get this email because all participants of the topic were mentioned.")
            }
            (Trigger::ChannelWildcard, _) => {
                language.t("You get this email because everyone in {channel} was mentioned.")
            }
            (Trigger::FollowedTopic, _) => language.t("You get this email because you follow the topic."),
            (Trigger::Channel, _) => {
                language.t("You get this email because you chose email for all messages in {channel}.")
            }
        };
        Some(fill(text, &[("channel", &format!("#{channel}"))]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_name_the_conversation() {
        let topic = |name: &str| Subject::Topic {
            channel: "general".to_owned(),
            topic: Topic::stored(name.to_owned()),
        };
        let group = |names: &[&str]| Subject::Group(names.iter().map(ToString::to_string).collect());
        let cases = [
            (topic("lunch"), "#general > lunch"),
            (topic("✔ lunch"), "[resolved] #general > lunch"),
            (topic(""), "#general > general chat"),
            (Subject::Direct("Bob".to_owned()), "DMs with Bob"),
            (group(&["A", "B"]), "Group DMs with A and B"),
            (group(&["A", "B", "C"]), "Group DMs with A, B, and C"),
            (group(&["A", "B", "C", "D"]), "Group DMs with A, B, and 2 others"),
            (Subject::Hidden, "New messages"),
        ];
        for (subject, expected) in cases {
            assert_eq!(subject.write(Language::English), expected);
        }
    }
}
