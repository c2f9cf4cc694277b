//! Table columns of deployments.

use planesmith_machinery::table::Cell;

use super::Deployment;
use crate::core::v1::workload::columns;

pub(super) fn ready(deployment: &Deployment) -> Cell {
    let wanted = deployment.spec.replicas.unwrap_or_default();
    Cell::Text(format!("{}/{wanted}", deployment.status.ready_replicas))
}

pub(super) fn updated(deployment: &Deployment) -> Cell {
    columns::count(deployment.status.updated_replicas)
}

pub(super) fn available(deployment: &Deployment) -> Cell {
    columns::count(deployment.status.available_replicas)
}

pub(super) fn containers(deployment: &Deployment) -> Cell {
    columns::containers(&deployment.spec.template)
}

pub(super) fn images(deployment: &Deployment) -> Cell {
    columns::images(&deployment.spec.template)
}

pub(super) fn selector(deployment: &Deployment) -> Cell {
    columns::selector(deployment.spec.selector.as_ref())
}
