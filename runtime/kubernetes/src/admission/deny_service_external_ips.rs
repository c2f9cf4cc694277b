//! Refuses addresses outside the cluster for services.

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::Service;

/// Refuses external addresses that a service did not have before.
pub(super) struct DenyServiceExternalIPs;

impl Plugin for DenyServiceExternalIPs {
    fn name(&self) -> &'static str {
        "DenyServiceExternalIPs"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update) && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        let old = objects
            .old_as::<Service>()
            .map_or(&[][..], |old| &old.spec.external_ips);
        let is_new = |service: &&Service| service.spec.external_ips.iter().any(|address| !old.contains(address));
        let service = objects
            .new_as::<Service>()
            .filter(|_| attributes.subresource.is_empty());
        let verdict = match service.filter(is_new) {
            None => Ok(()),
            Some(_) => {
                let why = "Use of external IPs is denied by admission control";
                Err(attributes.forbidden(objects.new.as_deref(), why))
            }
        };
        decided(verdict)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::testing::{Request, object};

    #[test]
    fn addresses_may_go_but_not_come() {
        let service = |addresses: &[&str]| -> Service {
            object(json!({"metadata": {"name": "s"}, "spec": {"externalIPs": addresses}}))
        };
        let create = |new| Request::create::<Service>().created(&DenyServiceExternalIPs, new);
        assert!(create(service(&[])).is_ok());
        let refused = create(service(&["1.1.1.1"])).unwrap_err();
        assert_eq!(
            refused,
            "services \"s\" is forbidden: Use of external IPs is denied by admission control"
        );
        let old = service(&["1.1.1.1", "2.2.2.2"]);
        let update = |new| Request::update::<Service>().updated(&DenyServiceExternalIPs, &old, new);
        assert!(update(service(&["2.2.2.2"])).is_ok());
        assert!(update(service(&["3.3.3.3"])).is_err());
    }
}
