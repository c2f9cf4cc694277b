//! Fields of disabled features, which are dropped unless the stored object has them.

use super::{PodSpec, PodStatus};
use crate::core::v1::{ContainerStatus, Lifecycle, VolumeProjection};
use crate::features::{
    CLUSTER_TRUST_BUNDLE_PROJECTION, CONTAINER_STOP_SIGNALS, DRA_NODE_ALLOCATABLE_RESOURCES, GENERIC_WORKLOAD,
    IMAGE_VOLUME_WITH_DIGEST, POD_CERTIFICATE_REQUEST,
};

/// Features that are enabled, of those that control fields of a pod.
#[derive(Clone, Copy, Debug, Default)]
struct Switches {
    groups: bool,
    signals: bool,
    bundles: bool,
    certificates: bool,
}

impl Switches {
    fn now() -> Self {
        Self {
            groups: GENERIC_WORKLOAD.is_on(),
            signals: CONTAINER_STOP_SIGNALS.is_on(),
            bundles: CLUSTER_TRUST_BUNDLE_PROJECTION.is_on(),
            certificates: POD_CERTIFICATE_REQUEST.is_on(),
        }
    }
}

impl PodSpec {
    /// Drops fields of disabled features unless `old` has them.
    pub(crate) fn drop_disabled(&mut self, old: Option<&Self>) {
        self.drop_unless(Switches::now(), old);
    }

    fn drop_unless(&mut self, on: Switches, old: Option<&Self>) {
        if !on.groups && old.is_none_or(|old| old.scheduling_group.is_none()) {
            self.scheduling_group = None;
        }
        if !on.signals && !old.is_some_and(Self::names_signals) {
            self.lifecycles_mut().for_each(drop_signal);
        }
        if !on.bundles && !old.is_some_and(|old| old.projects(|source| source.cluster_trust_bundle.is_some())) {
            self.projections_mut()
                .for_each(|source| source.cluster_trust_bundle = None);
        }
        if !on.certificates && !old.is_some_and(|old| old.projects(|source| source.pod_certificate.is_some())) {
            self.projections_mut().for_each(|source| source.pod_certificate = None);
        }
    }

    fn names_signals(&self) -> bool {
        let containers = self.init_containers.iter().chain(&self.containers);
        let ephemeral = self.ephemeral_containers.iter();
        containers
            .map(|container| &container.lifecycle)
            .chain(ephemeral.map(|container| &container.ephemeral_container_common.lifecycle))
            .flatten()
            .any(|lifecycle| lifecycle.stop_signal.is_some())
    }

    fn lifecycles_mut(&mut self) -> impl Iterator<Item = &mut Option<Lifecycle>> {
        let containers = self.init_containers.iter_mut().chain(&mut self.containers);
        let ephemeral = self.ephemeral_containers.iter_mut();
        containers
            .map(|container| &mut container.lifecycle)
            .chain(ephemeral.map(|container| &mut container.ephemeral_container_common.lifecycle))
    }

    fn projects(&self, wanted: impl Fn(&VolumeProjection) -> bool) -> bool {
        let volumes = self.volumes.iter();
        volumes
            .filter_map(|volume| volume.volume_source.projected.as_ref())
            .flat_map(|projected| &projected.sources)
            .any(wanted)
    }

    fn projections_mut(&mut self) -> impl Iterator<Item = &mut VolumeProjection> {
        let volumes = self.volumes.iter_mut();
        volumes
            .filter_map(|volume| volume.volume_source.projected.as_mut())
            .flat_map(|projected| &mut projected.sources)
    }
}

impl PodStatus {
    /// Drops fields of disabled features unless `old` has them.
    pub(super) fn drop_disabled(&mut self, old: &Self) {
        if !IMAGE_VOLUME_WITH_DIGEST.is_on() && !old.shows_volumes() {
            let containers = self
                .container_statuses
                .iter_mut()
                .chain(&mut self.init_container_statuses);
            let containers = containers.chain(&mut self.ephemeral_container_statuses);
            for mount in containers.flat_map(|container| &mut container.volume_mounts) {
                mount.volume_status = None;
            }
        }
        let had_claims = !old.node_allocatable_resource_claim_statuses.is_empty();
        if !DRA_NODE_ALLOCATABLE_RESOURCES.is_on() && !had_claims {
            self.node_allocatable_resource_claim_statuses.clear();
        }
    }

