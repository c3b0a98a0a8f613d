//! Links to the address of the old server.

use std::collections::{BTreeMap, BTreeSet};
use teamchat_markdown::OpenFences;

/// The most other hosts whose links are counted.
const MAX_OTHERS: usize = 20;

/// The addresses of the old server, and the new one.
#[derive(Debug, Default)]
pub struct OldAddress {
    /// Hosts, with their ports.
    hosts: BTreeSet<String>,
    /// Hosts of links to files of the archive. Anyone could write such a link to any host, so only links to files and conversations
    /// are rewritten.
    found: BTreeSet<String>,
    /// Other hosts that links to conversations lead to, with the number of these links.
    others: BTreeMap<String, u64>,
    /// The address of the new server: scheme and host. Without it links become relative.
    new: Option<String>,
}

impl OldAddress {
    /// Rewrites links to these addresses.
    pub fn new(old: &[String], new: Option<String>) -> Self {
        let host = |url: &String| {
            let host = url.split_once("://").map_or(url.as_str(), |(_, host)| host);
            host.split('/').next().unwrap_or_default().to_lowercase()
        };
        let new = new.map(|url| url.trim_end_matches('/').to_owned());
        let hosts = old.iter().map(host).filter(|host| !host.is_empty()).collect();
        Self { hosts, new, ..Self::default() }
    }

    /// The address of the new server; empty if it is not known.
    pub fn origin(&self) -> &str {
        self.new.as_deref().unwrap_or_default()
    }

    /// Other hosts that links to conversations of rewritten texts lead to, with the number of these links.
    pub const fn others(&self) -> &BTreeMap<String, u64> {
        &self.others
    }

    /// Adds the domains of placeholder emails, which are those of the server.
    pub fn detect<'a>(&mut self, domains: impl Iterator<Item = &'a String>) {
        self.hosts.extend(domains.cloned());
    }

    /// Adds the hosts of links to uploads for which `is_known` returns true for the path id.
    pub fn detect_in<E>(&mut self, text: &str, is_known: impl Fn(&str) -> Result<bool, E>) -> Result<(), E> {
        for (host, path_id) in text.split("://").skip(1).filter_map(|url| url.split_once("/user_uploads/")) {
            let host = host.to_lowercase();
            let end = path_id.find(|c: char| !c.is_alphanumeric() && !"/_.-".contains(c));
            let path_id = &path_id[..end.unwrap_or(path_id.len())];
            // Punctuation at the end of a sentence is not of the link.
            let path_id = path_id.trim_end_matches('.');
            let is_new = !self.hosts.contains(&host) && !self.found.contains(&host);
            if is_new && is_host(&host) && is_known(path_id)? {
                self.found.insert(host);
            }
        }
        Ok(())
    }

    /// Rewrites the links of a text; `None` if it has none. Code stays as it is.
    pub fn rewrite(&mut self, text: &str) -> Option<String> {
        if !text.contains("://") {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut changed = false;
        let (mut fences, mut in_code) = (OpenFences::default(), false);
        for line in text.split_inclusive('\n') {
            if fences.is_text(line.trim_end_matches(['\r', '\n'])) {
                changed |= self.rewrite_line(line, &mut in_code, &mut out);
            } else {
                in_code = false;
                out.push_str(line);
            }
        }
        changed.then_some(out)
    }

    fn rewrite_line(&mut self, line: &str, in_code: &mut bool, out: &mut String) -> bool {
        let has_odd_ticks = |text: &str| text.matches('`').count() % 2 == 1;
        let (mut rest, mut changed) = (line, false);
        while let Some(at) = find_url(rest) {
            let before = &rest[..at];
            out.push_str(before);
            *in_code ^= has_odd_ticks(before);
            let url = &rest[at..];
            let length = url.find(|c: char| c.is_whitespace() || "<>\"`".contains(c)).unwrap_or(url.len());
            let in_link = out.ends_with("](") || out.ends_with("](<");
            let length = if in_link { url[..length].find(')').unwrap_or(length) } else { length };
            let host_at = url.find("://").map_or(0, |at| at + 3);
            let host_end = url[host_at..length].find(['/', '#', '?']).map_or(length, |end| host_at + end);
            let host = url[host_at..host_end].to_lowercase();
            let path = url[host_end..length].trim_start_matches('/');
            let is_conversation = path.starts_with("#narrow/");
            let may_be_found = is_conversation || path.starts_with("user_uploads/");
            if *in_code || !(self.hosts.contains(&host) || may_be_found && self.found.contains(&host)) {
                if !*in_code && is_conversation {
                    self.add_other(host);
                }
                out.push_str(&url[..length]);
            } else {
                changed = true;
                let path = &url[host_end..length];
                let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
                match &self.new {
                    Some(new) => {
                        out.push_str(new);
                        out.push_str(&path);
                    }
                    None if in_link => out.push_str(&path),
                    None => {
                        // Punctuation at the end of a sentence is not of the link.
                        let end = path.trim_end_matches(['.', ',', ')', ';', ':', '!', '?']).len().max(1);
                        let (path, after) = path.split_at(end);
                        let shown = path.replace(['[', ']', '(', ')', '*', '_', '~'], "");
                        out.extend(["[", &shown, "](", path, ")", after]);
                    }
                }
            }
            rest = &url[length..];
        }
        out.push_str(rest);
        *in_code ^= has_odd_ticks(rest);
        changed
    }

    fn add_other(&mut self, host: String) {
        if is_host(&host) && (self.others.len() < MAX_OTHERS || self.others.contains_key(&host)) {
            *self.others.entry(host).or_default() += 1;
        }
    }
}

