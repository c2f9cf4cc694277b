//! `v1beta1`, which is no longer served. Its empty selectors match nothing.

mod eviction;
mod pod_disruption_budget;

pub use eviction::Eviction;
pub use pod_disruption_budget::{PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus};
