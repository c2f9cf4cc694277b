//! The availability of servers behind services, and the condition that reports it.

use planesmith_control_plane::conditions::{ConditionState, set_condition};
use planesmith_control_plane::loopback::LoopbackError;
use planesmith_control_plane::resource_client::ResourceClient;
use planesmith_control_plane::service_resolver::ServicePort;
use planesmith_control_plane::service_resolver::ServiceResolver;
use planesmith_machinery::time::Time;
use serde_json::Value;

use crate::Backend;

/// The number of attempts to write a status that others change at the same time.
const ATTEMPTS: usize = 5;

/// The condition Available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Availability {
    is_available: bool,
    reason: &'static str,
    message: String,
    /// True if the state may change soon, without a change of any object.
    passes: bool,
}

impl Availability {
    /// The condition of a group version that this chain of servers serves.
    pub(super) fn local() -> Self {
        Self {
            is_available: true,
            reason: "Local",
            message: "Local APIServices are always available".to_owned(),
            passes: false,
        }
    }

    fn no(reason: &'static str, message: String) -> Self {
        Self {
            is_available: false,
            reason,
            message,
            passes: false,
        }
    }

    /// Checks the service and its endpoints, and then probes the server; `None` if it cannot be probed. Then kube-apiserver
    /// leaves the condition as it is.
    pub(super) async fn of(services: &dyn ServiceResolver, service: &ServicePort, backend: &Backend) -> Option<Self> {
        if let Err(missing) = services.check(service) {
            return Some(Self::no(missing.reason, missing.message));
        }
        let availability = match backend.probe().await? {
            Ok(()) => Self {
                is_available: true,
                reason: "Passed",
                message: "all checks passed".to_owned(),
                passes: true,
            },
            Err(message) => Self {
                passes: true,
                ..Self::no("FailedDiscoveryCheck", message)
            },
        };
        Some(availability)
    }

    /// True if the server gets requests.
    pub(super) fn is_available(&self) -> bool {
        self.is_available
    }

    /// Returns the reason if it is unavailable.
    pub(super) fn outcome(&self) -> Result<(), &'static str> {
        match self.is_available {
            true => Ok(()),
            false => Err(self.reason),
        }
    }

    /// True if the state may change soon, without a change of any object.
    pub(super) fn passes(&self) -> bool {
        self.passes
    }

    /// Writes the condition to the status of the APIService, unless it is there already.
    pub(super) async fn report(&self, api_services: &ResourceClient, name: &str) -> Result<(), LoopbackError> {
        // Another writer may change the object between reading and writing; then it is read again.
        for _ in 0..ATTEMPTS {
            let Some(mut object) = api_services.get("", name) else {
                return Ok(());
            };
            if !self.update(&mut object, &Time::from(api_services.clock().now()).to_string()) {
                return Ok(());
            }
            api_services.replace_part(&object, "/status").await?;
        }
        Ok(())
    }

    /// Sets the condition of an object. Returns true if that changes it.
    fn update(&self, object: &mut Value, now: &str) -> bool {
        let verdict = match self.is_available {
            true => ConditionState::yes(self.reason, self.message.as_str()),
            false => ConditionState::no(self.reason, self.message.as_str()),
        };
        let before = object["status"].clone();
        set_condition(&mut object["status"], "Available", &verdict, now);
        object["status"] != before
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_condition_is_written_once() {
        let mut object = json!({"status": {"conditions": [{"type": "Other", "status": "True"}]}});
        let (up, down) = (
            Availability::local(),
            Availability::no("ServiceNotFound", "gone".to_owned()),
        );
        assert!(down.update(&mut object, "then"));
        assert!(!down.update(&mut object, "now"));
        let moved = Availability::no("MissingEndpoints", "none".to_owned());
        assert!(moved.update(&mut object, "now"));
        let condition = |object: &Value| object["status"]["conditions"][1].clone();
        assert_eq!(condition(&object)["lastTransitionTime"], "then");
        assert!(up.update(&mut object, "later"));
        let expected = json!({
            "type": "Available",
            "status": "True",
            "lastTransitionTime": "later",
            "reason": "Local",
            "message": "Local APIServices are always available",
        });
        assert_eq!(condition(&object), expected);
    }
}
