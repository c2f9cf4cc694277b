//! `v1`: pod disruption budgets, and evictions, which respect them.

mod eviction;
mod pod_disruption_budget;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use eviction::Eviction;
pub(in crate::policy) use pod_disruption_budget::Everything;
pub use pod_disruption_budget::{PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_100, 15);
