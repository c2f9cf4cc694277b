//! Table columns of stateful sets.

use planesmith_machinery::table::Cell;

use super::StatefulSet;
use crate::core::v1::workload::columns;

pub(super) fn ready(set: &StatefulSet) -> Cell {
    let wanted = set.spec.replicas.unwrap_or_default();
    Cell::Text(format!("{}/{wanted}", set.status.ready_replicas))
}

pub(super) fn containers(set: &StatefulSet) -> Cell {
    columns::containers(&set.spec.template)
}

pub(super) fn images(set: &StatefulSet) -> Cell {
    columns::images(&set.spec.template)
}
