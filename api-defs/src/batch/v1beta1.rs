//! `batch/v1beta1`, which is no longer served: the cron job of v1 under another version.

mod cron_job;

pub use cron_job::CronJob;
