//! Table columns of replication controllers.

use planesmith_machinery::table::Cell;

use super::{PodTemplateSpec, ReplicationController};
use crate::core::v1::workload::columns;

pub(super) fn desired(controller: &ReplicationController) -> Cell {
    columns::count(controller.spec.replicas.unwrap_or_default())
}

pub(super) fn current(controller: &ReplicationController) -> Cell {
    columns::count(controller.status.replicas)
}

pub(super) fn ready(controller: &ReplicationController) -> Cell {
    columns::count(controller.status.ready_replicas)
}

pub(super) fn containers(controller: &ReplicationController) -> Cell {
    of_template(controller, columns::containers)
}

pub(super) fn images(controller: &ReplicationController) -> Cell {
    of_template(controller, columns::images)
}

pub(super) fn selector(controller: &ReplicationController) -> Cell {
    columns::labels(&controller.spec.selector)
}

fn of_template(controller: &ReplicationController, cell: fn(&PodTemplateSpec) -> Cell) -> Cell {
    controller
        .spec
        .template
        .as_ref()
        .map_or(Cell::Text(String::new()), cell)
}