    fn shows_volumes(&self) -> bool {
        let containers = self.container_statuses.iter().chain(&self.init_container_statuses);
        let mut containers = containers.chain(&self.ephemeral_container_statuses);
        let shows = |container: &ContainerStatus| {
            container
                .volume_mounts
                .iter()
                .any(|mount| mount.volume_status.is_some())
        };
        containers.any(shows)
    }
}

/// Drops the stop signal, and the lifecycle if it is then empty.
fn drop_signal(lifecycle: &mut Option<Lifecycle>) {
    if let Some(hooks) = lifecycle
        && hooks.stop_signal.take().is_some()
        && *hooks == Lifecycle::default()
    {
        *lifecycle = None;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn spec() -> PodSpec {
        let projected = json!({"sources": [
            {"clusterTrustBundle": {"name": "b", "path": "b"}},
            {"podCertificate": {"signerName": "a.b/c", "keyType": "ED25519"}},
        ]});
        let value = json!({
            "containers": [
                {"name": "a", "lifecycle": {"stopSignal": "SIGHUP"}},
                {"name": "b", "lifecycle": {"stopSignal": "SIGHUP", "preStop": {"sleep": {"seconds": 1}}}},
            ],
            "ephemeralContainers": [{"name": "e", "lifecycle": {"stopSignal": "SIGHUP"}}],
            "volumes": [{"name": "v", "projected": projected}],
            "schedulingGroup": {"podGroupName": "g"},
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_is_switched_off_in_the_status_is_dropped_unless_it_was_there() {
        let mount = json!({"name": "v", "mountPath": "/v", "volumeStatus": {"image": {"imageRef": "i@sha256:0"}}});
        let container = json!({
            "name": "c", "image": "i", "imageID": "", "ready": true, "restartCount": 0, "volumeMounts": [mount],
        });
        let claims = json!([{"resourceClaimName": "r"}]);
        let full: PodStatus = serde_json::from_value(json!({
            "containerStatuses": [container],
            "nodeAllocatableResourceClaimStatuses": claims,
        }))
        .unwrap();
        let mut status = full.clone();
        status.drop_disabled(&full);
        assert_eq!(status, full);
        status.drop_disabled(&PodStatus::default());
        assert_eq!(status.container_statuses[0].volume_mounts[0].volume_status, None);
        assert!(status.node_allocatable_resource_claim_statuses.is_empty());
    }

    /// Returns the fields of the spec that remain after disabled ones are dropped: the scheduling group, the lifecycles
    /// of both containers and of the ephemeral container, and the two projected sources.
    fn left(on: Switches, old: Option<&PodSpec>) -> Value {
        let mut spec = spec();
        spec.drop_unless(on, old);
        let spec = serde_json::to_value(spec).unwrap();
        json!([
            spec["schedulingGroup"],
            spec["containers"][0]["lifecycle"],
            spec["containers"][1]["lifecycle"]["stopSignal"],
            spec["ephemeralContainers"][0]["lifecycle"],
            spec["volumes"][0]["projected"]["sources"][0]["clusterTrustBundle"]["name"],
            spec["volumes"][0]["projected"]["sources"][1]["podCertificate"]["keyType"],
        ])
    }

    #[test]
    fn what_is_switched_off_is_dropped_unless_it_was_there() {
        let (group, hooks) = (json!({"podGroupName": "g"}), json!({"stopSignal": "SIGHUP"}));
        let off = Switches::default();
        assert_eq!(left(off, None), json!([null, null, null, null, null, null]));
        let everything = json!([group, hooks, "SIGHUP", hooks, "b", "ED25519"]);
        assert_eq!(left(off, Some(&spec())), everything);
        let mut bundles = spec();
        bundles.drop_unless(Switches { bundles: true, ..off }, None);
        assert_eq!(left(off, Some(&bundles)), json!([null, null, null, null, "b", null]));
        let on = Switches {
            groups: true,
            signals: true,
            bundles: true,
            certificates: true,
        };
        assert_eq!(left(on, None), everything);
    }
}
