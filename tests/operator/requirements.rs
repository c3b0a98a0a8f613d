//! Programs that some tests run, and that a machine with Rust and a C compiler may lack.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The path of a program; `None` if the machine lacks it, which standard error then says. In CI it has to be there.
///
/// `aiosmtpd` is the Python that has this package. The package of `age-keygen` is `age`.
pub fn program_or_skip(name: &str) -> Option<PathBuf> {
    let is_package = name == "aiosmtpd";
    let found = if is_package { python_with_aiosmtpd() } else { find(name) };
    if found.is_none() {
        let package = format!("apt-get install {}", name.trim_end_matches("-keygen"));
        let remedy = if is_package { "tests/clients/run install" } else { package.as_str() };
        let message = format!("{name} is missing (on Debian: {remedy})");
        assert!(std::env::var_os("CI").is_none(), "{message}");
        // Past the output that a passing test does not show.
        let mut output = std::io::stderr();
        writeln!(output, "a test is skipped: {message}").unwrap();
    }
    found
}

/// Finds a program of the system. Servers are where a user without privileges does not look.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn python_with_aiosmtpd() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Some(root.join(target).join("clients/mail/bin/python")).filter(|path| path.exists())
}

#[test]
fn a_program_is_found_by_its_name() {
    assert!(program_or_skip("sh").is_some_and(|path| path.ends_with("sh")));
    assert_eq!(find("no-such-program"), None);
}
