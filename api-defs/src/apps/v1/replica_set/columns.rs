//! Table columns of replica sets.

use planesmith_machinery::table::Cell;

use super::ReplicaSet;
use crate::core::v1::workload::columns;

pub(super) fn desired(set: &ReplicaSet) -> Cell {
    columns::count(set.spec.replicas.unwrap_or_default())
}

pub(super) fn current(set: &ReplicaSet) -> Cell {
    columns::count(set.status.replicas)
}

pub(super) fn ready(set: &ReplicaSet) -> Cell {
    columns::count(set.status.ready_replicas)
}

pub(super) fn containers(set: &ReplicaSet) -> Cell {
    columns::containers(&set.spec.template)
}

pub(super) fn images(set: &ReplicaSet) -> Cell {
    columns::images(&set.spec.template)
}

pub(super) fn selector(set: &ReplicaSet) -> Cell {
    columns::selector(set.spec.selector.as_ref())
}
