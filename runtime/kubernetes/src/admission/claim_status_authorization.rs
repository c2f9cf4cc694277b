//! Restricts writes of the status of device claims to the components responsible: those that bind claims, and device
//! drivers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin};
use planesmith_access::authentication::service_account::node_of_pod;
use planesmith_access::authorization::{Authorizer, Target};
use planesmith_access::user::UserInfo;
use planesmith_api_defs::resource::v1::{AllocatedDeviceStatus, AllocationResult, ResourceClaim, ResourceClaimStatus};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::filters::refusal;

/// Requires permissions for parts of the status that have no path of their own. The check belongs to the strategy of
/// the kind, so no plugin flag disables it.
pub(super) struct ClaimStatusAuthorization {
    pub(super) authorizer: Arc<dyn Authorizer>,
}

impl ClaimStatusAuthorization {
    async fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        if attributes.subresource != "status" {
            return Ok(());
        }
        let (Some(new), Some(old)) = (objects.new_as::<ResourceClaim>(), objects.old_as::<ResourceClaim>()) else {
            return Ok(());
        };
        let mut errors = FieldErrors::default();
        self.check_binding(attributes, &new.status, &old.status, &mut errors)
            .await;
        // Devices of a claim without an allocation are dropped.
        if let Some(allocation) = &new.status.allocation {
            self.check_devices(attributes, allocation, &new.status, &old.status, &mut errors)
                .await;
        }
        if errors.is_empty() {
            return Ok(());
        }
        let kind = attributes.resource.hub().group_kind();
        Err(ApiError::invalid(&kind, &new.metadata.name, &errors))
    }

    async fn check_binding(
        &self,
        attributes: &Attributes<'_>,
        new: &ResourceClaimStatus,
        old: &ResourceClaimStatus,
        errors: &mut FieldErrors,
    ) {
        if new.allocation == old.allocation && new.reserved_for == old.reserved_for {
            return;
        }
        let verb = verb(attributes);
        if let Err(why) = self.authorize(attributes, verb, "binding", "", "").await {
            let needed = format!("resource=\"resourceclaims/binding\", verb=\"{verb}\"");
            let why = format!("changing status.allocation or status.reservedFor requires {needed} permission: {why}");
            errors.forbidden("status.allocation", why);
        }
    }

    async fn check_devices(
        &self,
        attributes: &Attributes<'_>,
        allocation: &AllocationResult,
        new: &ResourceClaimStatus,
        old: &ResourceClaimStatus,
        errors: &mut FieldErrors,
    ) {
        let verb = verb(attributes);
        let mut verbs = vec![format!("arbitrary-node:{verb}")];
        if only_node(allocation).is_some_and(|node| runs_on(attributes.user, node)) {
            verbs.insert(0, format!("associated-node:{verb}"));
        }
        for driver in changed_drivers(&new.devices, &old.devices) {
            let namespace = attributes.namespace;
            // One of them is enough.
            let mut refusals = Vec::new();
            for verb in &verbs {
                match self.authorize(attributes, verb, "driver", namespace, driver).await {
                    Ok(()) => break,
                    Err(why) => refusals.push(why),
                }
            }
            if let Some(why) = refusals.first().filter(|_| refusals.len() == verbs.len()) {
                let needed = format!("resource=\"resourceclaims/driver\", verb=\"[{}]\"", verbs.join(" "));
                let why = format!("changing status.devices requires {needed} permission: {why}");
                errors.forbidden("status.devices", why);
            }
        }
    }

    async fn authorize(
        &self,
        attributes: &Attributes<'_>,
        verb: &str,
        subresource: &str,
        namespace: &str,
        name: &str,
    ) -> Result<(), String> {
        let target = Target::Resource {
            group: &attributes.resource.group,
            version: &attributes.resource.version,
            resource: &attributes.resource.plural,
            subresource,
            namespace,
            name,
        };
        let refuse = |reason: String| {
            refusal(&attributes.user.name, verb, &target, &reason)
                .message()
                .to_owned()
        };
        let permitted = self.authorizer.permits(attributes.user, verb, target).await;
        permitted.map_err(refuse)
    }
}

