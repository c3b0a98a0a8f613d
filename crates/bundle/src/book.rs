//! The book: its pages as HTML, in the order of its summary, and their images. A link that leads nowhere is an error of the build.

use crate::page::Bundle;
use crate::strip::{strip_script, strip_style};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// An entry of `SUMMARY.md`.
enum Entry {
    Part(String),
    Page { title: String, name: String },
}

/// A page without what surrounds it.
struct Page {
    html: String,
    ids: Vec<String>,
}

/// Writes the pages that `SUMMARY.md` in `docs` lists, with the template, styles and script in `theme`, and the images of
/// the pages. The first page is also the one without a name.
///
/// # Errors
/// Files that cannot be read, and links to pages, headings, images and other files that do not exist.
pub fn book(docs: &Path, theme: &Path) -> Result<Bundle> {
    let entries = summary(&read(docs, "SUMMARY.md")?);
    let mut pages = BTreeMap::new();
    for entry in &entries {
        if let Entry::Page { name, .. } = entry {
            pages.insert(name.as_str(), parse(&read(docs, &format!("{name}.md"))?));
        }
    }
    let template = read(theme, "page.html")?;
    let mut bundle = Bundle::new();
    let mut images = BTreeSet::new();
    for entry in &entries {
        let Entry::Page { title, name } = entry else { continue };
        let body = resolve_images(docs, name, &resolve_links(docs, name, &pages)?, &mut images)?;
        let page = template
            .replace("{title}", title)
            .replace("{contents}", &contents(&entries, name))
            .replace("{body}", &body);
        if bundle.is_empty() {
            bundle.push((String::new(), page.clone().into_bytes()));
        }
        bundle.push((name.clone(), page.into_bytes()));
    }
    bundle.push(("style.css".to_owned(), strip_style(&read(theme, "style.css")?).into_bytes()));
    bundle
        .push(("search.js".to_owned(), strip_script("search.js", &read(theme, "search.js")?)?.into_bytes()));
    for image in images {
        let path = docs.join(&image);
        let content = std::fs::read(&path).map_err(|error| unreadable(&path, error))?;
        bundle.push((image, content));
    }
    Ok(bundle)
}

fn read(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(name);
    std::fs::read_to_string(&path).map_err(|error| unreadable(&path, error))
}

fn unreadable(path: &Path, error: std::io::Error) -> Error {
    Error::Read { path: path.display().to_string(), error }
}

/// Reads a summary as mdBook has them: titles of parts, and links to pages.
fn summary(text: &str) -> Vec<Entry> {
    // The first heading is the title of the summary itself.
    let lines = text.lines().map(|line| line.trim_start_matches("- ").trim());
    let entries = lines.filter_map(|line| {
        if let Some(title) = line.strip_prefix("# ") {
            return Some(Entry::Part(title.to_owned()));
        }
        let (title, target) = line.strip_prefix('[')?.split_once("](")?;
        let name = target.strip_suffix(".md)")?.to_owned();
        Some(Entry::Page { title: title.to_owned(), name })
    });
    entries.skip(1).collect()
}

/// The list of all pages, in which the open one is marked.
fn contents(entries: &[Entry], open: &str) -> String {
    let mut out = String::new();
    for entry in entries {
        let _ = match entry {
            Entry::Part(title) => write!(out, "<h2>{title}</h2>"),
            Entry::Page { title, name } => {
                let mark = if name == open { " aria-current=\"page\"" } else { "" };
                write!(out, "<a href=\"/help/{name}\"{mark}>{title}</a>")
            }
        };
    }
    out
}

/// The HTML of a page, whose headings have ids. HTML in the text is escaped.
fn parse(text: &str) -> Page {
    let options = markdown::Options::gfm();
    // Markdown has no syntax errors, except in constructs that are off.
    let html = markdown::to_html_with_options(text, &options).unwrap_or_default();
    let mut page = Page { html: String::new(), ids: Vec::new() };
    for line in html.split_inclusive('\n') {
        let heading = ["<h2>", "<h3>"].into_iter().find(|tag| line.starts_with(tag));
        let Some(tag) = heading else {
            page.html.push_str(line);
            continue;
        };
        let id = id_of(line);
        let _ = write!(page.html, "{} id=\"{id}\">{}", tag.trim_end_matches('>'), &line[tag.len()..]);
        page.ids.push(id);
    }
    page
}

/// The id of a heading, as GitHub makes it from its text.
fn id_of(heading: &str) -> String {
    let mut id = String::new();
    let mut in_tag = false;
    for c in heading.trim().chars() {
        match c {
            '<' => in_tag = true,
            '>' => in_tag = false,
            _ if in_tag => {}
            ' ' => id.push('-'),
            _ if c.is_alphanumeric() || c == '-' || c == '_' => id.extend(c.to_lowercase()),
            _ => {}
        }
    }
    id
}

