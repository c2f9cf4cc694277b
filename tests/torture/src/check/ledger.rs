//! The state of each key after each revision, put together from all observations.

use std::collections::{BTreeMap, HashMap};

use super::{Findings, Promise};
use crate::history::History;
use crate::payload::DAMAGED;
use crate::record::{Answer, Call, Kind, Precondition, Record, State};

/// Deletions that a finding about a deletion shows.
const REPORTED_DELETIONS: usize = 6;

/// One call and its answer.
#[derive(Debug)]
pub(super) struct Invocation<'a> {
    pub(super) call: &'a Call,
    pub(super) answer: Option<&'a Answer>,
    /// The position of the call.
    pub(super) begin: usize,
    /// The position of the answer; `usize::MAX` if there is none.
    pub(super) returned: usize,
    /// The position before which it has its effect, if it has one.
    pub(super) end: usize,
    pub(super) outcome: Outcome,
}

/// The effect of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Performed,
    NotPerformed,
    Unknown,
}

/// The state of a key after one revision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'a> {
    /// `None` if the key was deleted.
    pub(super) word: Option<&'a str>,
    /// The position of the first observation.
    pub(super) first: usize,
}

/// Everything that is known about the keys of one history.
#[derive(Debug)]
pub(super) struct Ledger<'a> {
    pub(super) invocations: Vec<Invocation<'a>>,
    /// By key and revision.
    pub(super) chains: BTreeMap<&'a str, BTreeMap<u64, Step<'a>>>,
    /// The call that writes a word.
    pub(super) puts: HashMap<&'a str, usize>,
    /// The revision of a word that was observed.
    pub(super) revisions: HashMap<&'a str, u64>,
    /// The time of the clock from a position on.
    clocks: Vec<(usize, u64)>,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(history: &'a History, findings: &mut Findings) -> Self {
        let mut ledger = Self {
            invocations: invocations(history),
            chains: BTreeMap::new(),
            puts: HashMap::new(),
            revisions: HashMap::new(),
            clocks: Vec::new(),
        };
        for (index, invocation) in ledger.invocations.iter().enumerate() {
            if let Call::Put { word, .. } = invocation.call {
                ledger.puts.insert(word, index);
            }
        }
        ledger.collect(history, findings);
        ledger.check_states(findings);
        if history.promises.unique_revisions {
            ledger.check_unique(findings);
        }
        ledger
    }

    fn collect(&mut self, history: &'a History, findings: &mut Findings) {
        let calls: HashMap<u64, &Call> = history
            .records
            .iter()
            .filter_map(|record| match record {
                Record::Call { id, call } => Some((*id, call)),
                _ => None,
            })
            .collect();
        for (position, record) in history.records.iter().enumerate() {
            match record {
                Record::Return { id, answer } => match (answer, calls.get(id)) {
                    (Answer::Written { revision, previous }, Some(call)) => {
                        let (name, word) = match call {
                            Call::Put { name, word, .. } => (name, Some(&**word)),
                            Call::Delete { name, .. } => (name, None),
                            _ => continue,
                        };
                        self.add(name, *revision, word, position, findings);
                        self.add_states(previous, position, findings);
                    }
                    (Answer::Conflict { current: state } | Answer::Got(state), _) => {
                        self.add_states(state, position, findings);
                    }
                    (Answer::Page { entries, .. }, _) => self.add_states(entries, position, findings),
                    _ => {}
                },
                Record::Batch { events, .. } => {
                    for event in events {
                        let word = (event.kind != Kind::Deleted).then_some(&*event.state.word);
                        self.add(&event.state.name, event.state.revision, word, position, findings);
                        self.add_states(&event.previous, position, findings);
                    }
                }
                Record::Clock { now } => self.clocks.push((position, *now)),
                _ => {}
            }
        }
    }

    fn add_states(&mut self, states: impl IntoIterator<Item = &'a State>, position: usize, findings: &mut Findings) {
        for state in states {
            self.add(&state.name, state.revision, Some(&state.word), position, findings);
        }
    }

    fn add(&mut self, name: &'a str, revision: u64, word: Option<&'a str>, position: usize, findings: &mut Findings) {
        if let Some(word) = word {
            self.revisions.entry(word).or_insert(revision);
        }
        let chain = self.chains.entry(name).or_default();
        let step = chain.entry(revision).or_insert(Step { word, first: position });
        if step.word != word {
            let text = format!(
                "{name} has two states at revision {revision}: {:?} and {word:?}",
                step.word
            );
            let is_damaged = [word, step.word].contains(&Some(DAMAGED));
            let promise = match is_damaged {
                true => Promise::Intact,
                false => Promise::OrderedRevisions,
            };
            findings.add(promise, [step.first, position], text);
        }
    }

    /// Checks that each observed state was written, once, by a write that was not refused.
    fn check_states(&self, findings: &mut Findings) {
        for (name, chain) in &self.chains {
            for (revision, step) in chain {
                let Some(word) = step.word else {
                    self.check_removal(name, *revision, *step, findings);
                    continue;
                };
                let position = step.first;
                let put = self.puts.get(word).map(|index| &self.invocations[*index]);
                let Some(put) = put.filter(|put| put.call.written() == Some(name) && put.begin < position) else {
                    let text = match word {
                        DAMAGED => format!("{name} at revision {revision} has other bytes than any write"),
                        _ => format!("{name} at revision {revision} is {word}, which nobody wrote there"),
                    };
                    findings.add(Promise::Intact, [position], text);
                    continue;
                };
                if put.outcome == Outcome::NotPerformed {
                    let text = format!("{name} at revision {revision} is {word}, whose write was not performed");
                    findings.add(Promise::Intact, [put.begin, put.returned, position], text);
                }
                if self.revisions.get(word) != Some(revision) {
                    let text = format!("{word} was written to {name} twice, the second time at revision {revision}");
                    findings.add(Promise::Intact, [put.begin, position], text);
                }
            }
        }
    }

    fn check_removal(&self, name: &str, revision: u64, step: Step<'_>, findings: &mut Findings) {
        let answered = self.invocations.iter().any(
            |invocation| matches!(invocation.answer, Some(Answer::Written { revision: own, .. }) if *own == revision),
        );
        if !answered && !self.may_be_removed(name, 0, revision, step.first) {
            let text = format!("{name} was deleted at revision {revision}, but by nobody");
            let positions = self.last_deletions(name, step.first).chain([step.first]);
            findings.add(Promise::Intact, positions, text);
        }
    }

    /// The calls and answers of the last deletions of `name` before the position `before`.
    fn last_deletions(&self, name: &str, before: usize) -> impl Iterator<Item = usize> {
        let deletions = self.invocations.iter().rev().filter(move |invocation| {
            invocation.begin < before && matches!(invocation.call, Call::Delete { name: own, .. } if own == name)
        });
        let shown = deletions.take(REPORTED_DELETIONS);
        shown.flat_map(|invocation| [invocation.begin, invocation.returned])
    }

    fn check_unique(&self, findings: &mut Findings) {
        let mut known: BTreeMap<u64, (&str, usize)> = BTreeMap::new();
        for (name, chain) in &self.chains {
            for (revision, step) in chain {
                if let Some((other, first)) = known.insert(*revision, (name, step.first)) {
                    let text = format!("{name} and {other} were both written at revision {revision}");
                    findings.add(Promise::OrderedRevisions, [first, step.first], text);
                }
            }
        }
    }

    /// The state of `name` right after `revision`, with the revision of its write.
    pub(super) fn at(&self, name: &str, revision: u64) -> Option<(u64, Step<'a>)> {
        let (revision, step) = self.chains.get(name)?.range(..=revision).next_back()?;
        Some((*revision, *step))
    }

    /// The state of `name` that was written with `revision`, if it was observed.
    pub(super) fn step(&self, name: &str, revision: u64) -> Option<Step<'a>> {
        self.chains.get(name)?.get(&revision).copied()
    }

    /// True if `name` may have been deleted between the revisions `from` and `to` and before the position `before`,
    /// without an observation of the deletion itself.
    pub(super) fn may_be_removed(&self, name: &str, from: u64, to: u64, before: usize) -> bool {
        let by_client = self.invocations.iter().any(|invocation| {
            invocation.outcome == Outcome::Unknown
                && invocation.begin < before
                && matches!(invocation.call, Call::Delete { name: own, expect }
                    if own == name && !matches!(expect, Precondition::Absent))
        });
        by_client
            || self.chains.get(name).is_some_and(|chain| {
                chain
                    .range(from..to)
                    .any(|(_, step)| step.word.is_some_and(|word| self.may_expire(word, before)))
            })
    }

    /// True if the state `word` may have expired before the position `before`.
    pub(super) fn may_expire(&self, word: &str, before: usize) -> bool {
        let Some(put) = self.puts.get(word).map(|index| &self.invocations[*index]) else {
            return false;
        };
        let Call::Put { ttl: Some(ttl), .. } = put.call else {
            return false;
        };
        let end = put.returned.min(put.end);
        let at_call = self.clocks.iter().rev().find(|(position, _)| *position <= put.begin);
        let during = self
            .clocks
            .iter()
            .filter(|(position, _)| (put.begin..end).contains(position));
        let earliest = at_call
            .into_iter()
            .chain(during)
            .map(|(_, now)| *now)
            .min()
            .unwrap_or(0);
        let reached = self.clocks.iter().filter(|(position, _)| *position < before);
        reached.map(|(_, now)| *now).max() >= Some(earliest + ttl)
    }
}

