//! Table columns of pods.

use planesmith_machinery::table::{Cell, Completion};
use planesmith_machinery::time::Time;

use super::{Pod, PodStatus};
use crate::core::v1::{ContainerStateTerminated, ContainerStatus};

/// Summary of the statuses of a pod's containers.
struct Summary {
    ready: usize,
    total: usize,
    reason: String,
    restarts: Restarts,
}

/// Number of container restarts and the time of the last one.
#[derive(Clone, Copy, Default)]
struct Restarts {
    count: i64,
    last: Option<Time>,
}

impl Restarts {
    fn add(&mut self, status: &ContainerStatus) {
        self.count += i64::from(status.restart_count);
        let ended = status.last_state.terminated.as_ref().map(|end| end.finished_at);
        self.last = self.last.max(ended.filter(|time| !time.is_zero()));
    }
}

/// Returns the completion of the pod for the table's condition; `None` while it is not finished.
pub(super) fn completion(status: &PodStatus) -> Option<Completion> {
    match status.phase.as_str() {
        "Succeeded" => Some(Completion {
            reason: "Succeeded",
            message: "The pod has completed successfully.",
        }),
        "Failed" => Some(Completion {
            reason: "Failed",
            message: "The pod failed.",
        }),
        _ => None,
    }
}

pub(super) fn ready(pod: &Pod) -> Cell {
    let summary = summary(pod);
    Cell::Text(format!("{}/{}", summary.ready, summary.total))
}

pub(super) fn status(pod: &Pod) -> Cell {
    Cell::Text(summary(pod).reason)
}

pub(super) fn restarts(pod: &Pod) -> Cell {
    let Restarts { count, last } = summary(pod).restarts;
    match (count, last.and_then(|time| time.timestamp())) {
        (1.., Some(since)) => Cell::Aged {
            before: format!("{count} ("),
            since,
            after: " ago)",
        },
        _ => Cell::Text(count.to_string()),
    }
}

pub(super) fn ip(pod: &Pod) -> Cell {
    text_or_none(pod.status.pod_ips.first().map_or("", |ip| &ip.ip))
}

pub(super) fn node(pod: &Pod) -> Cell {
    text_or_none(&pod.spec.node_name)
}

pub(super) fn nominated_node(pod: &Pod) -> Cell {
    text_or_none(&pod.status.nominated_node_name)
}

pub(super) fn readiness_gates(pod: &Pod) -> Cell {
    let gates = &pod.spec.readiness_gates;
    if gates.is_empty() {
        return text_or_none("");
    }
    let open = gates
        .iter()
        .filter(|gate| has_condition(pod, &gate.condition_type))
        .count();
    Cell::Text(format!("{open}/{}", gates.len()))
}

fn text_or_none(text: &str) -> Cell {
    Cell::Text(if text.is_empty() { "<none>" } else { text }.to_owned())
}

/// True if the first condition of this type has status True.
fn has_condition(pod: &Pod, type_: &str) -> bool {
    let found = pod.status.conditions.iter().find(|condition| condition.type_ == type_);
    found.is_some_and(|condition| condition.status == "True")
}

fn summary(pod: &Pod) -> Summary {
    let status = &pod.status;
    let gated = |condition: &crate::core::v1::PodCondition| {
        condition.type_ == "PodScheduled" && condition.reason == "SchedulingGated"
    };
    let reason = match status.reason.as_str() {
        _ if status.conditions.iter().any(gated) => "SchedulingGated",
        "" => &status.phase,
        reason => reason,
    };
    let sidecars = pod
        .spec
        .init_containers
        .iter()
        .filter(|container| container.is_sidecar())
        .count();
    let mut summary = Summary {
        ready: 0,
        total: pod.spec.containers.len() + sidecars,
        reason: reason.to_owned(),
        restarts: Restarts::default(),
    };
    let (initializing, of_sidecars) = summary.prepare(pod);
    if !initializing || has_condition(pod, "Initialized") {
        summary.restarts = of_sidecars;
        summary.run(pod);
    }
    if pod.metadata.deletion_timestamp.is_some() {
        if status.reason == "NodeLost" {
            summary.reason = "Unknown".to_owned();
        } else if !matches!(status.phase.as_str(), "Failed" | "Succeeded") {
            summary.reason = "Terminating".to_owned();
        }
    }
    summary
}

impl Summary {
    /// Summarizes the init containers up to the first unfinished one. Returns true if there is one, and the restarts of
    /// the sidecars.
    fn prepare(&mut self, pod: &Pod) -> (bool, Restarts) {
        let containers = &pod.spec.init_containers;
        let mut of_sidecars = Restarts::default();
        for (index, status) in pod.status.init_container_statuses.iter().enumerate() {
            self.restarts.add(status);
            let container = containers.iter().rfind(|container| container.name == status.name);
            let sidecar = container.is_some_and(|container| container.is_sidecar());
            if sidecar {
                of_sidecars.add(status);
            }
            let waiting = status.state.waiting.as_ref().map_or("", |waiting| &waiting.reason);
            self.reason = match &status.state.terminated {
                Some(end) if end.exit_code == 0 => continue,
                _ if sidecar && status.started == Some(true) => {
                    self.ready += usize::from(status.ready);
                    continue;
                }
                Some(end) => format!("Init:{}", ending(end)),
                None if !matches!(waiting, "" | "PodInitializing") => format!("Init:{waiting}"),
                None => format!("Init:{index}/{}", containers.len()),
            };
            return (true, of_sidecars);
        }
        (false, of_sidecars)
    }

