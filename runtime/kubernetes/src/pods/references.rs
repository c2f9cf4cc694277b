//! The objects that a pod refers to.

use planesmith_api_defs::core::v1::{EnvFromSource, EnvVar, LocalObjectReference, Pod, PodSpec, Volume, VolumeSource};

/// Returns the names of all secrets that a pod refers to, in its namespace; a name may repeat.
pub(crate) fn secrets(pod: &Pod) -> impl Iterator<Item = &str> {
    let registries = pod.spec.image_pull_secrets.iter().map(|secret| secret.name.as_str());
    let variables = environments(&pod.spec).flat_map(|(variables, sources)| {
        let variables = variables.iter().filter_map(|variable| variable.value_from.as_ref());
        let keys = variables.filter_map(|source| source.secret_key_ref.as_ref());
        let whole = sources.iter().filter_map(|source| source.secret_ref.as_ref());
        let keys = keys.map(|key| &key.local_object_reference);
        keys.chain(whole.map(|secret| &secret.local_object_reference))
    });
    let volumes = pod.spec.volumes.iter().flat_map(secrets_of_volume);
    registries
        .chain(variables.map(|secret| secret.name.as_str()))
        .chain(volumes)
}

/// Returns the names of all config maps that a pod refers to, in its namespace; a name may repeat.
pub(crate) fn config_maps(pod: &Pod) -> impl Iterator<Item = &str> {
    let variables = environments(&pod.spec).flat_map(|(variables, sources)| {
        let variables = variables.iter().filter_map(|variable| variable.value_from.as_ref());
        let keys = variables.filter_map(|source| source.config_map_key_ref.as_ref());
        let whole = sources.iter().filter_map(|source| source.config_map_ref.as_ref());
        let keys = keys.map(|key| &key.local_object_reference);
        keys.chain(whole.map(|map| &map.local_object_reference))
    });
    let volumes = pod.spec.volumes.iter().flat_map(|volume| {
        let source = &volume.volume_source;
        let projected = source.projected.iter().flat_map(|projected| &projected.sources);
        let projected = projected.filter_map(|source| source.config_map.as_ref());
        let projected = projected.map(|map| &map.local_object_reference);
        let own = source.config_map.iter().map(|map| &map.local_object_reference);
        own.chain(projected)
    });
    variables.chain(volumes).map(|map| map.name.as_str())
}

/// Returns the names of all volume claims that a pod refers to, in its namespace, and of those that are created for it.
pub(crate) fn volume_claims(pod: &Pod) -> impl Iterator<Item = String> {
    pod.spec.volumes.iter().filter_map(|volume| {
        let source = &volume.volume_source;
        match (&source.persistent_volume_claim, &source.ephemeral) {
            (Some(claim), _) => Some(claim.claim_name.clone()),
            (None, Some(_)) => Some(ephemeral_claim(pod, volume)),
            (None, None) => None,
        }
    })
}

/// Returns the name of the claim that is created for an ephemeral volume.
pub(crate) fn ephemeral_claim(pod: &Pod, volume: &Volume) -> String {
    format!("{}-{}", pod.metadata.name, volume.name)
}

/// Returns the names of all device claims of a pod, in its namespace, as far as they are created.
pub(crate) fn resource_claims(pod: &Pod) -> impl Iterator<Item = &str> {
    let named = pod.spec.resource_claims.iter().filter_map(|claim| {
        let created = || {
            let statuses = &pod.status.resource_claim_statuses;
            let status = statuses.iter().find(|status| status.name == claim.name)?;
            status.resource_claim_name.as_deref()
        };
        match (&claim.resource_claim_name, &claim.resource_claim_template_name) {
            (Some(name), _) => Some(name.as_str()),
            (None, Some(_)) => created(),
            (None, None) => None,
        }
    });
    let extended = pod.status.extended_resource_claim_status.iter();
    named.chain(extended.map(|status| status.resource_claim_name.as_str()))
}

/// The variables of all containers, of all three sorts.
fn environments(spec: &PodSpec) -> impl Iterator<Item = (&[EnvVar], &[EnvFromSource])> {
    let containers = spec.init_containers.iter().chain(&spec.containers);
    let containers = containers.map(|container| (&*container.env, &*container.env_from));
    let ephemeral = spec.ephemeral_containers.iter();
    containers.chain(ephemeral.map(|container| {
        let container = &container.ephemeral_container_common;
        (&*container.env, &*container.env_from)
    }))
}