/// Pairs calls and answers.
fn invocations(history: &History) -> Vec<Invocation<'_>> {
    let openings: Vec<usize> = history
        .records
        .iter()
        .enumerate()
        .filter_map(|(position, record)| matches!(record, Record::Opened { .. }).then_some(position))
        .collect();
    let next_opening = |position: usize| {
        let next = openings.partition_point(|opening| *opening <= position);
        openings.get(next).copied().unwrap_or(usize::MAX)
    };
    let mut invocations = Vec::new();
    let mut open: HashMap<u64, usize> = HashMap::new();
    for (position, record) in history.records.iter().enumerate() {
        match record {
            Record::Call { id, call } => {
                open.insert(*id, invocations.len());
                invocations.push(Invocation {
                    call,
                    answer: None,
                    begin: position,
                    returned: usize::MAX,
                    end: usize::MAX,
                    outcome: Outcome::Unknown,
                });
            }
            Record::Return { id, answer } => {
                if let Some(index) = open.remove(id) {
                    invocations[index].answer = Some(answer);
                    invocations[index].returned = position;
                }
            }
            _ => {}
        }
    }
    // The last successful write in the same life that was called later.
    let mut last_success: HashMap<usize, usize> = HashMap::new();
    for invocation in &mut invocations {
        if let Some(Answer::Written { .. }) = invocation.answer {
            last_success.insert(next_opening(invocation.begin), invocation.begin);
        }
    }
    for invocation in &mut invocations {
        (invocation.outcome, invocation.end) = match invocation.answer {
            Some(Answer::Conflict { .. } | Answer::Refused(_)) => (Outcome::NotPerformed, invocation.returned),
            Some(Answer::Unknown(_)) | None if history.promises.outcomes_end => {
                let end = next_opening(invocation.begin);
                let is_dropped = last_success
                    .get(&end)
                    .is_some_and(|success| *success > invocation.returned);
                match is_dropped {
                    true => (Outcome::NotPerformed, invocation.returned),
                    false => (Outcome::Unknown, end),
                }
            }
            Some(Answer::Unknown(_)) | None => (Outcome::Unknown, usize::MAX),
            Some(_) => (Outcome::Performed, invocation.returned),
        };
    }
    invocations
}
