//! `v1`: pod disruption budgets, and evictions, which respect them.

mod eviction;
mod pod_disruption_budget;

pub use eviction::Eviction;
pub(in crate::policy) use pod_disruption_budget::Everything;
pub use pod_disruption_budget::{PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus};
