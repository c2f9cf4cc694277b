//! Table columns of ComponentStatuses.

use planesmith_machinery::table::Cell;

use super::{ComponentCondition, ComponentStatus};

pub(super) fn status(component: &ComponentStatus) -> Cell {
    let status = match healthy(component).map(|condition| condition.status.as_str()) {
        Some("True") => "Healthy",
        Some(_) => "Unhealthy",
        None => "Unknown",
    };
    Cell::Text(status.to_owned())
}

pub(super) fn message(component: &ComponentStatus) -> Cell {
    Cell::Text(healthy(component).map_or(String::new(), |condition| condition.message.clone()))
}

pub(super) fn error(component: &ComponentStatus) -> Cell {
    Cell::Text(healthy(component).map_or(String::new(), |condition| condition.error.clone()))
}

fn healthy(component: &ComponentStatus) -> Option<&ComponentCondition> {
    component
        .conditions
        .iter()
        .find(|condition| condition.type_ == "Healthy")
}
