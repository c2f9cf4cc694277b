//! Tells the crate which compiler builds it, for `/version` and the log.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(compiler).arg("--version").output().ok();
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok());
    // `rustc 1.92.0 (ded5c06cf 2025-12-08)`: the first two words.
    let words: Vec<&str> = version.as_deref().unwrap_or("rustc").split(' ').take(2).collect();
    println!("cargo:rustc-env=PLANESMITH_RUSTC={}", words.join(" ").trim());
}
