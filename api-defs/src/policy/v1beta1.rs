//! `v1beta1`: not served any more. Its empty selectors select nothing.

mod eviction;
mod pod_disruption_budget;

pub use eviction::Eviction;
pub use pod_disruption_budget::{PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus};
