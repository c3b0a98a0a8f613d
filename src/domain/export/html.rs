//! A static archive of channels: pages that open from a folder, with a search that needs no server.

use super::error::Result;
use super::folder::{Folder, Linked};
use super::page;
use super::page::ShownMessage;
use crate::domain::messages::record::attribute;
use crate::domain::messages::topic_sql;
use crate::domain::realm;
use crate::domain::rows::channel::StreamRow;
use crate::domain::search::text::index_text;
use crate::types::{StreamId, TopicId};
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

/// Messages of one page.
const PER_PAGE: usize = 200;

/// Messages of one file of search results.
const PER_SHARD: usize = 500;

/// The number of files of words. A word is in the file of its first character.
const WORD_SHARDS: u32 = 64;

/// The longest excerpt in search results, in characters.
const EXCERPT: usize = 200;

/// The longest word that is searched for, in characters.
const MAX_WORD: usize = 40;

/// Summary of a static archive.
#[derive(Clone, Debug, Serialize)]
pub struct HtmlReport {
    /// Number of channels.
    pub channels: usize,
    /// Number of messages.
    pub messages: usize,
    /// Number of uploaded files.
    pub files: usize,
}

/// A topic in the list of its channel.
struct Topic {
    name: String,
    messages: usize,
    newest: i64,
    page: String,
}

/// Writes the archive to a folder that must not exist.
pub fn write_html(connection: &Connection, channels: &[StreamRow], path: &Path) -> Result<HtmlReport> {
    let folder = Folder::begin(path)?;
    let mut archive = Archive {
        connection,
        linked: Linked::begin(&folder, connection)?,
        index: Index::default(),
        folder: &folder,
    };
    let mut listed = Vec::new();
    for channel in channels {
        let topics = archive.topics(channel)?;
        let messages: usize = topics.iter().map(|topic| topic.messages).sum();
        archive.write_channel(channel, &topics)?;
        listed.push((channel, topics.len(), messages));
    }
    let name = realm::settings::NAME.get(connection)?;
    let (files, messages) = (archive.linked.count(), archive.index.count);
    archive.index.finish(&folder)?;
    folder.write("search.js", include_bytes!("search.js"))?;
    let content = html! {
        h1 { (name) }
        p { (messages) " messages in " (channels.len()) " channels. Times are UTC." }
        form id="search" {
            label { "Search " input type="search" name="words" autocomplete="off"; } " "
            button { "Search" }
        }
        p id="found" role="status" {}
        div id="results" {}
        h2 { "Channels" }
        ul {
            @for (channel, topics, messages) in &listed {
                li {
                    a href=(format!("{}/index.html", folder_of(channel.stream_id))) dir="auto" { "#" (channel.name) }
                    " · " (topics) " topics · " (messages) " messages"
                    @if !channel.description.is_empty() { br; bdi { (channel.description) } }
                }
            }
        }
        script src="search.js" {}
    };
    folder.write("index.html", page::page_with_scripts(&name, content).as_bytes())?;
    folder.finish()?;
    Ok(HtmlReport { channels: channels.len(), messages, files })
}

fn folder_of(stream_id: StreamId) -> String {
    format!("channel-{stream_id}")
}

fn page_of(topic_id: TopicId, number: usize) -> String {
    format!("topic-{topic_id}-{number}.html")
}

/// An archive that is being written.
struct Archive<'a> {
    connection: &'a Connection,
    folder: &'a Folder,
    linked: Linked,
    index: Index,
}

