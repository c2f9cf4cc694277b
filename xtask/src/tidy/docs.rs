//! Doc comments with a sentence or clause that opens with a question word.

use std::collections::BTreeMap;

use super::debts::Debts;
use super::finding::Finding;
use super::policy::Policy;
use super::tally;
use crate::sources::{DocComment, Opening, Sources};

/// The doc comments of one crate.
#[derive(Debug)]
pub(super) struct Docs<'a> {
    /// The crate.
    pub(super) owner: &'a str,
    /// The number of doc comments.
    pub(super) total: usize,
    /// The first such opening of those that have one, with its file.
    pub(super) questions: Vec<(&'a str, &'a Opening)>,
}

/// Sorts the doc comments of a crate's sources.
pub(super) fn of<'a>(owner: &'a str, sources: &'a Sources, policy: &Policy) -> Docs<'a> {
    let docs = sources
        .iter()
        .flat_map(|(file, source)| source.docs.iter().map(move |doc| (file.as_str(), doc)));
    let docs: Vec<_> = docs.collect();
    let total = docs.len();
    let question = |(file, doc): (&'a str, &'a DocComment)| {
        let opening = doc.openings.iter().find(|opening| is_question(opening, policy))?;
        Some((file, opening))
    };
    let questions = docs.into_iter().filter_map(question).collect();
    Docs {
        owner,
        total,
        questions,
    }
}

/// True if a sentence opens with a question word, or a clause with one in lower case.
fn is_question(opening: &Opening, policy: &Policy) -> bool {
    let is_clause = matches!(opening.after, Some(';' | ':'));
    let is_word = |word: &String| match is_clause {
        true => word.eq_ignore_ascii_case(&opening.word),
        false => *word == opening.word,
    };
    policy.question_words.iter().any(is_word)
}

/// Counts the doc comments with such openings, by crate.
pub(super) fn counts(docs: &[Docs<'_>]) -> BTreeMap<String, usize> {
    let counts = docs.iter().map(|docs| (docs.owner.to_owned(), docs.questions.len()));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// The findings about crates with more or fewer such doc comments than tolerated.
pub(super) fn check(docs: &[Docs<'_>], debts: &Debts) -> Vec<Finding> {
    tally::check(&counts(docs), &debts.docs, "docs", |owner| {
        format!("{owner}: doc comments with a sentence or clause that opens with a question word")
    })
}

/// Lists such doc comments, and the share that they are.
pub(super) fn list(docs: &[Docs<'_>]) -> Vec<String> {
    let places = docs.iter().flat_map(|docs| docs.questions.iter());
    let mut lines: Vec<_> = places
        .map(|(file, opening)| match opening.after {
            None => format!(
                "{file}:{}: opens with {}; start with the result",
                opening.line, opening.word
            ),
            Some(mark) => format!(
                "{file}:{}: {} after `{mark}`; name the subject",
                opening.line, opening.word
            ),
        })
        .collect();
    lines.extend(
        docs.iter()
            .map(|docs| share(docs.owner, docs.questions.len(), docs.total)),
    );
    let questions = docs.iter().map(|docs| docs.questions.len()).sum();
    lines.push(share("all", questions, docs.iter().map(|docs| docs.total).sum()));
    lines
}

/// One line about the share of such doc comments.
pub(super) fn share(owner: &str, questions: usize, total: usize) -> String {
    let thousandths = questions * 1000 / total.max(1);
    format!(
        "{owner}: {questions} of {total} doc comments ({}.{} %)",
        thousandths / 10,
        thousandths % 10
    )
}
