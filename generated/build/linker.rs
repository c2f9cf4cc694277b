//! Arguments of the linker that make a release build smaller.

use std::env;
use std::path::Path;
use std::process::Command;

/// Prints them for the programs of the package.
pub(crate) fn set_arguments() {
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    if !is("PROFILE", "release") || !is("TARGET", "x86_64-unknown-linux-gnu") || !is_lld() {
        return;
    }
    // Functions with the same code exist once. Nothing compares their addresses; tables are compared, and are not merged.
    println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    // Relocations are compressed, 40 to one. Loaders read them from glibc 2.36 on.
    if glibc().is_some_and(|version| version >= (2, 36)) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// True if the linker is the toolchain's own, LLD: others do not know the arguments.
fn is_lld() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if env::var_os("RUSTC_LINKER").is_some() || flags.contains("link") {
        return false;
    }
    let Some(root) = env::var("RUSTC")
        .ok()
        .and_then(|rustc| output(&rustc, &["--print", "sysroot"]))
    else {
        return false;
    };
    // Toolchains of distributions do not have it, and use the linker of the system.
    Path::new(&root)
        .join("lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld/ld.lld")
        .exists()
}

/// The version of this machine's C library.
fn glibc() -> Option<(u32, u32)> {
    let text = output("getconf", &["GNU_LIBC_VERSION"])?;
    let (major, minor) = text.strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned())
}

fn is(name: &str, value: &str) -> bool {
    env::var(name).is_ok_and(|found| found == value)
}
