//! Telling loudly what could not be tested.

use std::io::Write as _;

/// Names the file to which every skipped test adds a line, for `cargo xtask test` to print.
pub const SKIPPED_FILE: &str = "PLANESMITH_SKIPPED";

/// Records that `what` was not tested because of `reason`.
#[expect(clippy::print_stderr, reason = "a skipped test says so where the runner shows it")]
pub fn skip(what: &str, reason: &str) {
    eprintln!("SKIPPED {what}: {reason}");
    let Some(path) = std::env::var_os(SKIPPED_FILE) else {
        return;
    };
    let file = std::fs::File::options().create(true).append(true).open(path);
    // The line above was printed; failing here would hide the reason behind another one.
    let _ = file.and_then(|mut file| writeln!(file, "{what}: {reason}"));
}
