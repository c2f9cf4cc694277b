//! What the compiler says about mistakes, by theme: `tests/ui/<theme>/<problem>.rs` and what it prints.
//!
//! `TRYBUILD=overwrite cargo test -p planesmith-codegen --test it ui` writes the expected output anew.

#[test]
fn every_mistake_is_reported_with_what_to_type() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*/*.rs");
}
