//! Charges that are not stored yet.
//!
//! Whoever is first stores for all who came meanwhile: a namespace with a quota needs one durable write for many objects,
//! as it does without.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use planesmith_api_defs::core::v1::ResourceQuota;
use planesmith_machinery::status::{ApiError, ApiResult};
use tokio::sync::Mutex as Turn;

use super::writer::Writer;

/// The longest time a write waits for its charge to be stored.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of failures that are remembered for writes that have not read their outcome yet.
const FAILURES: usize = 64;

/// A quota, by namespace and name.
pub(super) type Key = (String, String);

/// The charges of some namespaces.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    state: Mutex<State>,
    /// Held by the one who stores.
    turn: Turn<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Quotas as they will be, on the state that was stored last.
    pending: BTreeMap<Key, ResourceQuota>,
    /// The number of charges so far, and, in `stored`, how many of them are stored.
    charged: u64,
    stored: u64,
    /// Grows when something could not be stored: all that was not stored then is void.
    epoch: u64,
    failures: VecDeque<Failure>,
}

#[derive(Debug)]
struct Failure {
    epoch: u64,
    /// The last charge that was tried; those behind it are void as a whole.
    tried: u64,
    quotas: BTreeSet<Key>,
    why: ApiError,
}

/// A charge that is not known to be stored.
#[derive(Debug)]
pub(super) struct Charge {
    epoch: u64,
    number: u64,
    quotas: BTreeSet<Key>,
}

/// A charge that has to be made again.
#[derive(Debug)]
pub(super) struct Void {
    /// The quotas that it was not stored in.
    pub(super) quotas: BTreeSet<Key>,
    pub(super) why: ApiError,
}

impl Ledger {
    /// Charges the quotas that `stored` reads as `work` says, on top of what others charged; `None` when that changes
    /// nothing, or is not to be kept.
    ///
    /// # Errors
    ///
    /// Those of either; nothing is charged then.
    pub(super) fn charge(
        &self,
        stored: impl FnOnce() -> ApiResult<Vec<ResourceQuota>>,
        work: impl FnOnce(&[ResourceQuota]) -> ApiResult<Vec<ResourceQuota>>,
        dry_run: bool,
    ) -> ApiResult<Option<Charge>> {
        // Read under the lock: what is stored and what is pending belong together.
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

    /// Waits until a charge is stored, with all others that are there when its turn comes.
    ///
    /// # Errors
    ///
    /// 500 when that takes too long; it is stored all the same.
    pub(super) async fn store(
        self: &Arc<Self>,
        charge: Charge,
        writer: &Arc<dyn Writer>,
    ) -> ApiResult<Result<(), Void>> {
        let (ledger, writer) = (Arc::clone(self), Arc::clone(writer));
        // Not by the request itself, whose client may leave: what is charged and never stored would count for ever.
        let stored = tokio::spawn(async move { ledger.settle(&charge, &*writer).await });
        let Ok(Ok(outcome)) = tokio::time::timeout(PATIENCE, stored).await else {
            return Err(ApiError::internal("resource quota evaluation timed out"));
        };
        Ok(outcome)
    }

    async fn settle(&self, charge: &Charge, writer: &dyn Writer) -> Result<(), Void> {
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
        // Whatever a panic left behind is written with what was stored, or refused there.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the outcome of a charge; `None` while it is pending.
    fn outcome_of(&self, charge: &Charge) -> Option<Result<(), Void>> {
        if charge.epoch == self.epoch {
            return (charge.number <= self.stored).then_some(Ok(()));
        }
        let failure = self.failures.iter().find(|failure| failure.epoch == charge.epoch);
        let Some(failure) = failure else {
            let why = ApiError::internal("resource quota evaluation timed out");
            let quotas = charge.quotas.clone();
            return Some(Err(Void { quotas, why }));
        };
        let quotas: BTreeSet<Key> = match charge.number <= failure.tried {
            true => charge.quotas.intersection(&failure.quotas).cloned().collect(),
            false => charge.quotas.clone(),
        };
        let why = failure.why.clone();
        Some(match quotas.is_empty() {
            true => Ok(()),
            false => Err(Void { quotas, why }),
        })
    }

    /// Takes in that a quota is stored as it was `written`; what was charged meanwhile goes on top of that.
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

/// By what a quota is known.
pub(super) fn key(quota: &ResourceQuota) -> Key {
    (quota.metadata.namespace.clone(), quota.metadata.name.clone())
}
