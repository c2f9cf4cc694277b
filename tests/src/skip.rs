//! Reports skipped tests prominently.

use std::io::Write as _;

/// The environment variable with the path of the file that lists skipped tests, for `cargo xtask test`.
pub const SKIPPED_FILE: &str = "PLANESMITH_SKIPPED";

/// Records that `what` was skipped because of `reason`.
#[expect(clippy::print_stderr, reason = "a skipped test says so where the runner shows it")]
pub fn skip(what: &str, reason: &str) {
    eprintln!("SKIPPED {what}: {reason}");
    let Some(path) = std::env::var_os(SKIPPED_FILE) else {
        return;
    };
    let file = std::fs::File::options().create(true).append(true).open(path);
    // The reason is already printed; a failure here would hide it.
    let _ = file.and_then(|mut file| writeln!(file, "{what}: {reason}"));
}
