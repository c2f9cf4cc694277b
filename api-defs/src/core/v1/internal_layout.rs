//! Field orders of kube-apiserver's internal types that differ from the wire order. Errors that print a whole value use
//! the internal order.

use planesmith_machinery::facts::InternalLayout;

/// Layout of `PodSpec`.
pub(crate) static POD_SPEC: InternalLayout = InternalLayout {
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
    lent: Some((
        "securityContext",
        &[
            "hostNetwork",
            "hostPID",
            "hostIPC",
            "shareProcessNamespace",
            "hostUsers",
        ],
    )),
    left_out: &["serviceAccount"],
    ..InternalLayout::SAME
};

/// Layout of `PersistentVolumeSource`.
pub(crate) static PERSISTENT_VOLUME_SOURCE: InternalLayout = InternalLayout {
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
    ..InternalLayout::SAME
};

/// Layout of `PodSecurityContext`.
pub(crate) static POD_SECURITY_CONTEXT: InternalLayout = InternalLayout {
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
    ..InternalLayout::SAME
};

/// Layout of `VolumeSource`.
pub(crate) static VOLUME_SOURCE: InternalLayout = InternalLayout {
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
    ..InternalLayout::SAME
};
