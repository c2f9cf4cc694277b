//! Each key is linearizable. Keys are independent, so all of them together are, too.

use super::ledger::{Invocation, Ledger, Outcome};
use super::search::{Operation, SearchResult, search};
use super::{Findings, Promise};
use crate::history::History;
use crate::record::{Answer, Call, Precondition, State};

/// Maximum number of operations that a finding shows.
const MAX_REPORTED: usize = 16;

/// The state of a key with an object that no client saw.
const UNSEEN: u64 = u64::MAX;

/// The effect of an operation on a key, whose state is the revision of its last write, or 0, or [`UNSEEN`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Effect {
    /// The state is replaced.
    Write {
        new: u64,
        expect: Precondition,
        /// The state before, if that is known.
        previous: Option<u64>,
    },
    /// The state is this one.
    Read(u64),
    /// The state expires.
    Expire(u64),
}

pub(super) fn check(history: &History, ledger: &Ledger<'_>, findings: &mut Findings) {
    for name in ledger.chains.keys() {
        let operations = operations(history, ledger, name);
        match search(&operations, apply) {
            SearchResult::Explained => {}
            SearchResult::Undecided => {
                let text = format!("no order of the operations on {name} was found in time; use fewer");
                findings.add(Promise::Linearizable, [], text);
            }
            SearchResult::Contradiction => {
                let operations = shrunk(operations);
                let text = format!("no order of the operations on {name} explains their answers");
                let shown = &operations[operations.len().saturating_sub(MAX_REPORTED)..];
                let positions = shown.iter().flat_map(|operation| [operation.begin, operation.end]);
                let positions = positions.filter(|position| *position < history.records.len());
                findings.add(Promise::Linearizable, positions.collect::<Vec<_>>(), text);
            }
        }
    }
}

fn apply(state: u64, effect: &Effect) -> Option<u64> {
    match *effect {
        Effect::Write { new, expect, previous } => {
            let is_deletion = new == 0;
            let current = (state != 0).then_some(state);
            let holds = expect.holds(current)
                && previous.is_none_or(|previous| previous == state)
                && !(is_deletion && state == 0);
            holds.then_some(new)
        }
        Effect::Read(expected) => (state == expected).then_some(state),
        Effect::Expire(expiring) => (state == expiring).then_some(0),
    }
}

/// The operations on one key, by their begin.
fn operations(history: &History, ledger: &Ledger<'_>, name: &str) -> Vec<Operation<Effect>> {
    let mut operations = Vec::new();
    for invocation in &ledger.invocations {
        let effect = match invocation.call {
            Call::Put { name: own, .. } | Call::Delete { name: own, .. } if own == name => {
                operations.extend(expiry(ledger, invocation));
                write(history, ledger, invocation)
            }
            Call::Get { name: own } if own == name => match invocation.answer {
                Some(Answer::Got(state)) => Some(Effect::Read(revision(state.as_ref()))),
                _ => None,
            },
            Call::List { at: None, after, .. } => read(invocation, after.as_deref(), name),
            _ => None,
        };
        if let Some(effect) = effect {
            operations.push(operation(ledger, name, invocation, effect));
        }
    }
    operations.sort_by_key(|operation| operation.begin);
    operations
}

/// `invocation` of the key `name`, which has `effect`.
fn operation(ledger: &Ledger<'_>, name: &str, invocation: &Invocation<'_>, effect: Effect) -> Operation<Effect> {
    let is_unknown = matches!(effect, Effect::Write { .. }) && invocation.outcome == Outcome::Unknown;
    let written = match (&effect, invocation.answer) {
        (Effect::Write { .. }, Some(Answer::Written { revision, .. })) => Some(*revision),
        (Effect::Write { new, .. }, _) if ![0, UNSEEN].contains(new) => Some(*new),
        _ => None,
    };
    // Whatever was observed was written before.
    let observed = written
        .filter(|_| is_unknown)
        .and_then(|revision| ledger.step(name, revision));
    Operation {
        begin: invocation.begin,
        end: observed.map_or(invocation.end, |step| step.first.min(invocation.end)),
        is_optional: is_unknown && observed.is_none(),
        rank: written,
        effect,
    }
}