/// The HTML of a page with links between pages. Links to other files of the source lose their target: the book is read where
/// these files are not.
fn resolve_links(docs: &Path, name: &str, pages: &BTreeMap<&str, Page>) -> Result<String> {
    let mut parts = pages[name].html.split("<a href=\"");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (target, rest) = part.split_once('"').unwrap_or((part, ""));
        let failed = || Error::Link { page: format!("{name}.md"), target: target.to_owned() };
        let (file, id) = target.split_once('#').map_or((target, None), |(file, id)| (file, Some(id)));
        let other = file.strip_suffix(".md").and_then(|other| pages.get_key_value(other));
        let found = match other {
            _ if target.starts_with("https://") || target.starts_with("http://") => target.to_owned(),
            _ if file.is_empty() => {
                check_id(&pages[name], id).ok_or_else(failed)?;
                target.to_owned()
            }
            Some((other, page)) => {
                check_id(page, id).ok_or_else(failed)?;
                format!("/help/{other}{}", id.map_or_else(String::new, |id| format!("#{id}")))
            }
            None if file == "openapi.yaml" => "/api/openapi.yaml".to_owned(),
            None if docs.join(file).exists() => {
                let (text, after) = rest.trim_start_matches('>').split_once("</a>").ok_or_else(failed)?;
                let _ = write!(out, "{text}{after}");
                continue;
            }
            None => return Err(failed()),
        };
        let _ = write!(out, "<a href=\"{found}\"{rest}");
    }
    Ok(out)
}

/// The HTML of a page whose images have the paths at which they are served. Adds the images to the set.
fn resolve_images(docs: &Path, name: &str, html: &str, images: &mut BTreeSet<String>) -> Result<String> {
    let mut parts = html.split("<img src=\"");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let target = part.split('"').next().unwrap_or_default();
        if !docs.join(target).is_file() {
            return Err(Error::Link { page: format!("{name}.md"), target: target.to_owned() });
        }
        images.insert(target.to_owned());
        let _ = write!(out, "<img src=\"/help/{part}");
    }
    Ok(out)
}

fn check_id(page: &Page, id: Option<&str>) -> Option<()> {
    id.is_none_or(|id| page.ids.iter().any(|known| known == id)).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a book of two pages, of which the first has this text, and these images. Returns the first page.
    fn write(text: &str, images: &[&str]) -> Result<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("images")).unwrap();
        let files = [
            ("SUMMARY.md", "# Book\n\n[One](one.md)\n\n# Part\n- [Two](two.md)\n"),
            ("one.md", text),
            ("two.md", "# Two\n\n## A `code` heading, with *signs*!\n"),
            ("other.md", ""),
            ("page.html", "<title>{title}</title>{contents}<main>{body}</main>"),
            ("style.css", "body { margin: 0; }"),
            ("search.js", "const a = 1;\n"),
            ("images/one.webp", "one"),
            ("images/two.webp", "two"),
        ];
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let bundle = book(folder.path(), folder.path())?;
        let names: Vec<_> = bundle.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[..5], ["", "one", "two", "style.css", "search.js"]);
        assert_eq!(names[5..], *images);
        assert_eq!(bundle[0].1, bundle[1].1, "the first page is the start");
        Ok(String::from_utf8(bundle[0].1.clone()).unwrap())
    }

    #[test]
    fn pages_have_contents_and_links() {
        let page = write(
            "# One\n\nSee [two](two.md#a-code-heading-with-signs) and [this](other.md), <b>not HTML</b>.\n",
            &[],
        )
        .unwrap();
        for expected in [
            "<title>One</title>",
            "<a href=\"/help/one\" aria-current=\"page\">One</a><h2>Part</h2><a href=\"/help/two\">Two</a>",
            "<a href=\"/help/two#a-code-heading-with-signs\">two</a>",
            "and this,",
            "&lt;b&gt;not HTML",
        ] {
            assert!(page.contains(expected), "{expected} in {page}");
        }
    }

    #[test]
    fn images_of_pages_are_in_the_book() {
        let text = "![Two & a half](images/two.webp)\n\n![Again](images/two.webp)\n";
        let page = write(text, &["images/two.webp"]).unwrap();
        assert!(page.contains("<img src=\"/help/images/two.webp\" alt=\"Two &amp; a half\" />"), "{page}");
    }

    #[test]
    fn links_that_lead_nowhere_are_errors() {
        for link in [
            "[a](three.md)",
            "[a](two.md#no-heading)",
            "[a](#no-heading)",
            "[a](images/none.webp)",
            "![a](images/none.webp)",
            "![a](images)",
            "![a](https://example.com/a.webp)",
        ] {
            let error = write(link, &[]).unwrap_err().to_string();
            let target = link.split(['(', ')']).nth(1).unwrap();
            assert_eq!(error, format!("one.md has a link that leads nowhere: {target}"));
        }
    }
}
