//! The page: the files that it names, and the names of the joined ones in their place.

use crate::modules::Modules;
use crate::strip::{strip_script, strip_style};
use crate::{Error, Result};
use std::fmt::Write;
use std::path::Path;

/// The folder of all files that are named, as it is written in the page.
const STATIC: &str = "/static/HASH/";

/// The file of what is loaded on demand.
const LATER: &str = "later.js";

/// The file of all styles.
const STYLES: &str = "styles.css";

/// Files for the server, by their paths.
pub type Bundle = Vec<(String, Vec<u8>)>;

/// Joins the modules and styles that `index.html` names, and adds the other files of the folder: scripts of their own,
/// icons, and data in folders.
///
/// # Errors
/// Files that cannot be read, and constructs that are not supported.
pub fn bundle(folder: &Path) -> Result<Bundle> {
    let page = read(folder, "index.html")?;
    let entries: Vec<String> = page.lines().filter_map(|line| script(line.trim())).collect();
    let modules = Modules::read(folder, &entries)?;
    let chunks = modules.chunks(&entries, LATER)?;
    let mut bundle: Bundle = chunks
        .iter()
        .zip(modules.write(&chunks))
        .map(|(chunk, text)| (chunk.name.clone(), text.into_bytes()))
        .collect();
    let mut styles = String::new();
    for path in page.lines().filter_map(|line| style(line.trim())) {
        let style = strip_style(&read(folder, &path)?);
        if style.contains("url(") || style.contains("@import") || style.contains("@charset") {
            return Err(Error::Source {
                path,
                line: 1,
                reason: "a style that names other files cannot be joined",
            });
        }
        styles.push_str(&style);
    }
    bundle.push((STYLES.to_owned(), styles.into_bytes()));
    bundle.push(("index.html".to_owned(), joined_page(&page).into_bytes()));
    add_others(folder, "", &mut bundle)?;
    Ok(bundle)
}

fn read(folder: &Path, path: &str) -> Result<String> {
    std::fs::read_to_string(folder.join(path)).map_err(|error| Error::Read { path: path.to_owned(), error })
}

/// The path of a file that the element of a line names.
fn target(line: &str, attribute: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("{attribute}=\"{STATIC}"))?;
    Some(rest.split_once('"')?.0.to_owned())
}

/// The path of the style sheet that a line names.
fn style(line: &str) -> Option<String> {
    target(line, "href").filter(|_| line.starts_with("<link rel=\"stylesheet\""))
}

/// The path of the script that a line names. One that is loaded on demand comes behind those of the start.
fn script(line: &str) -> Option<String> {
    if line.starts_with("<script type=\"module\"") {
        target(line, "src")
    } else {
        target(line, "href").filter(|_| line.starts_with("<link rel=\"later\""))
    }
}

