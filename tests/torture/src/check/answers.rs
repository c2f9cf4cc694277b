//! The state before a write, as its answer and its events show it.

use super::ledger::{Ledger, Outcome};
use super::{Findings, Promise};
use crate::history::History;
use crate::record::{Answer, Call, Precondition, State};

pub(super) fn check(history: &History, ledger: &Ledger<'_>, findings: &mut Findings) {
    if !history.promises.previous_states {
        return;
    }
    for invocation in &ledger.invocations {
        let (Call::Put { name, expect, .. } | Call::Delete { name, expect }) = invocation.call else {
            continue;
        };
        let positions = [invocation.begin, invocation.returned];
        match invocation.answer {
            Some(Answer::Written { revision, previous }) => {
                let known = previous.as_ref().map(|previous| previous.revision);
                let is_deletion = matches!(invocation.call, Call::Delete { .. });
                if !expect.holds(known) || (is_deletion && known.is_none()) {
                    let text = format!("{name} was written although {expect:?} did not hold, but {known:?}");
                    findings.add(Promise::Previous, positions, text);
                }
                check_previous(ledger, (name, *revision), previous.as_ref(), positions[1], findings);
            }
            Some(Answer::Conflict { current }) => {
                let known = current.as_ref().map(|current| current.revision);
                let is_missing = matches!(invocation.call, Call::Delete { .. }) && known.is_none();
                if expect.holds(known) && !is_missing {
                    let text = format!("a write of {name} was refused, but {expect:?} holds for {known:?}");
                    findings.add(Promise::Previous, positions, text);
                }
            }
            _ => {}
        }
        debug_assert!(invocation.outcome != Outcome::Performed || !matches!(expect, Precondition::Revision(0)));
    }
}

/// Checks that `previous` is the state of a key right before the revision of a write.
pub(super) fn check_previous(
    ledger: &Ledger<'_>,
    (name, revision): (&str, u64),
    previous: Option<&State>,
    position: usize,
    findings: &mut Findings,
) {
    let before = revision.checked_sub(1).and_then(|before| ledger.at(name, before));
    let is_right = match (previous, before) {
        (Some(previous), Some((at, step))) => previous.revision == at && step.word == Some(&*previous.word),
        (Some(_), None) => false,
        (None, Some((at, step))) => step.word.is_none() || ledger.may_be_removed(name, at, revision, position),
        (None, None) => true,
    };
    if !is_right {
        let known = before.map(|(at, step)| format!("{:?} at {at}", step.word));
        let text = format!("the state of {name} before revision {revision} is {previous:?}, but it was {known:?}");
        let first = before.map(|(_, step)| step.first);
        findings.add(Promise::Previous, first.into_iter().chain([position]), text);
    }
}
