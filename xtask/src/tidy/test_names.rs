//! Names of tests that are no scenarios.

use super::finding::Finding;
use super::policy::Policy;
use crate::sources::{Sort, Sources};

/// The findings about tests whose names begin with a word of a question.
pub(super) fn check(sources: &Sources, policy: &Policy) -> Vec<Finding> {
    let names = sources
        .iter()
        .flat_map(|(file, source)| source.names.iter().map(move |name| (file, name)));
    let tests = names.filter(|(_, name)| name.sort == Sort::Test);
    let findings = tests.filter_map(|(file, name)| {
        let word = name.ident.split('_').next()?;
        policy.test_words.iter().find(|refused| *refused == word)?;
        let fault = format!("the test {} begins with {word}", name.ident);
        let help = "name the scenario: a subject and a verb, such as `a_stale_revision_is_refused`";
        Some(Finding::new((file, name.line), fault, help))
    });
    findings.collect()
}
