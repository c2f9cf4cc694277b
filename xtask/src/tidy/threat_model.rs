//! The tests that the threat model names.

use std::collections::BTreeSet;

use super::finding::Finding;

/// The threat model, relative to the workspace.
pub(super) const FILE: &str = "docs/security.md";

/// The start of the header of the column with tests.
const HEADER: &str = "Test";

/// Checks that each row of a table of promises names a test, and that `has_test` knows each test by its file and name.
pub(super) fn check(text: &str, has_test: impl Fn(&str, &str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut is_promises = false;
    for (index, line) in text.lines().enumerate() {
        let place = (FILE, index + 1);
        let Some(cells) = line.strip_prefix('|') else {
            is_promises = false;
            continue;
        };
        let last = cells
            .trim_end_matches('|')
            .rsplit('|')
            .next()
            .unwrap_or_default()
            .trim();
        if last.starts_with(HEADER) {
            is_promises = true;
            continue;
        }
        if !is_promises || last.trim_matches(['-', ':']).is_empty() {
            continue;
        }
        let tests: Vec<&str> = last.split('`').skip(1).step_by(2).collect();
        if tests.is_empty() {
            findings.push(Finding::new(
                place,
                "a promise without a test",
                "name one as `FILE::NAME`",
            ));
        }
        for test in tests {
            match test.split_once("::") {
                Some((file, name)) if has_test(file, name) => {}
                _ => findings.push(Finding::new(
                    place,
                    format!("`{test}` is no test"),
                    "name one as `FILE::NAME`, with the file relative to the workspace",
                )),
            }
        }
    }
    findings
}

/// Returns the names of the tests in a source file.
pub(super) fn tests_in(source: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[test") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some((_, rest)) = line.split_once("fn ")
            && is_test
        {
            names.extend(rest.split('(').next());
            is_test = false;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_needs_a_test_that_exists() {
        let text = "\
| Asset | Value |
|---|---|
| keys | high |

| Promise | Tests |
|---|---|
| one | `a/b.rs::holds`, `a/b.rs::gone` |
| two | none |
";
        let findings = check(text, |file, name| (file, name) == ("a/b.rs", "holds"));
        let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(
            findings[0].starts_with("docs/security.md:7: `a/b.rs::gone` is no test"),
            "{findings:?}"
        );
        assert!(
            findings[1].starts_with("docs/security.md:8: a promise without a test"),
            "{findings:?}"
        );
    }

    #[test]
    fn tests_have_an_attribute() {
        let source = "#[test]\nfn one() {}\nfn two() {}\n#[tokio::test(flavor = \"multi_thread\")]\n/// Text.\nasync fn three() {}\n";
        assert_eq!(tests_in(source), ["one", "three"].into());
    }
}
