//! Table columns of cron jobs.

use planesmith_machinery::age;
use planesmith_machinery::table::Cell;

use super::CronJob;
use crate::core::v1::workload::columns;

const NONE: &str = "<none>";

pub(super) fn time_zone(cron: &CronJob) -> Cell {
    Cell::Text(cron.spec.time_zone.clone().unwrap_or_else(|| NONE.to_owned()))
}

pub(super) fn suspend(cron: &CronJob) -> Cell {
    let text = match cron.spec.suspend {
        None => "<unset>",
        Some(true) => "True",
        Some(false) => "False",
    };
    Cell::Text(text.to_owned())
}

pub(super) fn active(cron: &CronJob) -> Cell {
    Cell::Integer(cron.status.active.len() as i64)
}

pub(super) fn last_schedule(cron: &CronJob) -> Cell {
    match &cron.status.last_schedule_time {
        None => Cell::Text(NONE.to_owned()),
        Some(time) => age::cell(time.timestamp()),
    }
}

pub(super) fn containers(cron: &CronJob) -> Cell {
    columns::containers(&cron.spec.job_template.spec.template)
}

pub(super) fn images(cron: &CronJob) -> Cell {
    columns::images(&cron.spec.job_template.spec.template)
}

pub(super) fn selector(cron: &CronJob) -> Cell {
    columns::selector(cron.spec.job_template.spec.selector.as_ref())
}