/// True for the name or number of a host, with a port or without.
fn is_host(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || ".-:[]".contains(c))
}

/// The place of the first address in a text.
fn find_url(text: &str) -> Option<usize> {
    let mut places = text.match_indices("http").map(|(at, _)| at);
    places.find(|at| ["http://", "https://"].iter().any(|scheme| text[*at..].starts_with(scheme)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_the_old_server_lead_to_the_new_one() {
        let old = ["https://chat.old.example".to_owned()];
        let mut relative = OldAddress::new(&old, None);
        let mut absolute = OldAddress::new(&old, Some("https://new.example/".to_owned()));
        let cases = [
            (
                "see [it](https://chat.old.example/#narrow/channel/5-x/topic/y/near/7).",
                "see [it](/#narrow/channel/5-x/topic/y/near/7).",
                "see [it](https://new.example/#narrow/channel/5-x/topic/y/near/7).",
            ),
            (
                "at https://chat.old.example/#narrow/dm/7, now",
                "at [/#narrow/dm/7](/#narrow/dm/7), now",
                "at https://new.example/#narrow/dm/7, now",
            ),
            (
                "<http://CHAT.old.example/user_uploads/2/a/b.png>",
                "<[/useruploads/2/a/b.png](/user_uploads/2/a/b.png)>",
                "<https://new.example/user_uploads/2/a/b.png>",
            ),
            (
                "````quote\n```\nhttps://chat.old.example/\n```\n[it](https://chat.old.example/#narrow/dm/7)\n````",
                "````quote\n```\nhttps://chat.old.example/\n```\n[it](/#narrow/dm/7)\n````",
                "````quote\n```\nhttps://chat.old.example/\n```\n[it](https://new.example/#narrow/dm/7)\n````",
            ),
            (
                "a `b\n```quote\n[it](https://chat.old.example/#narrow/dm/7)\n```",
                "a `b\n```quote\n[it](/#narrow/dm/7)\n```",
                "a `b\n```quote\n[it](https://new.example/#narrow/dm/7)\n```",
            ),
            (
                "```ls``` in\n[it](https://chat.old.example/#narrow/dm/7)",
                "```ls``` in\n[it](/#narrow/dm/7)",
                "```ls``` in\n[it](https://new.example/#narrow/dm/7)",
            ),
        ];
        for (text, to_relative, to_absolute) in cases {
            assert_eq!(relative.rewrite(text).as_deref(), Some(to_relative), "{text}");
            assert_eq!(absolute.rewrite(text).as_deref(), Some(to_absolute), "{text}");
        }
        for text in [
            "https://chat.old.example.org/",
            "`https://chat.old.example/`",
            "```\nhttps://chat.old.example/\n```\nhttps://other.example/",
            "````\n```\nhttps://chat.old.example/\n```\n````",
            "no link",
        ] {
            assert_eq!(relative.rewrite(text), None, "{text}");
        }
    }
}
