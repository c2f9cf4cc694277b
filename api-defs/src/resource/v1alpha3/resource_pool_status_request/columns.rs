//! Table columns of pool status requests.

use planesmith_machinery::age;
use planesmith_machinery::meta::Condition;
use planesmith_machinery::table::Cell;

use super::{PoolStatus, ResourcePoolStatusRequest};

pub(super) fn total(request: &ResourcePoolStatusRequest) -> Cell {
    sum(request, |pool| pool.total_devices)
}

pub(super) fn available(request: &ResourcePoolStatusRequest) -> Cell {
    sum(request, |pool| pool.available_devices)
}

pub(super) fn allocated(request: &ResourcePoolStatusRequest) -> Cell {
    sum(request, |pool| pool.allocated_devices)
}

pub(super) fn unavailable(request: &ResourcePoolStatusRequest) -> Cell {
    sum(request, |pool| pool.unavailable_devices)
}

pub(super) fn errors(request: &ResourcePoolStatusRequest) -> Cell {
    sum(request, |pool| pool.validation_error.as_ref().map(|_| 1))
}

pub(super) fn pools(request: &ResourcePoolStatusRequest) -> Cell {
    Cell::Integer(pool_count(request).into())
}

pub(super) fn status(request: &ResourcePoolStatusRequest) -> Cell {
    let shown = request.status.as_ref().map_or(0, |status| status.pools.len());
    let matching = pool_count(request);
    Cell::Text(match outcome(request).map(|condition| condition.r#type.as_str()) {
        Some("Complete") if i64::from(matching) > i64::try_from(shown).unwrap_or(i64::MAX) => {
            format!("Complete ({shown}/{matching} pools)")
        }
        Some(outcome) => outcome.to_owned(),
        None => "Pending".to_owned(),
    })
}

pub(super) fn completed(request: &ResourcePoolStatusRequest) -> Cell {
    match outcome(request).filter(|condition| condition.r#type == "Complete") {
        Some(condition) => age::cell(condition.last_transition_time.timestamp()),
        None => Cell::Text("<none>".to_owned()),
    }
}

fn pool_count(request: &ResourcePoolStatusRequest) -> i32 {
    let status = request.status.as_ref();
    status.and_then(|status| status.pool_count).unwrap_or_default()
}

/// Returns the first condition that is final.
fn outcome(request: &ResourcePoolStatusRequest) -> Option<&Condition> {
    let mut conditions = request.status.as_ref()?.conditions.iter();
    conditions.find(|condition| condition.status == "True" && matches!(&*condition.r#type, "Complete" | "Failed"))
}

/// Renders the sum over all pools in the status; a dash without a result or after a failure.
fn sum(request: &ResourcePoolStatusRequest, count: impl Fn(&PoolStatus) -> Option<i32>) -> Cell {
    let failed = outcome(request).is_some_and(|condition| condition.r#type == "Failed");
    Cell::Text(match &request.status {
        Some(status) if !failed => {
            let counts = status.pools.iter().filter_map(count);
            counts.fold(0, i32::wrapping_add).to_string()
        }
        _ => "-".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn cells(document: Value) -> [Cell; 4] {
        let request: ResourcePoolStatusRequest = serde_json::from_value(document).unwrap();
        [total(&request), errors(&request), pools(&request), status(&request)]
    }

    fn expected(total: &str, errors: &str, pools: i64, status: &str) -> [Cell; 4] {
        let text = |text: &str| Cell::Text(text.to_owned());
        [text(total), text(errors), Cell::Integer(pools), text(status)]
    }

    #[test]
    fn devices_of_all_pools_in_the_answer_are_added() {
        let status = json!({"poolCount": 3, "conditions": [{"type": "Complete", "status": "True"}], "pools": [
            {"driver": "d", "poolName": "a", "totalDevices": 2},
            {"driver": "d", "poolName": "b", "totalDevices": 3, "validationError": "incomplete"},
        ]});
        let answered = cells(json!({"spec": {}, "status": status}));
        assert_eq!(answered, expected("5", "1", 3, "Complete (2/3 pools)"));
    }

    #[test]
    fn there_are_no_numbers_before_the_answer_and_after_a_failure() {
        assert_eq!(cells(json!({"spec": {}})), expected("-", "-", 0, "Pending"));
        let status = json!({"poolCount": 1, "conditions": [{"type": "Failed", "status": "True"}]});
        let failed = cells(json!({"spec": {}, "status": status}));
        assert_eq!(failed, expected("-", "-", 1, "Failed"));
    }
}
