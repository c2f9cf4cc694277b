//! `batch`: jobs and cron jobs.

pub mod v1;
pub mod v1beta1;
