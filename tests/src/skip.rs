//! Telling loudly what could not be tested.

use std::io::Write as _;

/// Names the file to which every skipped test adds a line, for `cargo xtask test` to print.
pub const SKIPPED_FILE: &str = "PLANESMITH_SKIPPED";

/// Set to make every skip a failure, where everything is known to be installed.
pub const REQUIRE_ALL: &str = "PLANESMITH_REQUIRE_ALL";

/// Records that `what` was not tested because of `reason`.
///
/// # Panics
///
/// When [`REQUIRE_ALL`] is set: there a skip is a failure.
#[expect(clippy::print_stderr, reason = "a skipped test says so where the runner shows it")]
pub fn skip(what: &str, reason: &str) {
    assert!(
        std::env::var_os(REQUIRE_ALL).is_none(),
        "{what} cannot be skipped here: {reason}"
    );
    eprintln!("SKIPPED {what}: {reason}");
    let Some(path) = std::env::var_os(SKIPPED_FILE) else {
        return;
    };
    let file = std::fs::File::options().create(true).append(true).open(path);
    // The line above was printed; failing here would hide the reason behind another one.
    let _ = file.and_then(|mut file| writeln!(file, "{what}: {reason}"));
}
