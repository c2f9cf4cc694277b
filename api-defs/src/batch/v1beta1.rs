//! `batch/v1beta1`, which is no longer served: the cron job of v1 under another version.

mod cron_job;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use cron_job::CronJob;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_400, 9);
