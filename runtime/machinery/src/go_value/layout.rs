//! Types whose fields stand in another order inside kube-apiserver than in the versions that clients see.

use crate::value::Struct;

/// A field of Go's, and those that it has and that stand beside it elsewhere.
type Lent = (&'static str, &'static [&'static str]);

/// One type: its fields in the order of Go, by their JSON names.
struct Layout {
    /// The type.
    of: &'static str,
    /// The fields.
    fields: &'static [&'static str],
    /// Fields that Go has inside another one, and before those that stand there: the other field, and these.
    lent: Lent,
    /// Fields that Go does not have.
    left_out: &'static [&'static str],
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
        left_out: &["serviceAccount"],
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
        left_out: &[],
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
        left_out: &[],
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
        left_out: &[],
    },
];

/// The places of the fields of `object` in the order of Go. Those that Go's type of that name does not have come last: the
/// type is somebody's own.
pub(super) fn fields(object: &dyn Struct) -> Vec<usize> {
    let facts = object.facts();
    let Some(layout) = layout(object) else {
        return (0..facts.fields.len()).collect();
    };
    let mut order = places(object, layout.fields);
    let (_, lent) = lent_by(object, layout).unwrap_or_default();
    let known = [layout.fields, lent, layout.left_out];
    let is_own = |place: &usize| !known.iter().any(|names| names.contains(&facts.fields[*place].name));
    order.extend((0..facts.fields.len()).filter(is_own));
    order
}

/// The places of the fields of `object` that Go has at the start of its field `name`.
pub(super) fn lent(object: &dyn Struct, name: &str) -> Vec<usize> {
    match layout(object).and_then(|layout| lent_by(object, layout)) {
        Some((outer, fields)) if outer == name => places(object, fields),
        _ => Vec::new(),
    }
}

/// The field that others are lent to, and these, if the type has it.
fn lent_by(object: &dyn Struct, layout: &Layout) -> Option<Lent> {
    object.facts().field_named(layout.lent.0).map(|_| layout.lent)
}

fn layout(object: &dyn Struct) -> Option<&'static Layout> {
    LAYOUTS.iter().find(|layout| layout.of == object.facts().name)
}

fn places(object: &dyn Struct, names: &[&str]) -> Vec<usize> {
    let fields = object.facts().fields;
    let place = |name: &&str| fields.iter().position(|field| field.name == *name);
    names.iter().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Struct;

    /// Somebody's own type.
    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct VolumeSource {
        own: String,
        csi: String,
        nfs: String,
    }

    /// Another one.
    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct PodSpec {
        host_network: bool,
        hostname: String,
        volumes: Vec<String>,
    }

    fn shown(object: &dyn Struct) -> Vec<&'static str> {
        let name = |place: usize| object.facts().fields[place].name;
        fields(object).into_iter().map(name).collect()
    }

    #[test]
    fn own_types_of_the_same_name_lose_nothing() {
        assert_eq!(shown(&VolumeSource::default()), ["nfs", "csi", "own"]);
        let spec = PodSpec::default();
        assert_eq!(shown(&spec), ["volumes", "hostname", "hostNetwork"]);
        assert_eq!(lent(&spec, "securityContext"), [0; 0]);
    }
}
