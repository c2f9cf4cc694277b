//! Lets the linker of a release build keep one copy of functions with the same code.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // There the compiler links with its own lld; other linkers do not know the argument.
    let is_lld = is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is("PROFILE", "release") && is_lld {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
}
