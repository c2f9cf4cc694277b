//! Table columns of jobs.

use planesmith_machinery::age;
use planesmith_machinery::table::Cell;
use planesmith_machinery::time::Time;

use super::Job;
use crate::core::v1::workload::columns;

pub(super) fn status(job: &Job) -> Cell {
    let is = |type_: &str| job.status.is(type_);
    let text = if is("Complete") {
        "Complete"
    } else if is("Failed") {
        "Failed"
    } else if job.metadata.deletion_timestamp.is_some() {
        "Terminating"
    } else if is("Suspended") {
        "Suspended"
    } else if is("FailureTarget") {
        "FailureTarget"
    } else if is("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    };
    Cell::Text(text.to_owned())
}

pub(super) fn completions(job: &Job) -> Cell {
    let done = job.status.succeeded;
    Cell::Text(match (job.spec.completions, job.spec.parallelism.unwrap_or_default()) {
        (Some(wanted), _) => format!("{done}/{wanted}"),
        (None, parallelism @ 2..) => format!("{done}/1 of {parallelism}"),
        (None, _) => format!("{done}/1"),
    })
}

pub(super) fn duration(job: &Job) -> Cell {
    let Some(start) = job.status.start_time.as_ref().and_then(Time::timestamp) else {
        return Cell::Text(String::new());
    };
    match job.status.completion_time.as_ref().and_then(Time::timestamp) {
        Some(end) => Cell::Text(age::format(end.as_second() - start.as_second())),
        None => age::cell(Some(start)),
    }
}

pub(super) fn containers(job: &Job) -> Cell {
    columns::containers(&job.spec.template)
}

pub(super) fn images(job: &Job) -> Cell {
    columns::images(&job.spec.template)
}

pub(super) fn selector(job: &Job) -> Cell {
    columns::selector(job.spec.selector.as_ref())
}
