//! `batch/v1beta1`, which is not served any more: the newest kind under another name.

mod cron_job;

pub use cron_job::CronJob;
