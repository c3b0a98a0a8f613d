//! The layer below SQLite that fails (`shim.c`), compiled with the system's C compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the layer into a directory.
pub fn compile_shim(folder: &Path) -> PathBuf {
    let shim = folder.join("shim.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/durability/shim.c");
    // It is loaded into the server.
    let width: &[&str] = if cfg!(target_arch = "x86") { &["-m32"] } else { &[] };
    let compiled = Command::new("cc")
        .args(width)
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&shim, &source])
        .status()
        .expect("there is a C compiler, as for SQLite itself");
    assert!(compiled.success());
    shim
}

/// The variables with which a program runs above the layer, which changes this file as the control says.
pub fn variables<'p>(shim: &'p Path, file: &'p Path, control: &'p Path) -> [(&'static str, &'p Path); 3] {
    [("LD_PRELOAD", shim), ("SHIM_DATABASE", file), ("SHIM_CONTROL", control)]
}