/// Returns the verb of an update; server-side apply and patches count as `patch`.
fn verb(attributes: &Attributes<'_>) -> &'static str {
    match attributes.options {
        Some(options) if options.facts().name == "PatchOptions" => "patch",
        _ => "update",
    }
}

/// Returns the node of an allocation; `None` unless it names exactly one.
fn only_node(allocation: &AllocationResult) -> Option<&str> {
    let [term] = allocation.node_selector.as_ref()?.node_selector_terms.as_slice() else {
        return None;
    };
    let [field] = term.match_fields.as_slice() else {
        return None;
    };
    let named = term.match_expressions.is_empty() && field.key == "metadata.name" && field.operator == "In";
    match field.values.as_slice() {
        [node] if named && !node.is_empty() => Some(node),
        _ => None,
    }
}

/// True if the user is the service account of a pod on the node.
fn runs_on(user: &UserInfo, node: &str) -> bool {
    node_of_pod(user) == Some(node) && names::dns_subdomain(node).is_empty()
}

/// Returns the drivers whose devices were added, removed or changed.
fn changed_drivers<'a>(new: &'a [AllocatedDeviceStatus], old: &'a [AllocatedDeviceStatus]) -> BTreeSet<&'a str> {
    fn by_device(devices: &[AllocatedDeviceStatus]) -> BTreeMap<[&str; 4], &AllocatedDeviceStatus> {
        let keyed = devices.iter().map(|device| {
            let share = device.share_id.as_deref().unwrap_or_default();
            ([&*device.driver, &*device.pool, &*device.device, share], device)
        });
        keyed.collect()
    }
    let (new, old) = (by_device(new), by_device(old));
    let came = new.iter().filter(|(key, device)| old.get(*key) != Some(device));
    let went = old.iter().filter(|(key, _)| !new.contains_key(*key));
    came.chain(went).map(|([driver, ..], _)| *driver).collect()
}

impl Plugin for ClaimStatusAuthorization {
    fn name(&self) -> &'static str {
        "ClaimStatusAuthorization"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Update && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        Box::pin(self.check(attributes, objects))
    }
}

#[cfg(test)]
mod tests {
    use planesmith_access::authorization::{self, AuthorizationOutcome};
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::testing::{Request, object};

    const NODE_NAME: &str = "authentication.kubernetes.io/node-name";

    /// Allows the listed combinations of verb, part and name.
    #[derive(Debug)]
    struct Only(&'static [[&'static str; 3]]);

    impl Authorizer for Only {
        fn authorize(&self, action: &authorization::Attributes<'_>) -> AuthorizationOutcome {
            let Target::Resource { subresource, name, .. } = action.target else {
                return AuthorizationOutcome::NO_OPINION;
            };
            match self.0.contains(&[action.verb, subresource, name]) {
                true => AuthorizationOutcome::ALLOW,
                false => AuthorizationOutcome::NO_OPINION,
            }
        }
    }

    fn claim(devices: &Value) -> ResourceClaim {
        let field = json!({"key": "metadata.name", "operator": "In", "values": ["n"]});
        let allocation = json!({"nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]}});
        object(json!({"metadata": {"name": "c"}, "status": {"allocation": allocation, "devices": devices}}))
    }

    fn written(
        allowed: &'static [[&'static str; 3]],
        user: &str,
        new: ResourceClaim,
        old: &ResourceClaim,
    ) -> Result<(), String> {
        let mut request = Request::update::<ResourceClaim>().below("status");
        user.clone_into(&mut request.user.name);
        request.user.extra.insert(NODE_NAME.to_owned(), vec!["n".to_owned()]);
        let plugin = ClaimStatusAuthorization {
            authorizer: Arc::new(Only(allowed)),
        };
        request.updated(&plugin, old, new).map(drop)
    }

    #[test]
    fn allocations_are_for_those_who_bind() {
        let new = object::<ResourceClaim>(json!({"metadata": {"name": "c"}}));
        let old = claim(&json!([]));
        assert_eq!(written(&[["update", "binding", ""]], "s", new.clone(), &old), Ok(()));
        assert_eq!(written(&[], "s", old.clone(), &old), Ok(()), "nothing changes");
        assert_eq!(
            written(&[], "s", new, &old).unwrap_err(),
            "ResourceClaim.resource.k8s.io \"c\" is invalid: status.allocation: Forbidden: changing status.allocation or \
             status.reservedFor requires resource=\"resourceclaims/binding\", verb=\"update\" permission: \
             resourceclaims.resource.k8s.io is forbidden: User \"s\" cannot update resource \"resourceclaims/binding\" in \
             API group \"resource.k8s.io\" at the cluster scope"
        );
    }

    #[test]
    fn devices_are_for_their_drivers_on_the_node_or_everywhere() {
        const NEAR: &[[&str; 3]] = &[["associated-node:update", "driver", "d"]];
        const FAR: &[[&str; 3]] = &[["arbitrary-node:update", "driver", "d"]];
        let (new, old) = (
            claim(&json!([{"driver": "d", "pool": "p", "device": "x"}])),
            claim(&json!([])),
        );
        let account = "system:serviceaccount:ns:driver";
        assert_eq!(written(NEAR, account, new.clone(), &old), Ok(()));
        assert_eq!(written(FAR, account, new.clone(), &old), Ok(()));
        assert_eq!(
            written(FAR, "alice", old.clone(), &new),
            Ok(()),
            "what goes is a change, too"
        );
        let refused = written(NEAR, "alice", new, &old).unwrap_err();
        assert!(
            refused.contains(
                "verb=\"[arbitrary-node:update]\" permission: resourceclaims.resource.k8s.io \"d\" is forbidden"
            ),
            "{refused}"
        );
    }
}
