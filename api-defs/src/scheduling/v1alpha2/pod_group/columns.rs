//! Table columns of pod groups.

use planesmith_machinery::table::Cell;

use super::PodGroup;

pub(super) fn policy(group: &PodGroup) -> Cell {
    let gang = group.spec.scheduling_policy.gang.is_some();
    Cell::Text(if gang { "Gang" } else { "Basic" }.to_owned())
}

pub(super) fn workload(group: &PodGroup) -> Cell {
    Cell::Text(match &group.spec.pod_group_template_ref {
        None => "<none>".to_owned(),
        Some(reference) => {
            let workload = reference.workload.as_ref();
            workload
                .map(|workload| workload.workload_name.clone())
                .unwrap_or_default()
        }
    })
}

/// Renders the status of the group. The reason of a preemption takes precedence.
pub(super) fn status(group: &PodGroup) -> Cell {
    let conditions = &group.status.conditions;
    let last = |type_: &str| conditions.iter().rfind(|condition| condition.r#type == type_);
    let text = match (last("DisruptionTarget"), last("PodGroupScheduled")) {
        (Some(disrupted), _) => &disrupted.reason,
        (None, Some(scheduled)) if scheduled.status == "True" => "Scheduled",
        (None, Some(_)) => "Unschedulable",
        (None, None) => "Pending",
    };
    Cell::Text(text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_word_for_a_group_is_that_of_its_latest_trouble() {
        let scheduled = |status: &str| json!({"type": "PodGroupScheduled", "status": status});
        let disrupted = json!({"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"});
        let cases = [
            (json!([]), "Pending"),
            (json!([scheduled("True")]), "Scheduled"),
            (json!([scheduled("False")]), "Unschedulable"),
            (json!([disrupted, scheduled("True")]), "PreemptionByScheduler"),
        ];
        for (conditions, expected) in cases {
            let document = json!({"spec": {"schedulingPolicy": {}}, "status": {"conditions": conditions}});
            let group: PodGroup = serde_json::from_value(document).unwrap();
            assert_eq!(status(&group), Cell::Text(expected.to_owned()));
            assert_eq!(workload(&group), Cell::Text("<none>".to_owned()));
            assert_eq!(policy(&group), Cell::Text("Basic".to_owned()));
        }
    }
}
