//! Deletes finished jobs after their TTL.

use std::time::Duration;

use planesmith_control_plane::controllers::MANAGER;
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_control_plane::reconciler::Reconcile;
use planesmith_control_plane::resource_client::{ResourceClient, text};
use planesmith_machinery::time::Time;
use planesmith_server::stores::Stores;
use serde_json::Value;

/// Deletes finished jobs and their dependents.
pub(super) struct FinishedJobs {
    jobs: ResourceClient,
}

impl FinishedJobs {
    /// `None` for a server without jobs.
    pub(super) fn new(stores: &Stores, loopback: &Loopback) -> Option<Self> {
        let jobs = ResourceClient::of(stores, loopback, "batch", "v1", "jobs")?.managed_by(MANAGER);
        Some(Self { jobs })
    }

    /// Returns the job, and the seconds until it expires; `None` if it does not expire.
    fn ending(&self, key: &str) -> Option<(Value, i64)> {
        let (namespace, name) = key.split_once('/')?;
        let job = self.jobs.get(namespace, name)?;
        let end = end(&job)?;
        Some((job, end - Time::from(self.jobs.clock().now()).as_second()))
    }
}

impl Reconcile for FinishedJobs {
    const NAME: &'static str = "removal of a finished job";

    fn watched(&self) -> Vec<&ResourceClient> {
        vec![&self.jobs]
    }

    async fn reconcile(&self, key: &str) -> Result<(), LoopbackError> {
        match self.ending(key) {
            Some((job, ..=0)) => self.jobs.delete_exactly(&job, Some("Foreground")).await,
            _ => Ok(()),
        }
    }

    fn again_in(&self, key: &str) -> Option<Duration> {
        let (_, seconds) = self.ending(key)?;
        // A job that has expired is being deleted already.
        (seconds > 0).then(|| Duration::from_secs(seconds.unsigned_abs()))
    }
}

/// Returns the time at which a finished job expires, in seconds since 1970; `None` if it does not, or is being
/// deleted already.
fn end(job: &Value) -> Option<i64> {
    let stays = job.pointer("/spec/ttlSecondsAfterFinished")?.as_i64()?;
    if !job["metadata"]["deletionTimestamp"].is_null() {
        return None;
    }
    let conditions = job.pointer("/status/conditions")?.as_array()?;
    let finished = conditions.iter().find(|condition| {
        matches!(condition["type"].as_str(), Some("Complete" | "Failed")) && condition["status"] == "True"
    })?;
    let at: Time = text(finished, "/lastTransitionTime").parse().ok()?;
    Some(at.as_second().saturating_add(stays))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_job_ends_some_time_after_it_finished() {
        let at: Time = "2026-01-01T00:00:00Z".parse().unwrap();
        let job = |type_: &str, status: &str| {
            json!({
                "metadata": {"name": "j"},
                "spec": {"ttlSecondsAfterFinished": 7},
                "status": {"conditions": [
                    {"type": "SuccessCriteriaMet", "status": "True"},
                    {"type": type_, "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z"},
                ]},
            })
        };
        for finished in ["Complete", "Failed"] {
            assert_eq!(end(&job(finished, "True")), Some(at.as_second() + 7));
            assert_eq!(end(&job(finished, "False")), None);
        }
        assert_eq!(end(&job("Suspended", "True")), None);
        let mut goes = job("Failed", "True");
        goes["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        assert_eq!(end(&goes), None);
        let mut stays = job("Failed", "True");
        stays["spec"] = json!({});
        assert_eq!(end(&stays), None);
    }
}
