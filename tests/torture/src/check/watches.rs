//! The six guarantees of a watch: ordered, unique, reliable, atomic, resumable, bookmarkable.
//!
//! A watch that resumes is one more watch, which has to be complete from its start on.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::answers::check_previous;
use super::ledger::Ledger;
use super::{Findings, Promise, lists};
use crate::history::History;
use crate::record::{Answer, Call, Change, Kind, Record};

/// The deliveries of one watch so far.
#[derive(Debug)]
struct Delivered<'a> {
    started: usize,
    /// The revision after which it started.
    after: u64,
    /// The revision up to which it declared to be complete.
    progress: u64,
    /// The newest revision of an earlier delivery.
    newest: u64,
    /// By revision and key, with the position of the delivery.
    changes: BTreeMap<(u64, &'a str), usize>,
}

pub(super) fn check(history: &History, ledger: &Ledger<'_>, findings: &mut Findings) {
    let by_revision = by_revision(ledger);
    let mut watches: HashMap<u64, Delivered<'_>> = HashMap::new();
    for (position, record) in history.records.iter().enumerate() {
        match record {
            Record::Return {
                id,
                answer: Answer::Watching { after },
            } => {
                watches.insert(*id, Delivered::new(position, *after));
            }
            Record::Batch {
                watch,
                events,
                progress,
            } => {
                if let Some(delivered) = watches.get_mut(watch) {
                    delivered.take(events, position, ledger, findings);
                    delivered.advance(*progress, position, &by_revision, findings);
                }
            }
            Record::Cut { watch, oldest } => {
                if let Some(delivered) = watches.get(watch) {
                    lists::check_floor(history, position, (delivered.progress, *oldest), findings);
                }
            }
            _ => {}
        }
    }
    for invocation in &ledger.invocations {
        if let (Call::Watch { after: Some(from) }, Some(Answer::Watching { after })) =
            (invocation.call, invocation.answer)
            && from != after
        {
            let text = format!("a watch after {from} starts after {after}");
            findings.add(Promise::WatchResumable, [invocation.returned], text);
        }
    }
}

/// All known changes: revision, key, and the position of the first observation.
fn by_revision<'a>(ledger: &Ledger<'a>) -> BTreeSet<(u64, &'a str, usize)> {
    let steps = ledger
        .chains
        .iter()
        .flat_map(|(name, chain)| chain.iter().map(move |(revision, step)| (*revision, *name, step.first)));
    steps.collect()
}

impl<'a> Delivered<'a> {
    fn new(started: usize, after: u64) -> Self {
        Self {
            started,
            after,
            progress: after,
            newest: 0,
            changes: BTreeMap::new(),
        }
    }

    /// Checks one delivery.
    fn take(&mut self, events: &'a [Change], position: usize, ledger: &Ledger<'_>, findings: &mut Findings) {
        let mut last = self.newest;
        for event in events {
            let (name, revision) = (&*event.state.name, event.state.revision);
            if let Some(before) = self.changes.insert((revision, name), position) {
                let text = format!("{event} was delivered twice");
                findings.add(Promise::WatchUnique, [self.started, before, position], text);
            } else if revision < last {
                let text = format!("{event} was delivered after revision {last}");
                findings.add(Promise::WatchOrdered, [self.started, position], text);
            } else if revision <= self.after {
                let text = format!("{event} was delivered by a watch after {}", self.after);
                findings.add(Promise::WatchResumable, [self.started, position], text);
            } else if revision <= self.newest {
                let text = format!("{event} was not delivered with the rest of its revision");
                findings.add(Promise::WatchAtomic, [self.started, position], text);
            } else if revision <= self.progress {
                let text = format!("{event} was delivered after a bookmark at {}", self.progress);
                findings.add(Promise::WatchBookmarkable, [self.started, position], text);
            }
            last = last.max(revision);
            if (event.kind == Kind::Created) != event.previous.is_none() {
                let text = format!("{event} has the state {:?} before it", event.previous);
                findings.add(Promise::Previous, [position], text);
            }
            check_previous(ledger, (name, revision), event.previous.as_ref(), position, findings);
        }
        self.newest = last;
    }

    /// Checks that everything up to `progress` was delivered.
    fn advance(
        &mut self,
        progress: u64,
        position: usize,
        by_revision: &BTreeSet<(u64, &'a str, usize)>,
        findings: &mut Findings,
    ) {
        if progress < self.progress || progress < self.newest {
            let text = format!(
                "the progress of a watch is {progress} after {}, with a change at {}",
                self.progress, self.newest
            );
            findings.add(Promise::WatchBookmarkable, [self.started, position], text);
        }
        let declared = by_revision.range((self.progress + 1, "", 0)..(progress.max(self.progress) + 1, "", 0));
        for (revision, name, first) in declared {
            if !self.changes.contains_key(&(*revision, *name)) {
                let text = format!(
                    "the change of {name} at {revision} was not delivered by a watch that is complete to {progress}"
                );
                findings.add(Promise::WatchReliable, [self.started, position, *first], text);
            }
        }
        self.progress = self.progress.max(progress);
    }
}
