//! Table columns of priority levels.

use planesmith_machinery::table::Cell;

use super::{PriorityLevelConfiguration, QueuingConfiguration};

pub(super) fn shares(level: &PriorityLevelConfiguration) -> Cell {
    let limited = level.spec.limited.as_ref();
    number(limited.map(|limited| limited.nominal_concurrency_shares.unwrap_or_default()))
}

pub(super) fn queues(level: &PriorityLevelConfiguration) -> Cell {
    number(queuing(level).map(|queuing| queuing.queues))
}

pub(super) fn hand_size(level: &PriorityLevelConfiguration) -> Cell {
    number(queuing(level).map(|queuing| queuing.hand_size))
}

pub(super) fn queue_length(level: &PriorityLevelConfiguration) -> Cell {
    number(queuing(level).map(|queuing| queuing.queue_length_limit))
}

fn queuing(level: &PriorityLevelConfiguration) -> Option<&QueuingConfiguration> {
    level.spec.limited.as_ref()?.limit_response.queuing.as_ref()
}

fn number(number: Option<i32>) -> Cell {
    number.map_or_else(
        || Cell::Text("<none>".to_owned()),
        |number| Cell::Integer(number.into()),
    )
}
