//! Cron jobs, as in v1.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use crate::batch::v1::{CronJobSpec, CronJobStatus};

/// Creates jobs on a schedule, as in the newest version.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "batch",
    version = "v1beta1",
    short("cj"),
    categories("all"),
    status,
    unserved,
    storage_version = crate::batch::v1::CronJob,
    strategy
)]
pub struct CronJob {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Template of the jobs and their schedule.
    #[field(proto = 2, expected)]
    pub spec: CronJobSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: CronJobStatus,
}

impl Strategy for CronJob {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }
}