fn write(history: &History, ledger: &Ledger<'_>, invocation: &Invocation<'_>) -> Option<Effect> {
    let (word, expect) = match invocation.call {
        Call::Put { word, expect, .. } => (Some(word), *expect),
        Call::Delete { expect, .. } => (None, *expect),
        _ => return None,
    };
    match invocation.answer {
        Some(Answer::Conflict { current }) => Some(Effect::Read(revision(current.as_ref()))),
        Some(Answer::Written {
            revision: own,
            previous,
        }) => Some(Effect::Write {
            new: word.map_or(0, |_| *own),
            expect,
            previous: history.promises.previous_states.then(|| revision(previous.as_ref())),
        }),
        _ if invocation.outcome == Outcome::Unknown => unknown(ledger, word, expect),
        _ => None,
    }
}

/// The effect of a write of unknown outcome, if it can explain an answer.
fn unknown(ledger: &Ledger<'_>, word: Option<&String>, expect: Precondition) -> Option<Effect> {
    let (new, expect) = match word.map(|word| ledger.revisions.get(&**word)) {
        None => (0, expect),
        Some(Some(revision)) => (*revision, expect),
        // History may be forgotten before anyone reads it. An object that no client saw only matters where there was none: it
        // lets a later write be performed that requires an object.
        Some(None) if expect.holds(None) => (UNSEEN, Precondition::Absent),
        Some(None) => return None,
    };
    Some(Effect::Write {
        new,
        expect,
        previous: None,
    })
}

/// The expiry of the state that `invocation` writes.
fn expiry(ledger: &Ledger<'_>, invocation: &Invocation<'_>) -> Option<Operation<Effect>> {
    let Call::Put { word, ttl: Some(_), .. } = invocation.call else {
        return None;
    };
    let revision = *ledger.revisions.get(&**word)?;
    ledger.may_expire(word, usize::MAX).then_some(Operation {
        begin: invocation.begin,
        end: usize::MAX,
        is_optional: true,
        rank: None,
        effect: Effect::Expire(revision),
    })
}

/// The state of a key in a page of the newest state, if it covers the key.
fn read(invocation: &Invocation<'_>, after: Option<&str>, name: &str) -> Option<Effect> {
    let Some(Answer::Page { entries, more, .. }) = invocation.answer else {
        return None;
    };
    let is_behind = *more && entries.last().is_some_and(|last| *last.name < *name);
    if is_behind || after.is_some_and(|after| name <= after) {
        return None;
    }
    Some(Effect::Read(revision(entries.iter().find(|entry| entry.name == name))))
}

fn revision(state: Option<&State>) -> u64 {
    state.map_or(0, |state| state.revision)
}

/// The operations up to the first contradiction, without those that are not needed for it.
fn shrunk(mut operations: Vec<Operation<Effect>>) -> Vec<Operation<Effect>> {
    let contradicts = |operations: &[Operation<Effect>]| search(operations, apply) == SearchResult::Contradiction;
    let mut ends: Vec<usize> = operations.iter().map(|operation| operation.end).collect();
    ends.sort_unstable();
    let first = ends.partition_point(|end| !contradicts(&until(&operations, *end)));
    if let Some(end) = ends.get(first) {
        operations = until(&operations, *end);
    }
    let mut index = 0;
    while index < operations.len() {
        let mut fewer = operations.clone();
        let removed = fewer.remove(index);
        // Without a write, later answers would have no explanation.
        let can_go = removed.is_optional || matches!(removed.effect, Effect::Read(_));
        if can_go && contradicts(&fewer) {
            operations = fewer;
        } else {
            index += 1;
        }
    }
    operations
}

/// The operations as they were known at `end`.
fn until(operations: &[Operation<Effect>], end: usize) -> Vec<Operation<Effect>> {
    let begun = operations.iter().filter(|operation| operation.begin < end);
    let known = begun.filter(|operation| operation.end <= end || !matches!(operation.effect, Effect::Read(_)));
    known
        .map(|operation| Operation {
            is_optional: operation.is_optional || operation.end > end,
            ..*operation
        })
        .collect()
}