/// The page with the names of the joined files, without indentation and comments that take a line.
fn joined_page(page: &str) -> String {
    let mut out = String::new();
    let mut has_styles = false;
    for line in page.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("<!--")) {
        if style(line).is_some() {
            if !has_styles {
                let _ = writeln!(out, "<link rel=\"stylesheet\" href=\"{STATIC}{STYLES}\">");
                // The service worker keeps it with the rest.
                let _ = writeln!(out, "<link rel=\"later\" href=\"{STATIC}{LATER}\">");
            }
            has_styles = true;
        } else if let Some(path) = script(line) {
            let name = path.rsplit('/').next().unwrap_or(&path);
            let _ = writeln!(out, "{}", line.replace(&path, name));
        } else {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// Adds files that are not joined.
fn add_others(folder: &Path, below: &str, bundle: &mut Bundle) -> Result<()> {
    let here = folder.join(below);
    let failed = |error| Error::Read { path: here.display().to_string(), error };
    for entry in std::fs::read_dir(&here).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        if entry.file_type().map_err(failed)?.is_dir() {
            if !["js", "css", "help", "types"].contains(&path.as_str()) {
                add_others(folder, &path, bundle)?;
            }
            continue;
        }
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("js") => {
                let script = strip_script(&path, &read(folder, &path)?)?;
                bundle.push((path, script.into_bytes()));
            }
            Some("json") if below.is_empty() => {}
            Some("json" | "svg" | "png") => {
                let content = std::fs::read(folder.join(&path))
                    .map_err(|error| Error::Read { path: path.clone(), error })?;
                bundle.push((path, content));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_becomes_few_files_that_cannot_be_stripped_further() {
        let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
        let bundle = bundle(&web).unwrap();
        let names: Vec<_> = bundle.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names.first_chunk(),
            Some(&["early.js", "main.js", "overviews.js", "later.js", "styles.css", "index.html"])
        );
        for other in ["service_worker.js", "icon.svg", "icon.png", "words/de.json"] {
            assert!(names.contains(&other), "{other} is missing: {names:?}");
        }
        for (name, content) in bundle.iter().take(4) {
            let text = std::str::from_utf8(content).unwrap();
            assert_eq!(strip_script(name, text).unwrap().len(), text.trim_end().len(), "{name}");
        }
    }

    #[test]
    fn a_page_names_its_joined_files() {
        let page = "<html>\n  <!-- A comment. -->\n  <link rel=\"stylesheet\" href=\"/static/HASH/css/a.css\">\n  \
                    <link rel=\"stylesheet\" href=\"/static/HASH/css/b.css\">\n  \
                    <script type=\"module\" src=\"/static/HASH/js/main.js\"></script>\n  \
                    <link rel=\"later\" href=\"/static/HASH/js/views/list.js\">\n</html>\n";
        let expected = "<html>\n<link rel=\"stylesheet\" href=\"/static/HASH/styles.css\">\n\
                        <link rel=\"later\" href=\"/static/HASH/later.js\">\n\
                        <script type=\"module\" src=\"/static/HASH/main.js\"></script>\n\
                        <link rel=\"later\" href=\"/static/HASH/list.js\">\n</html>\n";
        assert_eq!(joined_page(page), expected);
    }

    #[test]
    fn a_script_that_the_page_names_for_later_is_a_file_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("js")).unwrap();
        let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
        let start = "<script type=\"module\" src=\"/static/HASH/js/main.js\"></script>";
        write("index.html", &format!("{start}\n<link rel=\"later\" href=\"/static/HASH/js/list.js\">\n"));
        write("js/main.js", "import(\"./list.js\");\nimport(\"./other.js\");\n");
        write("js/list.js", "export const list = 1;\n");
        write("js/other.js", "export const other = 2;\n");
        let bundle = bundle(folder.path()).unwrap();
        let texts: Vec<_> = bundle
            .iter()
            .take(3)
            .map(|(name, text)| (name.as_str(), std::str::from_utf8(text).unwrap()))
            .collect();
        assert_eq!(texts[1], ("list.js", "const $1=(()=>{const list=1;return{list}})();export{$1};"));
        assert_eq!(texts[2], ("later.js", "const $2=(()=>{const other=2;return{other}})();export{$2};"));
        let (_, main) = texts[0];
        for part in [
            "import(\"./list.js\"+",
            "$4().then(($)=>$.$1)",
            "import(\"./later.js\"+",
            "$5().then(($)=>$.$2)",
        ] {
            assert!(main.contains(part), "{part} in {main}");
        }
    }

    #[test]
    fn styles_that_name_files_and_missing_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
        write("index.html", "<link rel=\"stylesheet\" href=\"/static/HASH/a.css\">\n");
        let refusal = || bundle(folder.path()).unwrap_err().to_string();
        assert_eq!(refusal(), "a.css: No such file or directory (os error 2)");
        write("a.css", "a { background: url(b.png) }");
        assert_eq!(refusal(), "a.css:1: a style that names other files cannot be joined");
    }
}
