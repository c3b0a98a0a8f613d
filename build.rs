//! Links the program with packed relocations: of a position-independent binary of this kind they are one part in twenty.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Linux alone has the format (glibc 2.36 and musl 1.2.4 read it).
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}
