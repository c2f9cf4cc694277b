//! Revisions have the order of the writes, also across keys and restarts, and nothing comes from the past or the future.

use super::ledger::Ledger;
use super::{Findings, Promise};
use crate::history::History;
use crate::record::{Answer, Call, Record};

pub(super) fn check(history: &History, ledger: &Ledger<'_>, findings: &mut Findings) {
    let finished = finished(history);
    let observed = observed(history);
    let begins = begins(ledger);
    for invocation in &ledger.invocations {
        let (is_late, position, revision) = match (invocation.call, invocation.answer) {
            (Call::Put { .. } | Call::Delete { .. }, Some(Answer::Written { revision, .. })) => (
                *revision <= finished[invocation.begin].0,
                invocation.returned,
                *revision,
            ),
            (Call::List { at: None, .. }, Some(Answer::Page { revision, .. }))
            | (Call::Watch { after: None }, Some(Answer::Watching { after: revision })) => {
                (*revision < finished[invocation.begin].0, invocation.returned, *revision)
            }
            _ => continue,
        };
        if is_late {
            let (newest, before) = finished[invocation.begin];
            let text = format!("revision {newest} was answered before the call that got {revision}");
            findings.add(Promise::OrderedRevisions, [before, invocation.begin, position], text);
        }
        // All writes up to the revision were called before the answer.
        let older = begins.partition_point(|(written, _)| *written <= revision);
        if let Some((_, begin)) = older.checked_sub(1).map(|last| begins[last])
            && begin > position
        {
            let text = format!("an answer has revision {revision}, but a write before that was called later");
            findings.add(Promise::OrderedRevisions, [position, begin], text);
        }
    }
    for (position, record) in history.records.iter().enumerate() {
        if let Record::Opened { revision, .. } = record
            && *revision < observed[position].0
        {
            let text = format!(
                "the store opens at revision {revision}, but {} was observed before",
                observed[position].0
            );
            findings.add(Promise::OrderedRevisions, [observed[position].1, position], text);
        }
    }
}

/// The newest revision that was answered to a writer before each position, and where.
fn finished(history: &History) -> Vec<(u64, usize)> {
    running_max(history, |record| match record {
        Record::Return {
            answer: Answer::Written { revision, .. },
            ..
        } => Some(*revision),
        _ => None,
    })
}

/// The newest revision that a client observed before each position, and where.
fn observed(history: &History) -> Vec<(u64, usize)> {
    running_max(history, |record| match record {
        Record::Return { answer, .. } => match answer {
            Answer::Written { revision, .. } | Answer::Page { revision, .. } => Some(*revision),
            Answer::Got(state) | Answer::Conflict { current: state } => state.as_ref().map(|state| state.revision),
            _ => None,
        },
        Record::Batch { events, .. } => events.iter().map(|event| event.state.revision).max(),
        Record::Opened { revision, .. } => Some(*revision),
        _ => None,
    })
}

fn running_max(history: &History, revision: impl Fn(&Record) -> Option<u64>) -> Vec<(u64, usize)> {
    let mut newest = (0, 0);
    history
        .records
        .iter()
        .enumerate()
        .map(|(position, record)| {
            let before = newest;
            if let Some(revision) = revision(record).filter(|revision| *revision > newest.0) {
                newest = (revision, position);
            }
            before
        })
        .collect()
}

/// The performed writes by revision: the revision, and the latest call of any write up to it.
fn begins(ledger: &Ledger<'_>) -> Vec<(u64, usize)> {
    let mut begins: Vec<(u64, usize)> = ledger
        .invocations
        .iter()
        .filter_map(|invocation| match invocation.answer {
            Some(Answer::Written { revision, .. }) => Some((*revision, invocation.begin)),
            _ => None,
        })
        .collect();
    begins.sort_unstable();
    let mut latest = 0;
    for (_, begin) in &mut begins {
        latest = latest.max(*begin);
        *begin = latest;
    }
    begins
}
