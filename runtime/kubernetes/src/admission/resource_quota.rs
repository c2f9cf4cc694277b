//! Enforces resource quotas.

mod claims;
mod configuration;
mod devices;
pub(crate) mod evaluator;
mod ledger;
mod pods;
pub(crate) mod recount;
mod request;
mod services;
mod writer;

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use anyhow::Result;
use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin};
use planesmith_api_defs::core::v1::ResourceQuota;
use planesmith_control_plane::loopback::Loopback;
use planesmith_machinery::clock::Clock;
use planesmith_machinery::status::ApiResult;

use configuration::LimitedResource;
use evaluator::Evaluator;
use ledger::{Ledger, RejectedCharge};
pub(super) use pods::is_extended;
use request::{QuotaRequest, charged};
use writer::{ThroughLoopback, Writer};

/// The number of times a charge is repeated because another writer changed the quota meanwhile.
const RETRIES: usize = 3;
/// The number of ledgers that namespaces share.
const LEDGERS: usize = 64;

/// Charges writes to the quotas of their namespace, and refuses those that exceed them.
pub(super) struct ResourceQuotas {
    objects: Arc<dyn Lister>,
    writer: Arc<dyn Writer>,
    limited: Vec<LimitedResource>,
    /// Writes of one namespace are charged one after the other and stored together, so that they do not conflict on
    /// its quotas.
    ledgers: [Arc<Ledger>; LEDGERS],
    hasher: RandomState,
    clock: Arc<dyn Clock>,
}

impl ResourceQuotas {
    /// The plugin with its part of the configuration file.
    pub(super) fn new(
        objects: Arc<dyn Lister>,
        loopback: &Loopback,
        configuration: Option<&serde_json::Value>,
    ) -> Result<Self> {
        let limited = configuration::read(configuration)?;
        Ok(Self::with_writer(
            objects,
            Arc::new(ThroughLoopback(loopback.clone())),
            limited,
            Arc::clone(loopback.clock()),
        ))
    }

    fn with_writer(
        objects: Arc<dyn Lister>,
        writer: Arc<dyn Writer>,
        limited: Vec<LimitedResource>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            objects,
            writer,
            limited,
            ledgers: std::array::from_fn(|_| Arc::default()),
            hasher: RandomState::new(),
            clock,
        }
    }

    async fn charge(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let is_new_namespace = attributes.operation == Operation::Create && attributes.is_for("", "namespaces");
        // Events expire by themselves.
        if attributes.namespace.is_empty() || is_new_namespace || attributes.is_for("", "events") {
            return Ok(());
        }
        let evaluator = Evaluator::from_attributes(attributes, &*self.objects, &*self.clock);
        let Some(request) = QuotaRequest::new(&evaluator, attributes, objects) else {
            return Ok(());
        };
        if self.limited.is_empty() && self.objects.all::<ResourceQuota>(attributes.namespace)?.is_empty() {
            return Ok(());
        }
        let ledger = self.hasher.hash_one(attributes.namespace) % LEDGERS as u64;
        let ledger = &self.ledgers[usize::try_from(ledger).unwrap_or_default()];
        let mut only = None;
        let mut retries = RETRIES;
        loop {
            let stored = || {
                let mut quotas = self.quotas(attributes.namespace)?;
                // The others are charged already; a deleted quota does not count any more.
                quotas.retain(|quota| {
                    only.as_ref()
                        .is_none_or(|only: &BTreeSet<_>| only.contains(&ledger::key(quota)))
                });
                Ok(quotas)
            };
            let work = |quotas: &[ResourceQuota]| charged(quotas, &request, &self.limited);
            let Some(charge) = ledger.charge(stored, work, attributes.dry_run)? else {
                return Ok(());
            };
            let Err(RejectedCharge { quotas, why }) = ledger.store(charge, &self.writer).await? else {
                return Ok(());
            };
            if retries == 0 {
                return Err(why);
            }
            retries -= 1;
            only = Some(quotas);
        }
    }

    fn quotas(&self, namespace: &str) -> ApiResult<Vec<ResourceQuota>> {
        let quotas = self.objects.all::<ResourceQuota>(namespace)?;
        Ok(quotas.iter().map(|quota| (**quota).clone()).collect())
    }
}

impl Plugin for ResourceQuotas {
    fn name(&self) -> &'static str {
        "ResourceQuota"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update) && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        Box::pin(self.charge(attributes, objects))
    }
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "values that are written in place are passed on as they are"
)]
mod tests;
