//! Storage: its classes, its drivers, and what is attached where.

pub mod v1;
pub mod v1alpha1;
pub mod v1beta1;
