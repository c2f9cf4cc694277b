//! Charges that are not stored yet.
//!
//! The first write stores the charges of all writes that arrived meanwhile: a namespace with a quota needs one
//! durable write for many objects, as it does without.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use planesmith_api_defs::core::v1::ResourceQuota;
use planesmith_machinery::status::{ApiError, ApiResult};
use tokio::sync::Mutex as Turn;

use super::writer::Writer;

/// The longest time a write waits for its charge to be stored.
const CHARGE_TIMEOUT: Duration = Duration::from_secs(10);

/// The number of failures that are remembered for writes that have not read their outcome yet.
const FAILURES: usize = 64;

/// A quota, by namespace and name.
pub(super) type Key = (String, String);

/// The charges of some namespaces.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    state: Mutex<State>,
    /// Held by the write that stores.
    turn: Turn<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Quotas with all charges, on top of the state that was stored last.
    pending: BTreeMap<Key, ResourceQuota>,
    /// The number of charges so far, and, in `stored`, how many of them are stored.
    charged: u64,
    stored: u64,
    /// Increases when a write of quotas fails: all charges that were not stored then are void.
    epoch: u64,
    failures: VecDeque<Failure>,
}

#[derive(Debug)]
struct Failure {
    epoch: u64,
    /// The last charge in the failed write; a later one is void in all its quotas.
    tried: u64,
    quotas: BTreeSet<Key>,
    why: ApiError,
}

/// A charge that may not be stored yet.
#[derive(Debug)]
pub(super) struct Charge {
    epoch: u64,
    number: u64,
    quotas: BTreeSet<Key>,
}

/// A charge that has to be repeated.
#[derive(Debug)]
pub(super) struct RejectedCharge {
    /// The quotas in which it was not stored.
    pub(super) quotas: BTreeSet<Key>,
    pub(super) why: ApiError,
}

impl Ledger {
    /// Charges the quotas that `stored` reads as `work` says, on top of pending charges. `None` if that changes
    /// nothing, or in a dry run.
    ///
    /// # Errors
    ///
    /// The errors of `stored` and of `work`; nothing is charged then.
    pub(super) fn charge(
        &self,
        stored: impl FnOnce() -> ApiResult<Vec<ResourceQuota>>,
        work: impl FnOnce(&[ResourceQuota]) -> ApiResult<Vec<ResourceQuota>>,
        dry_run: bool,
    ) -> ApiResult<Option<Charge>> {
        // Read under the lock, so that the stored quotas and the pending charges match.
        let mut state = self.lock();
        let mut before = stored()?;
        for quota in &mut before {
            if let Some(pending) = state.pending.get(&key(quota)) {
                quota.clone_from(pending);
            }
        }
        let after = work(&before)?;
        let changed = after.into_iter().zip(&before);
        let changed = changed.filter(|(after, before)| after.status.used != before.status.used);
        let changed: Vec<(Key, ResourceQuota)> = changed.map(|(after, _)| (key(&after), after)).collect();
        if dry_run || changed.is_empty() {
            return Ok(None);
        }
        let quotas = changed.iter().map(|(key, _)| key.clone()).collect();
        state.pending.extend(changed);
        state.charged += 1;
        Ok(Some(Charge {
            epoch: state.epoch,
            number: state.charged,
            quotas,
        }))
    }

    /// Waits until a charge is stored, together with all others that are pending by then.
    ///
    /// # Errors
    ///
    /// 500 when that takes too long; it is stored nevertheless.
    pub(super) async fn store(
        self: &Arc<Self>,
        charge: Charge,
        writer: &Arc<dyn Writer>,
    ) -> ApiResult<Result<(), RejectedCharge>> {
        let (ledger, writer) = (Arc::clone(self), Arc::clone(writer));
        // In a task of its own, since the client may disconnect: a charge that is never stored would count for ever.
        let stored = tokio::spawn(async move { ledger.settle(&charge, &*writer).await });
        let Ok(Ok(outcome)) = tokio::time::timeout(CHARGE_TIMEOUT, stored).await else {
            return Err(ApiError::internal("resource quota evaluation timed out"));
        };
        Ok(outcome)
    }

    async fn settle(&self, charge: &Charge, writer: &dyn Writer) -> Result<(), RejectedCharge> {
        let _turn = self.turn.lock().await;
        let (pending, tried) = {
            let state = self.lock();
            if let Some(outcome) = state.outcome_of(charge) {
                return outcome;
            }
            (state.pending.clone(), state.charged)
        };
        let written = join_all(pending.values().map(|quota| writer.write(quota))).await;
        let mut state = self.lock();
        let mut failed = BTreeSet::new();
        let mut last = None;
        for ((key, quota), written) in pending.iter().zip(written) {
            match written {
                Ok(version) => state.note_stored(key, quota, version),
                Err(why) => {
                    failed.insert(key.clone());
                    last = Some(why);
                }
            }
        }
        match last {
            None => state.stored = tried,
            Some(why) => state.fail(tried, failed, why),
        }
        state.outcome_of(charge).unwrap_or(Ok(()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic leaves at worst a charge behind, which is stored or refused with the next ones.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the outcome of a charge; `None` while it is pending.
    fn outcome_of(&self, charge: &Charge) -> Option<Result<(), RejectedCharge>> {
        if charge.epoch == self.epoch {
            return (charge.number <= self.stored).then_some(Ok(()));
        }
        let failure = self.failures.iter().find(|failure| failure.epoch == charge.epoch);
        let Some(failure) = failure else {
            let why = ApiError::internal("resource quota evaluation timed out");
            let quotas = charge.quotas.clone();
            return Some(Err(RejectedCharge { quotas, why }));
        };
        let quotas: BTreeSet<Key> = match charge.number <= failure.tried {
            true => charge.quotas.intersection(&failure.quotas).cloned().collect(),
            false => charge.quotas.clone(),
        };
        let why = failure.why.clone();
        Some(match quotas.is_empty() {
            true => Ok(()),
            false => Err(RejectedCharge { quotas, why }),
        })
    }

    /// Records that a quota was stored as `written`; later charges are applied on top of that.
    fn note_stored(&mut self, key: &Key, written: &ResourceQuota, version: String) {
        if let Some(pending) = self.pending.get_mut(key) {
            if pending.status.used == written.status.used {
                self.pending.remove(key);
            } else {
                pending.metadata.resource_version = version;
            }
        }
    }

    fn fail(&mut self, tried: u64, quotas: BTreeSet<Key>, why: ApiError) {
        self.failures.push_back(Failure {
            epoch: self.epoch,
            tried,
            quotas,
            why,
        });
        if self.failures.len() > FAILURES {
            self.failures.pop_front();
        }
        self.epoch += 1;
        self.pending.clear();
        self.stored = self.charged;
    }
}

/// Returns the key of a quota.
pub(super) fn key(quota: &ResourceQuota) -> Key {
    (quota.metadata.namespace.clone(), quota.metadata.name.clone())
}
