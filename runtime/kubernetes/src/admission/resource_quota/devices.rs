//! The usage of resource claims (devices).

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use planesmith_access::admission::Lister;
use planesmith_api_defs::core::v1::{Pod, ResourceList};
use planesmith_api_defs::resource::v1::{DeviceClass, DeviceRequest, ResourceClaim};
use planesmith_machinery::clock::Clock;
use planesmith_machinery::meta::OwnerReference;

use super::evaluator::number;
use super::pods::{self, OF_CLASS};

const NUMBER: &str = "count/resourceclaims.resource.k8s.io";
/// The suffix after the name of a class whose devices are counted.
const DEVICES: &str = ".deviceclass.resource.k8s.io/devices";
/// The prefix of counted extended resources.
const REQUESTS: &str = "requests.";
/// Marks claims that were created for the extended resources of a pod.
const FOR_EXTENDED: &str = "resource.kubernetes.io/extended-resource-claim";
/// The most devices that a claim can get; a request for all devices counts as this many.
const MAX_DEVICES: i64 = 32;

/// Counts the claims to devices in one namespace. Classes and claims are read once, on first use.
pub(crate) struct DeviceClaims<'a> {
    objects: &'a dyn Lister,
    clock: &'a dyn Clock,
    classes: OnceLock<Vec<Arc<DeviceClass>>>,
    oldest: OnceLock<Option<Oldest>>,
}

/// The creation time and the name of the oldest claim of each pod, by the pod's UID.
type Oldest = BTreeMap<String, (i64, String)>;

impl<'a> DeviceClaims<'a> {
    pub(super) fn new(objects: &'a dyn Lister, clock: &'a dyn Clock) -> Self {
        Self {
            objects,
            clock,
            classes: OnceLock::new(),
            oldest: OnceLock::new(),
        }
    }

    pub(super) fn counts(&self, name: &str) -> bool {
        name == NUMBER
            || name.ends_with(DEVICES)
            || name
                .strip_prefix(REQUESTS)
                // Others, like `cpu`, belong to no class: most quotas need no look at the classes.
                .is_some_and(|resource| resource.contains('/') && self.is_of_devices(resource))
    }

    /// True if an extended resource is provided by the devices of a class.
    fn is_of_devices(&self, resource: &str) -> bool {
        match resource.strip_prefix(OF_CLASS) {
            Some(class) => self.class(class).is_some(),
            None => self
                .classes()
                .iter()
                .any(|class| extended_name(class) == Some(resource)),
        }
    }

    fn classes(&self) -> &[Arc<DeviceClass>] {
        self.classes.get_or_init(|| {
            self.objects.all::<DeviceClass>("").unwrap_or_else(|error| {
                tracing::warn!(%error, "device classes cannot be read: quotas count devices by their class only");
                Vec::new()
            })
        })
    }

    fn class(&self, name: &str) -> Option<&DeviceClass> {
        let mut classes = self.classes().iter().map(|class| &**class);
        classes.find(|class| class.metadata.name == name)
    }

    pub(super) fn usage(&self, claim: &ResourceClaim) -> ResourceList {
        let mut devices: BTreeMap<&str, i64> = BTreeMap::new();
        for (class, count) in claim.spec.devices.requests.iter().flat_map(most_of_each) {
            let sum = devices.entry(class).or_default();
            // A claim may request any number, and several times.
            *sum = sum.saturating_add(count);
        }
        let mut usage = ResourceList::from([(NUMBER.to_owned(), number(1))]);
        let of_pod = self.usage_of_pod(claim);
        for (class, count) in devices {
            usage.insert(format!("{class}{DEVICES}"), number(count));
            let explicit = self.class(class).and_then(extended_name);
            let names = [
                Some(format!("{REQUESTS}{OF_CLASS}{class}")),
                explicit.map(|name| format!("{REQUESTS}{name}")),
            ];
            for name in names.into_iter().flatten() {
                // Usage that is charged to the pod is not charged again.
                let left = match of_pod.get(&name) {
                    Some(charged) => number(count).rounded_sub(charged),
                    None => number(count),
                };
                if !left.is_negative() && !left.is_zero() {
                    usage.insert(name, left);
                }
            }
        }
        usage
    }