    /// Summarizes the main containers. The reason of the first one takes precedence.
    fn run(&mut self, pod: &Pod) {
        let mut running = false;
        let mut failure = None;
        for status in pod.status.container_statuses.iter().rev() {
            self.restarts.add(status);
            let waiting = status.state.waiting.as_ref().map_or("", |waiting| &waiting.reason);
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.reason);
            } else if let Some(end) = &status.state.terminated {
                self.reason = ending(end);
                if end.exit_code != 0 {
                    failure = Some(self.reason.clone());
                }
            } else if status.ready && status.state.running.is_some() {
                running = true;
                self.ready += 1;
            }
        }
        // A completed container must not hide others that run or failed.
        if self.reason == "Completed" {
            if running && has_condition(pod, "Ready") {
                "Running".clone_into(&mut self.reason);
            } else if let Some(failure) = failure {
                self.reason = failure;
            } else if running {
                "NotReady".clone_into(&mut self.reason);
            }
        }
    }
}

/// Returns the reason of a container's termination.
fn ending(end: &ContainerStateTerminated) -> String {
    match (end.reason.as_str(), end.signal) {
        ("", 0) => format!("ExitCode:{}", end.exit_code),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_rows_of_ended_pods_say_how_they_ended() {
        let reason = |phase: &str| {
            let status = PodStatus {
                phase: phase.to_owned(),
                ..PodStatus::default()
            };
            completion(&status).map(|completion| completion.reason)
        };
        assert_eq!(reason("Succeeded"), Some("Succeeded"));
        assert_eq!(reason("Failed"), Some("Failed"));
        assert_eq!(reason("Running"), None);
    }

    /// Returns the cells for readiness, status and restarts.
    #[expect(clippy::needless_pass_by_value, reason = "cases are written in place")]
    fn cells(init: &Value, status: Value) -> [String; 3] {
        let document = json!({
            "spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}], "initContainers": init},
            "status": status,
        });
        let pod: Pod = serde_json::from_value(document).unwrap();
        [ready(&pod), super::status(&pod), restarts(&pod)].map(|cell| match cell {
            Cell::Text(text) => text,
            Cell::Aged { before, since, after } => format!("{before}{since}{after}"),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn the_word_for_a_pod_is_that_of_what_holds_it_up() {
        let running = json!({"name": "c", "ready": true, "state": {"running": {}}});
        let done = json!({"name": "d", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}});
        let first_done = json!({"name": "c", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}});
        let sidecar = json!([{"name": "s", "image": "i", "restartPolicy": "Always"}]);
        let started =
            json!([{"name": "s", "ready": true, "started": true, "restartCount": 2, "state": {"running": {}}}]);
        let cases = [
            (json!([]), json!({"phase": "Pending"}), ["0/2", "Pending", "0"]),
            (
                json!([]),
                json!({"phase": "Running", "containerStatuses": [running, done]}),
                ["1/2", "NotReady", "0"],
            ),
            (
                json!([]),
                json!({"phase": "Running", "containerStatuses": [running, done], "conditions": [{"type": "Ready", "status": "True"}]}),
                ["1/2", "Running", "0"],
            ),
            (
                json!([]),
                json!({"phase": "Running", "containerStatuses": [{"name": "c", "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}),
                ["0/2", "CrashLoopBackOff", "3"],
            ),
            (
                json!([]),
                json!({"phase": "Failed", "containerStatuses": [first_done, {"name": "d", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}]}),
                ["0/2", "Error", "0"],
            ),
            (
                json!([]),
                json!({"phase": "Failed", "containerStatuses": [first_done, {"name": "d", "state": {"terminated": {"exitCode": 137, "signal": 9}}}]}),
                ["0/2", "Signal:9", "0"],
            ),
            (
                sidecar,
                json!({"phase": "Running", "initContainerStatuses": started, "containerStatuses": [running]}),
                ["2/3", "Running", "2"],
            ),
            (
                json!([{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]),
                json!({"phase": "Pending", "initContainerStatuses": [{"name": "a", "restartCount": 1, "state": {"waiting": {"reason": "PodInitializing"}}}]}),
                ["0/2", "Init:0/2", "1"],
            ),
            (
                json!([]),
                json!({"phase": "Failed", "reason": "Evicted"}),
                ["0/2", "Evicted", "0"],
            ),
        ];
        for (init, status, expected) in cases {
            assert_eq!(cells(&init, status), expected);
        }
    }

    #[test]
    fn restarts_tell_when_the_last_one_was() {
        let old = json!({"phase": "Running", "containerStatuses": [
            {"name": "c", "restartCount": 3, "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2020-01-01T00:00:00Z"}}},
        ]});
        let [_, _, restarts] = cells(&json!([]), old);
        assert_eq!(restarts, "3 (2020-01-01T00:00:00Z ago)");
    }
}
