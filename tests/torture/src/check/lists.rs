//! A list is the state at one revision.

use super::ledger::{Invocation, Ledger};
use super::{Findings, Promise};
use crate::history::History;
use crate::record::{Answer, Call, Record, State};

pub(super) fn check(history: &History, ledger: &Ledger<'_>, findings: &mut Findings) {
    for invocation in &ledger.invocations {
        match (invocation.call, invocation.answer) {
            (Call::List { at, after, limit }, Some(Answer::Page { .. })) => {
                Page::new(invocation, *at, after.as_deref(), *limit).check(ledger, findings);
            }
            (
                Call::List { at: Some(from), .. } | Call::Watch { after: Some(from) },
                Some(Answer::Compacted { oldest }),
            ) => check_floor(history, invocation.returned, (*from, *oldest), findings),
            (Call::List { at: None, .. } | Call::Watch { after: None }, Some(Answer::Compacted { .. })) => {
                let text = "the newest state is said to be forgotten".to_owned();
                findings.add(Promise::RetainedHistory, [invocation.begin, invocation.returned], text);
            }
            _ => {}
        }
    }
}

/// Checks that the history from `oldest` on is there, and only what is older is refused.
pub(super) fn check_floor(history: &History, position: usize, (from, oldest): (u64, u64), findings: &mut Findings) {
    if history.promises.reads_history && from >= oldest {
        let text = format!("history after {from} is refused, although {oldest} is the oldest");
        findings.add(Promise::RetainedHistory, [position], text);
    }
    let requested = history.records[..position].iter().filter_map(|record| match record {
        Record::Call {
            call: Call::Compact { revision },
            ..
        } => Some(*revision),
        _ => None,
    });
    if history.promises.keeps_history && requested.max().unwrap_or(0) < oldest {
        let text = format!("history up to {oldest} is forgotten, which nobody requested");
        findings.add(Promise::RetainedHistory, [position], text);
    }
}

/// A page and its request.
struct Page<'a> {
    at: Option<u64>,
    after: Option<&'a str>,
    limit: Option<usize>,
    revision: u64,
    entries: &'a [State],
    more: bool,
    remaining: Option<u64>,
    positions: [usize; 2],
}

impl<'a> Page<'a> {
    fn new(invocation: &Invocation<'a>, at: Option<u64>, after: Option<&'a str>, limit: Option<usize>) -> Self {
        let positions = [invocation.begin, invocation.returned];
        match invocation.answer {
            Some(Answer::Page {
                revision,
                entries,
                more,
                remaining,
            }) => Self {
                at,
                after,
                limit,
                revision: *revision,
                entries,
                more: *more,
                remaining: *remaining,
                positions,
            },
            _ => Self {
                at,
                after,
                limit,
                revision: 0,
                entries: &[],
                more: false,
                remaining: None,
                positions,
            },
        }
    }

    fn check(&self, ledger: &Ledger<'_>, findings: &mut Findings) {
        let mut fail = |text: String, other: Option<usize>| {
            findings.add(Promise::ListAtRevision, self.positions.into_iter().chain(other), text);
        };
        if self.at.is_some_and(|at| at != self.revision) {
            fail(
                format!("a list at {:?} is of revision {}", self.at, self.revision),
                None,
            );
        }
        let names: Vec<&str> = self.entries.iter().map(|entry| &*entry.name).collect();
        let is_sorted = names.is_sorted_by(|one, next| one < next);
        if !is_sorted || names.first().copied() <= self.after && !names.is_empty() {
            fail(format!("a list after {:?} has the keys {names:?}", self.after), None);
        }
        if self.limit.is_some_and(|limit| names.len() > limit) || (self.more && Some(names.len()) != self.limit) {
            fail(format!("a page has {} keys, not {:?}", names.len(), self.limit), None);
        }
        for entry in self.entries {
            if let Some((at, step)) = ledger.at(&entry.name, self.revision)
                && at != entry.revision
            {
                fail(
                    format!("a list at {} shows {entry}, but {at} is newer", self.revision),
                    Some(step.first),
                );
            }
            if entry.revision > self.revision {
                fail(format!("a list at {} shows {entry}", self.revision), None);
            }
        }
        let mut following = 0;
        let mut is_certain = true;
        for name in ledger.chains.keys() {
            let Some((at, step)) = ledger.at(name, self.revision).filter(|(_, step)| step.word.is_some()) else {
                continue;
            };
            if self.after.is_some_and(|after| *name <= after) || names.contains(name) {
                continue;
            }
            let is_certain_here = !ledger.may_be_removed(name, at, self.revision + 1, self.positions[1]);
            if self.more && names.last() < Some(name) {
                following += 1;
                is_certain &= is_certain_here;
            } else if is_certain_here {
                fail(
                    format!("a list at {} lacks {name}, written at {at}", self.revision),
                    Some(step.first),
                );
            }
        }
        let remaining = self.remaining.unwrap_or(following);
        if is_certain && remaining != following || self.more != (remaining > 0) {
            fail(
                format!("a page says that {:?} keys follow, but {following} do", self.remaining),
                None,
            );
        }
    }
}
