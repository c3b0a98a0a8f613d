//! Joins and compresses the files of the web client, writes the pages of the book, and compresses the API description for
//! releases.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// Placeholder of the hash in the files.
const HASH_PLACEHOLDER: &str = "/static/HASH/";

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    if env::var("CARGO_CFG_TARGET_OS")? == "linux" {
        if env::var("CARGO_CFG_TARGET_ENV")? == "gnu" {
            // Takes a megabyte off the program. Linkers that do not know it say so, and link as before.
            println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        }
        if env::var("PROFILE")? == "release" {
            // Functions that run at the start are side by side: see packaging/startup.py.
            let script = root.join("packaging/startup.ld");
            println!("cargo::rerun-if-changed={}", script.display());
            println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", script.display());
        }
    }
    println!("cargo::rerun-if-changed=web");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut files = teamchat_bundle::bundle(&root.join("web"))?;
    files.sort();
    // A cache key. Equal files have equal hashes, and different ones do not by chance.
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    let hash = format!("{:016x}", hasher.finish());
    // Builds for development are to be quick.
    let is_small = env::var("OPT_LEVEL")? != "0";
    let mut table = format!("/// The hash of all files.\npub const HASH: &str = \"{hash}\";\n");
    table.push_str("/// The files, by path.\npub const FILES: &[File] = &[\n");
    for (index, (path, mut content)) in files.into_iter().enumerate() {
        if let Some(text) = std::str::from_utf8(&content).ok().filter(|text| text.contains(HASH_PLACEHOLDER))
        {
            content = text.replace(HASH_PLACEHOLDER, &format!("/static/{hash}/")).into_bytes();
        }
        let _ = write!(table, "    File {{ path: {path:?}");
        let versions = if matches!(path.rsplit_once('.'), Some((_, "png"))) {
            vec![("plain", content)]
        } else {
            let packed = teamchat_bundle::compress(&content, is_small)?;
            vec![("gzip", packed.gzip), ("brotli", packed.brotli)]
        };
        for name in ["plain", "gzip", "brotli"] {
            let Some((_, content)) = versions.iter().find(|(version, _)| *version == name) else {
                let _ = write!(table, ", {name}: None");
                continue;
            };
            let file = out.join(format!("web_{index}.{name}"));
            fs::write(&file, content)?;
            let included = file.to_str().ok_or("OUT_DIR is not UTF-8")?;
            let _ = write!(table, ", {name}: Some(include_bytes!({included:?}))");
        }
        table.push_str(" },\n");
    }
    table.push_str("];\n");
    fs::write(out.join("web_files.rs"), table)?;
    write_book(&out, is_small)?;
    write_description(&root.join("docs/openapi.yaml"), &out, is_small)
}

/// Writes the constants of the API description. Only a release includes the file: others read it when it is asked for, so
/// that they are not built again each time that a test writes it.
fn write_description(file: &Path, out: &Path, is_small: bool) -> Result<(), Box<dyn Error>> {
    let (mut path, mut included) = (file.to_str().ok_or("the path is not UTF-8")?, "None".to_owned());
    if env::var("PROFILE")? == "release" {
        println!("cargo::rerun-if-changed={path}");
        let packed = out.join("openapi.gzip");
        fs::write(&packed, teamchat_bundle::compress(&fs::read(file)?, is_small)?.gzip)?;
        included = format!("Some(include_bytes!({:?}))", packed.to_str().ok_or("OUT_DIR is not UTF-8")?);
        path = "";
    }
    let constants = format!(
        "/// The included file, compressed with gzip.\nconst INCLUDED: Option<&[u8]> = {included};\n\
         /// Path of the file, if it is not included.\nconst FILE: &str = {path:?};\n"
    );
    Ok(fs::write(out.join("description.rs"), constants)?)
}

/// Writes the table of the pages and images of help: the book in `docs`.
fn write_book(out: &Path, is_small: bool) -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    println!("cargo::rerun-if-changed=docs/images");
    for entry in fs::read_dir(root.join("docs"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "md") {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let mut table =
        "/// The files, compressed with gzip, by path.\nconst FILES: &[(&str, &[u8])] = &[\n".to_owned();
    for (index, (path, content)) in
        teamchat_bundle::book(&root.join("docs"), &root.join("web/help"))?.into_iter().enumerate()
    {
        let file = out.join(format!("help_{index}.gzip"));
        fs::write(&file, teamchat_bundle::compress(&content, is_small)?.gzip)?;
        let included = file.to_str().ok_or("OUT_DIR is not UTF-8")?;
        let _ = writeln!(table, "    ({path:?}, include_bytes!({included:?})),");
    }
    table.push_str("];\n");
    fs::write(out.join("help_files.rs"), table)?;
    Ok(())
}
