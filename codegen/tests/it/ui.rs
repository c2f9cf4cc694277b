//! Compiler errors for mistakes, by theme: `tests/ui/<theme>/<problem>.rs` and its expected output.
//!
//! `TRYBUILD=overwrite cargo test -p planesmith-codegen --test it ui` rewrites the expected output.

#[test]
fn every_mistake_is_reported_with_what_to_type() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*/*.rs");
}