    /// Returns the usage of the pod whose extended resources the claim stands for; empty if there is no such pod.
    fn usage_of_pod(&self, claim: &ResourceClaim) -> ResourceList {
        let namespace = claim.metadata.namespace.as_str();
        let pod = owner(claim).and_then(|owner| {
            let pod = self.objects.find::<Pod>(namespace, &owner.name).ok().flatten()?;
            (pod.metadata.uid == owner.uid).then_some(pod)
        });
        let Some(pod) = pod else {
            return ResourceList::new();
        };
        let is_known = match &pod.status.extended_resource_claim_status {
            Some(status) => status.resource_claim_name == claim.metadata.name,
            None => self.is_first_of(&pod, claim),
        };
        match is_known {
            true => pods::usage(&pod, &self.clock.now().into()),
            false => ResourceList::new(),
        }
    }

    /// True if this is the oldest claim that was created for the extended resources of the pod.
    fn is_first_of(&self, pod: &Pod, claim: &ResourceClaim) -> bool {
        let oldest = self.oldest.get_or_init(|| self.oldest_in(&claim.metadata.namespace));
        oldest.as_ref().is_some_and(|oldest| {
            let first = oldest.get(&pod.metadata.uid);
            first.is_none_or(|first| *first >= age(claim))
        })
    }

    /// Returns the oldest claims of pods; `None` when the claims cannot be read.
    fn oldest_in(&self, namespace: &str) -> Option<Oldest> {
        let mut oldest = Oldest::new();
        for claim in self.objects.all::<ResourceClaim>(namespace).ok()? {
            if let Some(owner) = owner(&claim) {
                let age = age(&claim);
                let first = oldest.entry(owner.uid.clone()).or_insert_with(|| age.clone());
                *first = age.min(first.clone());
            }
        }
        Some(oldest)
    }
}

/// The sort key that orders claims by creation time.
fn age(claim: &ResourceClaim) -> (i64, String) {
    let created = claim.metadata.creation_timestamp.as_second();
    (created, claim.metadata.name.clone())
}

fn extended_name(class: &DeviceClass) -> Option<&str> {
    class
        .spec
        .extended_resource_name
        .as_deref()
        .filter(|name| !name.is_empty())
}

/// Returns the pod for whose extended resources a claim was created.
fn owner(claim: &ResourceClaim) -> Option<&OwnerReference> {
    if claim
        .metadata
        .annotations
        .get(FOR_EXTENDED)
        .is_none_or(|value| value != "true")
    {
        return None;
    }
    let mut owners = claim.metadata.owner_references.iter();
    let controller = owners.find(|owner| owner.controller == Some(true))?;
    (controller.kind == "Pod" && controller.api_version == "v1").then_some(controller)
}

/// Returns the most devices of each class that a request may be allocated.
fn most_of_each(request: &DeviceRequest) -> BTreeMap<&str, i64> {
    let count = |mode: &str, count: i64| match mode {
        "ExactCount" => count,
        "All" => MAX_DEVICES,
        _ => 0,
    };
    let mut most = BTreeMap::new();
    if !request.first_available.is_empty() {
        for wish in &request.first_available {
            let count = count(&wish.allocation_mode, wish.count);
            let own: &mut i64 = most.entry(wish.device_class_name.as_str()).or_default();
            *own = count.max(*own);
        }
    } else if let Some(wish) = &request.exactly {
        most.insert(
            wish.device_class_name.as_str(),
            count(&wish.allocation_mode, wish.count),
        );
    }
    most
}

#[cfg(test)]
mod tests {
    use planesmith_api_defs::core::v1::ResourceQuota;
    use planesmith_machinery::clock::SystemClock;
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::resource_quota::evaluator::Evaluator;
    use crate::admission::resource_quota::recount::Recount;
    use crate::admission::testing::{Few, object};

    fn rendered(list: &ResourceList) -> Vec<String> {
        list.iter().map(|(name, amount)| format!("{name}={amount}")).collect()
    }

    fn claim(meta: &Value, requests: &Value) -> Value {
        json!({"metadata": meta, "spec": {"devices": {"requests": requests}}})
    }