impl Archive<'_> {
    /// Writes the topics of a channel and lists those with messages, the newest first.
    fn topics(&mut self, channel: &StreamRow) -> Result<Vec<Topic>> {
        let mut topics = Vec::new();
        for topic_id in topic_sql::topics_of(self.connection, channel.stream_id)? {
            topics.extend(self.topic(channel, topic_id)?);
        }
        topics.sort_by_key(|topic| std::cmp::Reverse(topic.newest));
        Ok(topics)
    }

    fn topic(&mut self, channel: &StreamRow, topic_id: TopicId) -> Result<Option<Topic>> {
        let name: Option<String> = self
            .connection
            .prepare_cached("SELECT subject FROM message WHERE topic_id = ?1 ORDER BY id DESC LIMIT 1")?
            .query_map([topic_id], |row| row.get(0))?
            .next()
            .transpose()?;
        let Some(name) = name.map(|name| if name.is_empty() { "general chat".to_owned() } else { name })
        else {
            return Ok(None);
        };
        let mut statement = self.connection.prepare_cached(
            "SELECT message.id, timestamp, full_name, content, rendered_content, attributes
             FROM message JOIN user ON user_id = sender_id WHERE topic_id = ?1 ORDER BY message.id",
        )?;
        let mut rows = statement.query([topic_id])?;
        let (mut count, mut newest, mut pages, mut shown) = (0, 0, 1, Vec::new());
        while let Some(row) = rows.next()? {
            if shown.len() == PER_PAGE {
                self.write_page(channel, &name, topic_id, pages, true, &mut shown)?;
                pages += 1;
            }
            let (id, timestamp): (i64, i64) = (row.get(0)?, row.get(1)?);
            let (sender, content): (String, String) = (row.get(2)?, row.get(3)?);
            if row.get::<_, i64>(5)? & attribute::HAS_ATTACHMENT != 0 {
                self.linked.add_of_message(self.folder, self.connection, id)?;
            }
            let html = page::detach(&row.get::<_, String>(4)?, |url| self.linked.address(url, "../"));
            let message = ShownMessage { id, sender: &sender, place: "", timestamp, html: &html };
            shown.push(page::message(&message));
            let address = format!("{}/{}#m{id}", folder_of(channel.stream_id), page_of(topic_id, pages));
            let place = format!("#{} > {name}", channel.name);
            self.index.add(self.folder, &address, &ShownMessage { place: &place, ..message }, &content)?;
            (count, newest) = (count + 1, timestamp);
        }
        self.write_page(channel, &name, topic_id, pages, false, &mut shown)?;
        Ok(Some(Topic { name, messages: count, newest, page: page_of(topic_id, 1) }))
    }

    fn write_page(
        &self,
        channel: &StreamRow,
        topic: &str,
        topic_id: TopicId,
        number: usize,
        has_next: bool,
        shown: &mut Vec<Markup>,
    ) -> Result<()> {
        let neighbours = html! {
            p {
                a href="../index.html" { "Channels" } " · " a href="index.html" dir="auto" { "#" (channel.name) }
                @if number > 1 { " · " a href=(page_of(topic_id, number - 1)) { "Earlier" } }
                @if has_next { " · " a href=(page_of(topic_id, number + 1)) { "Later" } }
            }
        };
        let content = html! {
            (neighbours)
            h1 dir="auto" { (topic) }
            @for message in shown.drain(..) { (message) }
            (neighbours)
        };
        let path = format!("{}/{}", folder_of(channel.stream_id), page_of(topic_id, number));
        self.folder.write(&path, page::page(topic, content).as_bytes())
    }

    fn write_channel(&self, channel: &StreamRow, topics: &[Topic]) -> Result<()> {
        let content = html! {
            p { a href="../index.html" { "Channels" } }
            h1 dir="auto" { "#" (channel.name) }
            p dir="auto" { (channel.description) }
            ul {
                @for topic in topics {
                    li {
                        a href=(topic.page) dir="auto" { (topic.name) }
                        " · " (topic.messages) " messages · " (page::time(topic.newest))
                    }
                }
            }
        };
        let path = format!("{}/index.html", folder_of(channel.stream_id));
        self.folder.write(&path, page::page(&channel.name, content).as_bytes())
    }
}

/// The search index: scripts, because pages of a folder may load those but no data. Each message has a number, in the order in
/// which pages are written, and a rank, by time. Files of words have the ranks by word, the file of the order has the numbers by
/// rank, and files of messages have what results show. Of scripts without spaces between words, pairs of characters are words.
#[derive(Default)]
struct Index {
    count: usize,
    /// The times of messages, and their numbers.
    times: Vec<(i64, u32)>,
    words: BTreeMap<String, Vec<u32>>,
    results: Vec<Value>,
}

impl Index {
    fn add(&mut self, folder: &Folder, address: &str, shown: &ShownMessage<'_>, content: &str) -> Result<()> {
        let ShownMessage { sender, place, timestamp, .. } = *shown;
        let number = self.count as u32;
        self.count += 1;
        self.times.push((timestamp, number));
        let text = format!("{sender} {place} {content}");
        let words: BTreeSet<String> = index_text(&text)
            .split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| word.to_lowercase().chars().take(MAX_WORD).collect())
            .collect();
        for word in words {
            self.words.entry(word).or_default().push(number);
        }
        let excerpt: String = content.chars().take(EXCERPT).collect();
        self.results.push(json!([address, sender, place, page::time(timestamp), excerpt]));
        if self.results.len() == PER_SHARD { self.write_results(folder) } else { Ok(()) }
    }

    fn write_results(&mut self, folder: &Folder) -> Result<()> {
        let shard = (self.count - 1) / PER_SHARD;
        let results = std::mem::take(&mut self.results);
        write_script(folder, &format!("search/messages-{shard}.js"), "messages", shard, &results)
    }

    fn finish(mut self, folder: &Folder) -> Result<()> {
        if !self.results.is_empty() {
            self.write_results(folder)?;
        }
        self.times.sort_unstable();
        let order: Vec<u32> = self.times.iter().map(|(_, number)| *number).collect();
        write_script(folder, "search/order-0.js", "order", 0, &order)?;
        let mut ranks = vec![0; order.len()];
        for (rank, number) in (0..).zip(order) {
            ranks[number as usize] = rank;
        }
        let mut shards: BTreeMap<u32, BTreeMap<String, Vec<u32>>> = BTreeMap::new();
        for (word, mut numbers) in self.words {
            for number in &mut numbers {
                *number = ranks[*number as usize];
            }
            let first = word.chars().next().map_or(0, u32::from);
            shards.entry(first % WORD_SHARDS).or_default().insert(word, numbers);
        }
        for shard in 0..WORD_SHARDS {
            let words = shards.remove(&shard).unwrap_or_default();
            write_script(folder, &format!("search/words-{shard}.js"), "words", shard as usize, &words)?;
        }
        Ok(())
    }
}

fn write_script(folder: &Folder, path: &str, kind: &str, shard: usize, data: &impl Serialize) -> Result<()> {
    let mut out = folder.create(path)?;
    write!(out, "loaded(\"{kind}-{shard}\", ")?;
    serde_json::to_writer(&mut out, data)?;
    out.write_all(b");\n")?;
    Ok(out.flush()?)
}