fn secrets_of_volume(volume: &Volume) -> impl Iterator<Item = &str> {
    let source = &volume.volume_source;
    let projected = source.projected.iter().flat_map(|projected| &projected.sources);
    let projected = projected.filter_map(|source| source.secret.as_ref());
    let projected = projected.map(|secret| secret.local_object_reference.name.as_str());
    let named = [
        source.secret.as_ref().map(|secret| secret.secret_name.as_str()),
        source.azure_file.as_ref().map(|file| file.secret_name.as_str()),
    ];
    let referred = driver_secrets(source).into_iter().flatten();
    named
        .into_iter()
        .flatten()
        .chain(referred.map(|secret| secret.name.as_str()))
        .chain(projected)
}

/// The secrets that storage drivers need.
fn driver_secrets(source: &VolumeSource) -> [Option<&LocalObjectReference>; 8] {
    [
        source.cephfs.as_ref().and_then(|source| source.secret_ref.as_ref()),
        source.cinder.as_ref().and_then(|source| source.secret_ref.as_ref()),
        source
            .flex_volume
            .as_ref()
            .and_then(|source| source.secret_ref.as_ref()),
        source.rbd.as_ref().and_then(|source| source.secret_ref.as_ref()),
        source.scale_io.as_ref().and_then(|source| source.secret_ref.as_ref()),
        source.iscsi.as_ref().and_then(|source| source.secret_ref.as_ref()),
        source.storageos.as_ref().and_then(|source| source.secret_ref.as_ref()),
        source
            .csi
            .as_ref()
            .and_then(|source| source.node_publish_secret_ref.as_ref()),
    ]
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::json::{self, Strictness};
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_found_in_all_parts_of_a_pod() {
        let env = |secret: &str, map: &str| {
            json!([
                {"name": "A", "valueFrom": {"secretKeyRef": {"name": secret, "key": "k"}}},
                {"name": "B", "valueFrom": {"configMapKeyRef": {"name": map, "key": "k"}}},
            ])
        };
        let value = json!({
            "metadata": {"name": "p"},
            "spec": {
                "imagePullSecrets": [{"name": "registry"}],
                "initContainers": [{"name": "i", "env": env("s-init", "m-init")}],
                "containers": [{
                    "name": "c",
                    "envFrom": [{"secretRef": {"name": "s-from"}}, {"configMapRef": {"name": "m-from"}}],
                }],
                "ephemeralContainers": [{"name": "e", "env": env("s-debug", "m-debug")}],
                "volumes": [
                    {"name": "a", "secret": {"secretName": "s-volume"}},
                    {"name": "b", "projected": {"sources": [{"secret": {"name": "s-part"}}, {"configMap": {"name": "m-part"}}]}},
                    {"name": "c", "configMap": {"name": "m-volume"}},
                    {"name": "d", "csi": {"driver": "x", "nodePublishSecretRef": {"name": "s-driver"}}},
                    {"name": "e", "persistentVolumeClaim": {"claimName": "claim"}},
                    {"name": "f", "ephemeral": {}},
                ],
                "resourceClaims": [
                    {"name": "own", "resourceClaimName": "device"},
                    {"name": "made", "resourceClaimTemplateName": "t"},
                    {"name": "awaited", "resourceClaimTemplateName": "t"},
                ],
            },
            "status": {
                "resourceClaimStatuses": [{"name": "made", "resourceClaimName": "p-made"}],
                "extendedResourceClaimStatus": {"resourceClaimName": "extended"},
            },
        });
        let mut pod = Pod::default();
        json::from_value(&value, &mut pod, Strictness::Lenient).unwrap();
        let found: Vec<_> = secrets(&pod).collect();
        assert_eq!(
            found,
            [
                "registry", "s-init", "s-from", "s-debug", "s-volume", "s-part", "s-driver"
            ]
        );
        let found: Vec<_> = config_maps(&pod).collect();
        assert_eq!(found, ["m-init", "m-from", "m-debug", "m-part", "m-volume"]);
        assert_eq!(volume_claims(&pod).collect::<Vec<_>>(), ["claim", "p-f"]);
        assert_eq!(
            resource_claims(&pod).collect::<Vec<_>>(),
            ["device", "p-made", "extended"]
        );
    }
}