    fn gpus(count: i64) -> Value {
        let exactly = json!({"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count});
        json!([{"name": "r", "exactly": exactly}])
    }

    fn classes() -> Few {
        let class = json!({"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}});
        Few::default().with::<DeviceClass>(class)
    }

    #[test]
    fn devices_are_counted_by_class_at_their_most() {
        let nothing = Few::default().lister();
        let all = json!({"deviceClassName": "nic", "allocationMode": "All"});
        let wish = |class: &str, count: i64| json!({"name": "w", "deviceClassName": class, "allocationMode": "ExactCount", "count": count});
        let requests = json!([
            {"name": "a", "exactly": all},
            {"name": "b", "firstAvailable": [wish("nic", 3), wish("gpu", 1), wish("nic", 2)]},
        ]);
        let claim: ResourceClaim = object(claim(&json!({"name": "c"}), &requests));
        assert_eq!(
            rendered(&DeviceClaims::new(&*nothing, &SystemClock).usage(&claim)),
            [
                "count/resourceclaims.resource.k8s.io=1",
                "gpu.deviceclass.resource.k8s.io/devices=1",
                "nic.deviceclass.resource.k8s.io/devices=35",
                "requests.deviceclass.resource.kubernetes.io/gpu=1",
                "requests.deviceclass.resource.kubernetes.io/nic=35",
            ]
        );
    }

    #[test]
    fn no_claim_asks_for_so_much_that_it_counts_as_little() {
        let nothing = Few::default().lister();
        let mut requests = gpus(i64::MAX).as_array().unwrap().clone();
        requests.extend(requests.clone());
        let claim: ResourceClaim = object(claim(&json!({"name": "c"}), &Value::Array(requests)));
        let usage = DeviceClaims::new(&*nothing, &SystemClock).usage(&claim);
        assert_eq!(
            usage["gpu.deviceclass.resource.k8s.io/devices"].to_string(),
            i64::MAX.to_string()
        );
    }

    #[test]
    fn quotas_bound_devices_by_class_and_as_extended_resources() {
        let objects = classes().lister();
        let claims = DeviceClaims::new(&*objects, &SystemClock);
        for name in [
            "count/resourceclaims.resource.k8s.io",
            "any.deviceclass.resource.k8s.io/devices",
            "requests.example.com/gpu",
            "requests.deviceclass.resource.kubernetes.io/gpu",
        ] {
            assert!(claims.counts(name), "{name}");
        }
        for name in [
            "requests.example.com/nic",
            "requests.deviceclass.resource.kubernetes.io/nic",
            "pods",
            "example.com/gpu",
        ] {
            assert!(!claims.counts(name), "{name}");
        }
        let hard = json!({"requests.example.com/gpu": "9", "gpu.deviceclass.resource.k8s.io/devices": "9"});
        let quota: ResourceQuota = object(json!({"metadata": {"name": "q"}, "spec": {"hard": hard}}));
        let mut recount = Recount::new(&quota);
        let stored = [
            claim(&json!({"name": "a"}), &gpus(2)),
            claim(&json!({"name": "b"}), &gpus(1)),
        ];
        recount.add(&Evaluator::Devices(claims), &stored, |claim| {
            Some(Box::new(object::<ResourceClaim>(claim.clone())))
        });
        assert_eq!(
            rendered(&recount.used()),
            [
                "gpu.deviceclass.resource.k8s.io/devices=3",
                "requests.example.com/gpu=3"
            ]
        );
    }

    #[test]
    fn devices_of_a_charged_pod_are_not_charged_again() {
        let meta = |name: &str, created: &str| {
            json!({
                "name": name,
                "namespace": "ns",
                "creationTimestamp": created,
                "annotations": {FOR_EXTENDED: "true"},
                "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1", "controller": true}],
            })
        };
        let first = claim(&meta("b", "2026-01-01T00:00:00Z"), &gpus(3));
        let second = claim(&meta("a", "2026-01-02T00:00:00Z"), &gpus(3));
        let requests = json!({"requests": {"example.com/gpu": "2"}});
        let pod = json!({
            "metadata": {"name": "p", "namespace": "ns", "uid": "1"},
            "spec": {"containers": [{"name": "c", "resources": requests}]},
        });
        let objects = classes()
            .with::<ResourceClaim>(first.clone())
            .with::<ResourceClaim>(second.clone());
        let objects = objects.with::<Pod>(pod).lister();
        let charged = |claim: Value| {
            let usage = DeviceClaims::new(&*objects, &SystemClock).usage(&object(claim));
            usage.get("requests.example.com/gpu").map(ToString::to_string)
        };
        assert_eq!(charged(first).as_deref(), Some("1"));
        assert_eq!(
            charged(second).as_deref(),
            Some("3"),
            "another claim stands for the pod"
        );
    }
}
