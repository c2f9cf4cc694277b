//! Leases.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::micro_time::MicroTime;
use planesmith_machinery::names;
use planesmith_machinery::strategy::{Context, MetadataRules, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;
use planesmith_machinery::{Resource, Struct};

use crate::features::COORDINATED_LEADER_ELECTION;

/// Strategies of leader election that Kubernetes defines.
const STRATEGIES: [&str; 1] = ["OldestEmulationVersion"];

/// A claim that its holder renews and that others may take over after it has expired. Nodes use it as a heartbeat,
/// controllers for leader election.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "coordination.k8s.io",
    version = "v1",
    create_on_update,
    conditional_update,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(
        name = "Holder",
        type = "string",
        doc = "The holder.",
        with = holder
    ),
    column(age)
)]
pub struct Lease {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Holder and duration of the claim.
    #[field(proto = 2)]
    pub spec: LeaseSpec,
}

fn holder(lease: &Lease) -> Cell {
    Cell::Text(lease.spec.holder_identity.clone().unwrap_or_default())
}

/// Holder and duration of a claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LeaseSpec {
    /// Identity of the holder. Empty when the claim was released.
    #[field(proto = 1)]
    pub holder_identity: Option<String>,
    /// Duration of the lease in seconds after renewTime, in which other candidates must not take it over.
    #[field(proto = 2)]
    pub lease_duration_seconds: Option<i32>,
    /// Time when the holder acquired the claim.
    #[field(proto = 3)]
    pub acquire_time: Option<MicroTime>,
    /// Time of the holder's last renewal.
    #[field(proto = 4)]
    pub renew_time: Option<MicroTime>,
    /// Number of changes of the holder.
    #[field(proto = 5)]
    pub lease_transitions: Option<i32>,
    /// Strategy of a coordinated leader election. Belongs to an alpha feature that is disabled here: values are
    /// dropped.
    #[field(proto = 6, go_type = "CoordinatedLeaseStrategy")]
    pub strategy: Option<String>,
    /// Identity that the holder should yield to. Belongs to an alpha feature that is disabled here: values are dropped.
    #[field(proto = 7)]
    pub preferred_holder: Option<String>,
}

impl Strategy for Lease {
    fn prepare_for_create(&mut self, context: &Context<'_>) {
        if context.features.has(&COORDINATED_LEADER_ELECTION) {
            return;
        }
        self.spec.strategy = None;
        self.spec.preferred_holder = None;
    }

    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        if context.features.has(&COORDINATED_LEADER_ELECTION) {
            return;
        }
        // A stored value stays legal.
        if old.spec.strategy.is_none() {
            self.spec.strategy = None;
        }
        if old.spec.preferred_holder.is_none() {
            self.spec.preferred_holder = None;
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let spec = &self.spec;
        if let Some(seconds @ ..=0) = spec.lease_duration_seconds {
            errors.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0");
        }
        if let Some(transitions @ ..0) = spec.lease_transitions {
            errors.invalid(
                "spec.leaseTransitions",
                transitions,
                "must be greater than or equal to 0",
            );
        }
        let strategy = spec.strategy.as_deref().unwrap_or_default();
        if spec.strategy.is_some() {
            check_strategy("spec.strategy", strategy, errors);
        }
        let preferred = spec.preferred_holder.as_deref().unwrap_or_default();
        if !preferred.is_empty() && strategy.is_empty() {
            errors.forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined");
        }
    }
}

impl StrategyExtensions for Lease {
    const METADATA: MetadataRules = MetadataRules::AnyFinalizers;
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::METADATA_FIRST;
}

/// Reports errors in the election strategy at `field`.
pub(crate) fn check_strategy(field: &str, strategy: &str, errors: &mut FieldErrors) {
    // As in kube-apiserver, the path of the error is doubled.
    let errors = &mut *errors.at(field);
    if strategy.contains('/') {
        for problem in names::qualified_name(strategy) {
            errors.invalid("strategy", strategy, problem);
        }
    } else if !STRATEGIES.contains(&strategy) {
        errors.not_supported("strategy", strategy, &STRATEGIES);
    }
}
