//! Types whose fields stand in another order inside kube-apiserver than in the versions that clients see.

use crate::value::Struct;

/// One type: its fields in the order of Go, by their JSON names.
struct Layout {
    /// The type.
    of: &'static str,
    /// The fields.
    fields: &'static [&'static str],
    /// Fields that Go has inside another one, and before those that stand there: the other field, and these.
    lent: (&'static str, &'static [&'static str]),
}

const LAYOUTS: [Layout; 4] = [
    Layout {
        of: "PodSpec",
        fields: &[
            "volumes",
            "initContainers",
            "containers",
            "ephemeralContainers",
            "restartPolicy",
            "terminationGracePeriodSeconds",
            "activeDeadlineSeconds",
            "dnsPolicy",
            "nodeSelector",
            "serviceAccountName",
            "automountServiceAccountToken",
            "nodeName",
            "securityContext",
            "imagePullSecrets",
            "hostname",
            "subdomain",
            "setHostnameAsFQDN",
            "affinity",
            "schedulerName",
            "tolerations",
            "hostAliases",
            "priorityClassName",
            "priority",
            "preemptionPolicy",
            "dnsConfig",
            "readinessGates",
            "runtimeClassName",
            "overhead",
            "enableServiceLinks",
            "topologySpreadConstraints",
            "os",
            "schedulingGates",
            "resourceClaims",
            "resources",
            "hostnameOverride",
            "schedulingGroup",
        ],
        lent: (
            "securityContext",
            &[
                "hostNetwork",
                "hostPID",
                "hostIPC",
                "shareProcessNamespace",
                "hostUsers",
            ],
        ),
    },
    Layout {
        of: "PersistentVolumeSource",
        fields: &[
            "gcePersistentDisk",
            "awsElasticBlockStore",
            "hostPath",
            "glusterfs",
            "nfs",
            "rbd",
            "quobyte",
            "iscsi",
            "flexVolume",
            "cinder",
            "cephfs",
            "fc",
            "flocker",
            "azureFile",
            "vsphereVolume",
            "azureDisk",
            "photonPersistentDisk",
            "portworxVolume",
            "scaleIO",
            "local",
            "storageos",
            "csi",
        ],
        lent: ("", &[]),
    },
    Layout {
        of: "PodSecurityContext",
        fields: &[
            "seLinuxOptions",
            "windowsOptions",
            "runAsUser",
            "runAsGroup",
            "runAsNonRoot",
            "supplementalGroups",
            "supplementalGroupsPolicy",
            "fsGroup",
            "fsGroupChangePolicy",
            "sysctls",
            "seccompProfile",
            "appArmorProfile",
            "seLinuxChangePolicy",
        ],
        lent: ("", &[]),
    },
    Layout {
        of: "VolumeSource",
        fields: &[
            "hostPath",
            "emptyDir",
            "gcePersistentDisk",
            "awsElasticBlockStore",
            "gitRepo",
            "secret",
            "nfs",
            "iscsi",
            "glusterfs",
            "persistentVolumeClaim",
            "rbd",
            "quobyte",
            "flexVolume",
            "cinder",
            "cephfs",
            "flocker",
            "downwardAPI",
            "fc",
            "azureFile",
            "configMap",
            "vsphereVolume",
            "azureDisk",
            "photonPersistentDisk",
            "projected",
            "portworxVolume",
            "scaleIO",
            "storageos",
            "csi",
            "ephemeral",
            "image",
        ],
        lent: ("", &[]),
    },
];

/// The places of the fields of `object` in the order of Go.
pub(super) fn fields(object: &dyn Struct) -> Vec<usize> {
    let facts = object.facts();
    match layout(object) {
        None => (0..facts.fields.len()).collect(),
        Some(layout) => places(object, layout.fields),
    }
}

/// The places of the fields of `object` that Go has at the start of its field `name`.
pub(super) fn lent(object: &dyn Struct, name: &str) -> Vec<usize> {
    match layout(object) {
        Some(layout) if layout.lent.0 == name => places(object, layout.lent.1),
        _ => Vec::new(),
    }
}

fn layout(object: &dyn Struct) -> Option<&'static Layout> {
    LAYOUTS.iter().find(|layout| layout.of == object.facts().name)
}

fn places(object: &dyn Struct, names: &[&str]) -> Vec<usize> {
    let fields = object.facts().fields;
    let place = |name: &&str| fields.iter().position(|field| field.name == *name);
    names.iter().filter_map(place).collect()
}
