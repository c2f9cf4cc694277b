//! Table columns of daemon sets.

use planesmith_machinery::table::Cell;

use super::DaemonSet;
use crate::core::v1::workload::columns;

pub(super) fn desired(set: &DaemonSet) -> Cell {
    columns::count(set.status.desired_number_scheduled)
}

pub(super) fn current(set: &DaemonSet) -> Cell {
    columns::count(set.status.current_number_scheduled)
}

pub(super) fn ready(set: &DaemonSet) -> Cell {
    columns::count(set.status.number_ready)
}

pub(super) fn updated(set: &DaemonSet) -> Cell {
    columns::count(set.status.updated_number_scheduled)
}

pub(super) fn available(set: &DaemonSet) -> Cell {
    columns::count(set.status.number_available)
}

pub(super) fn node_selector(set: &DaemonSet) -> Cell {
    columns::labels(&set.spec.template.spec.node_selector)
}

pub(super) fn containers(set: &DaemonSet) -> Cell {
    columns::containers(&set.spec.template)
}

pub(super) fn images(set: &DaemonSet) -> Cell {
    columns::images(&set.spec.template)
}

pub(super) fn selector(set: &DaemonSet) -> Cell {
    columns::selector(set.spec.selector.as_ref())
}
