//! Namespaces use no more than their quotas allow.

mod claims;
mod configuration;
mod evaluator;
mod pods;
mod request;
mod services;
mod writer;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use planesmith_access::admission::{Attributes, Lister, Objects, Operation, Phase, Plugin, Verdict};
use planesmith_api_defs::core::v1::ResourceQuota;
use planesmith_machinery::status::{ApiError, ApiResult};
use tokio::sync::Mutex;

use crate::loopback::Loopback;
use configuration::LimitedResource;
use evaluator::Evaluator;
pub(super) use pods::is_extended;
use request::{Asked, charged};
use writer::{ThroughLoopback, Writer};

/// How often a quota is looked at again because somebody else changed it meanwhile.
const RETRIES: usize = 3;
/// How long a write waits for others of its namespace.
const PATIENCE: Duration = Duration::from_secs(10);
/// Namespaces share this many locks.
const LOCKS: usize = 64;

/// Charges writes to the quotas of their namespace, and refuses those that are too much.
pub(super) struct ResourceQuotas {
    objects: Arc<dyn Lister>,
    writer: Box<dyn Writer>,
    limited: Vec<LimitedResource>,
    /// Writes of one namespace are charged one after the other, so that they do not compete for its quotas.
    locks: [Mutex<()>; LOCKS],
    hasher: RandomState,
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
            Box::new(ThroughLoopback(loopback.clone())),
            limited,
        ))
    }

    fn with_writer(objects: Arc<dyn Lister>, writer: Box<dyn Writer>, limited: Vec<LimitedResource>) -> Self {
        Self {
            objects,
            writer,
            limited,
            locks: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
        }
    }

    async fn charge(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let is_new_namespace = attributes.operation == Operation::Create && attributes.is_for("", "namespaces");
        // Events come and go by themselves.
        if attributes.namespace.is_empty() || is_new_namespace || attributes.is_for("", "events") {
            return Ok(());
        }
        let evaluator = Evaluator::of(attributes);
        let Some(asked) = Asked::new(&evaluator, attributes, objects) else {
            return Ok(());
        };
        if self.limited.is_empty() && self.objects.all::<ResourceQuota>(attributes.namespace)?.is_empty() {
            return Ok(());
        }
        let lock = self.hasher.hash_one(attributes.namespace) % LOCKS as u64;
        let lock = usize::try_from(lock).unwrap_or_default();
        let Ok(_guard) = tokio::time::timeout(PATIENCE, self.locks[lock].lock()).await else {
            return Err(ApiError::internal("resource quota evaluation timed out"));
        };
        self.charge_locked(attributes, &asked).await
    }

    async fn charge_locked(&self, attributes: &Attributes<'_>, asked: &Asked<'_>) -> ApiResult<()> {
        let mut quotas = self.quotas(attributes.namespace)?;
        let mut retries = RETRIES;
        loop {
            let charged = charged(&quotas, asked, &self.limited)?;
            if attributes.dry_run {
                return Ok(());
            }
            let mut failed = Vec::new();
            let mut last = None;
            for (quota, before) in charged.iter().zip(&quotas) {
                if quota.status.used == before.status.used {
                    continue;
                }
                if let Err(error) = self.writer.write(quota).await {
                    failed.push(quota.metadata.name.clone());
                    last = Some(error);
                }
            }
            let Some(error) = last else {
                return Ok(());
            };
            if retries == 0 {
                return Err(error);
            }
            retries -= 1;
            // The others are charged already; one that is gone does not count any more.
            quotas = self.quotas(attributes.namespace)?;
            quotas.retain(|quota| failed.contains(&quota.metadata.name));
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

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> Verdict<'a> {
        Box::pin(self.charge(attributes, objects))
    }
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "values that are written in place are passed on as they are"
)]
mod tests;
