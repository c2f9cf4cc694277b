//! Linker arguments that make a release build smaller.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // There the compiler links with its own lld; other linkers do not know the arguments.
    let is_lld = is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu");
    if !is("PROFILE", "release") || !is_lld {
        return;
    }
    // One copy of functions with the same code.
    println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    // The profile `small` also has its relocations compressed, 40 to one. Loaders read them from glibc 2.36 on.
    if is("OPT_LEVEL", "z") && glibc().is_some_and(|version| version >= (2, 36)) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

fn is(name: &str, value: &str) -> bool {
    env::var(name).is_ok_and(|found| found == value)
}

/// The version of this machine's C library.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
