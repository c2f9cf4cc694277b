//! Fields of disabled features, which are dropped unless the stored object has them.

use planesmith_machinery::feature::Features;

use super::{PodSpec, PodStatus};
use crate::core::v1::{ContainerStatus, Lifecycle, VolumeProjection};
use crate::features::{
    CLUSTER_TRUST_BUNDLE_PROJECTION, CONTAINER_STOP_SIGNALS, DRA_NODE_ALLOCATABLE_RESOURCES, GENERIC_WORKLOAD,
    IMAGE_VOLUME_WITH_DIGEST, POD_CERTIFICATE_REQUEST,
};

impl PodSpec {
    /// Drops fields of features that are disabled in `features`, unless `old` has them.
    pub(crate) fn drop_disabled(&mut self, old: Option<&Self>, features: &Features) {
        if !features.has(&GENERIC_WORKLOAD) && old.is_none_or(|old| old.scheduling_group.is_none()) {
            self.scheduling_group = None;
        }
        if !features.has(&CONTAINER_STOP_SIGNALS) && !old.is_some_and(Self::names_signals) {
            self.lifecycles_mut().for_each(drop_signal);
        }
        if !features.has(&CLUSTER_TRUST_BUNDLE_PROJECTION)
            && !old.is_some_and(|old| old.projects(|source| source.cluster_trust_bundle.is_some()))
        {
            self.projections_mut()
                .for_each(|source| source.cluster_trust_bundle = None);
        }
        if !features.has(&POD_CERTIFICATE_REQUEST)
            && !old.is_some_and(|old| old.projects(|source| source.pod_certificate.is_some()))
        {
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
    /// Drops fields of features that are disabled in `features`, unless `old` has them.
    pub(super) fn drop_disabled(&mut self, old: &Self, features: &Features) {
        if !features.has(&IMAGE_VOLUME_WITH_DIGEST) && !old.shows_volumes() {
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
        if !features.has(&DRA_NODE_ALLOCATABLE_RESOURCES) && !had_claims {
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
    fn disabled_status_fields_are_dropped_unless_they_were_set() {
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
        status.drop_disabled(&full, Features::defaults());
        assert_eq!(status, full);
        status.drop_disabled(&PodStatus::default(), Features::defaults());
        assert_eq!(status.container_statuses[0].volume_mounts[0].volume_status, None);
        assert!(status.node_allocatable_resource_claim_statuses.is_empty());
    }

    /// Returns the fields of the spec that remain after disabled ones are dropped: the scheduling group, the lifecycles
    /// of both containers and of the ephemeral container, and the two projected sources.
    fn left(features: &Features, old: Option<&PodSpec>) -> Value {
        let mut spec = spec();
        spec.drop_disabled(old, features);
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
    fn disabled_fields_are_dropped_unless_they_were_set() {
        let (group, hooks) = (json!({"podGroupName": "g"}), json!({"stopSignal": "SIGHUP"}));
        let off = Features::defaults();
        assert_eq!(left(off, None), json!([null, null, null, null, null, null]));
        let everything = json!([group, hooks, "SIGHUP", hooks, "b", "ED25519"]);
        assert_eq!(left(off, Some(&spec())), everything);
        let mut bundles = spec();
        bundles.drop_disabled(None, &off.with(&CLUSTER_TRUST_BUNDLE_PROJECTION, true));
        assert_eq!(left(off, Some(&bundles)), json!([null, null, null, null, "b", null]));
        let gates = [
            &GENERIC_WORKLOAD,
            &CONTAINER_STOP_SIGNALS,
            &CLUSTER_TRUST_BUNDLE_PROJECTION,
            &POD_CERTIFICATE_REQUEST,
        ];
        let on = gates.into_iter().map(|gate| (gate, true)).collect();
        assert_eq!(left(&on, None), everything);
    }
}
