//! `policy`: disruption budgets and evictions.

pub mod v1;
pub mod v1beta1;
