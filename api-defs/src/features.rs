//! Features that determine the legal content of some kinds: gates of Kubernetes, and a permission.

use planesmith_machinery::feature::Feature;
use planesmith_machinery::ip::STRICT_FORMS;

/// All feature gates.
pub static ALL: [&Feature; 27] = [
    &CLEARING_NOMINATED_NODE_NAME_AFTER_BINDING,
    &CLUSTER_TRUST_BUNDLE,
    &CLUSTER_TRUST_BUNDLE_PROJECTION,
    &CONTAINER_STOP_SIGNALS,
    &COORDINATED_LEADER_ELECTION,
    &CROSS_NAMESPACE_VOLUME_DATA_SOURCE,
    &DRA_LIST_TYPE_ATTRIBUTES,
    &DRA_NODE_ALLOCATABLE_RESOURCES,
    &GENERIC_WORKLOAD,
    &HPA_SCALE_TO_ZERO,
    &IMAGE_VOLUME_WITH_DIGEST,
    &IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING,
    &IN_PLACE_POD_VERTICAL_SCALING_INIT_CONTAINERS,
    &MANIFEST_BASED_ADMISSION_CONTROL_CONFIG,
    &MAX_UNAVAILABLE_STATEFUL_SET,
    &MUTABLE_POD_RESOURCES_FOR_SUSPENDED_JOBS,
    &MUTABLE_SCHEDULING_DIRECTIVES_FOR_SUSPENDED_JOBS,
    &NODE_DECLARED_FEATURES,
    &POD_CERTIFICATE_REQUEST,
    &RELAXED_SERVICE_NAME_VALIDATION,
    &RESTART_ALL_CONTAINERS_ON_CONTAINER_EXITS,
    &SELINUX_MOUNT,
    &STORAGE_VERSION_MIGRATOR,
    &STRICT_FORMS,
    &TAINT_TOLERATION_COMPARISON_OPERATORS,
    &USER_NAMESPACES_HOST_NETWORK_SUPPORT,
    &VOLUME_LIMIT_SCALING,
];

/// Permits privileged containers, and containers that are processes of their node. The flag `--allow-privileged` switches
/// it, and no gate.
pub const PRIVILEGED_CONTAINERS: Feature = Feature::off("AllowPrivileged");

/// Clears the nominated node of a pod after it has been bound.
pub(crate) const CLEARING_NOMINATED_NODE_NAME_AFTER_BINDING: Feature =
    Feature::on("ClearingNominatedNodeNameAfterBinding");
/// Serves bundles of trusted certificates.
pub(crate) const CLUSTER_TRUST_BUNDLE: Feature = Feature::off("ClusterTrustBundle");
/// Allows volumes with bundles of trusted certificates.
pub(crate) const CLUSTER_TRUST_BUNDLE_PROJECTION: Feature = Feature::off("ClusterTrustBundleProjection");
/// Allows containers to specify their stop signal.
pub(crate) const CONTAINER_STOP_SIGNALS: Feature = Feature::off("ContainerStopSignals");
/// Allows leases to specify the strategy of the leader election.
pub(crate) const COORDINATED_LEADER_ELECTION: Feature = Feature::off("CoordinatedLeaderElection");
/// Allows claims to use data sources in other namespaces.
pub(crate) const CROSS_NAMESPACE_VOLUME_DATA_SOURCE: Feature = Feature::off("CrossNamespaceVolumeDataSource");
/// Allows device attributes with several values.
pub(crate) const DRA_LIST_TYPE_ATTRIBUTES: Feature = Feature::off("DRAListTypeAttributes");
/// Allows devices to consume the node's allocatable resources.
pub(crate) const DRA_NODE_ALLOCATABLE_RESOURCES: Feature = Feature::off("DRANodeAllocatableResources");
/// Serves workloads and groups of pods, and allows pods to name the group they are scheduled with.
pub(crate) const GENERIC_WORKLOAD: Feature = Feature::off("GenericWorkload");
/// Allows autoscalers to scale to zero replicas.
pub(crate) const HPA_SCALE_TO_ZERO: Feature = Feature::off("HPAScaleToZero");
/// Reports the digest of images that are mounted as volumes in the pod's status.
pub(crate) const IMAGE_VOLUME_WITH_DIGEST: Feature = Feature::off("ImageVolumeWithDigest");
/// Allows changing the resources of a whole pod while it runs.
pub(crate) const IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING: Feature =
    Feature::on("InPlacePodLevelResourcesVerticalScaling");
/// Allows changing the resources of init containers after the pod is created.
pub(crate) const IN_PLACE_POD_VERTICAL_SCALING_INIT_CONTAINERS: Feature =
    Feature::on("InPlacePodVerticalScalingInitContainers");
/// Loads webhooks and policies from files at startup.
pub(crate) const MANIFEST_BASED_ADMISSION_CONTROL_CONFIG: Feature = Feature::off("ManifestBasedAdmissionControlConfig");
/// Allows stateful sets to replace several pods at once.
pub(crate) const MAX_UNAVAILABLE_STATEFUL_SET: Feature = Feature::off("MaxUnavailableStatefulSet");
/// Allows changing the resource requests and limits of suspended jobs.
pub(crate) const MUTABLE_POD_RESOURCES_FOR_SUSPENDED_JOBS: Feature = Feature::on("MutablePodResourcesForSuspendedJobs");
/// Allows changing the scheduling directives of suspended jobs that have run before.
pub(crate) const MUTABLE_SCHEDULING_DIRECTIVES_FOR_SUSPENDED_JOBS: Feature =
    Feature::on("MutableSchedulingDirectivesForSuspendedJobs");
/// Allows nodes to declare their features.
pub(crate) const NODE_DECLARED_FEATURES: Feature = Feature::on("NodeDeclaredFeatures");
/// Serves requests of pods for certificates, and allows volumes with certificates that are issued for the pod.
pub(crate) const POD_CERTIFICATE_REQUEST: Feature = Feature::off("PodCertificateRequest");
/// Allows names of services to start with a digit.
pub(crate) const RELAXED_SERVICE_NAME_VALIDATION: Feature = Feature::on("RelaxedServiceNameValidation");
/// Allows the exit of one container to restart all containers of the pod.
pub(crate) const RESTART_ALL_CONTAINERS_ON_CONTAINER_EXITS: Feature =
    Feature::on("RestartAllContainersOnContainerExits");
/// Mounts volumes with the SELinux label of the pod.
pub(crate) const SELINUX_MOUNT: Feature = Feature::off("SELinuxMount");
/// Serves migrations of stored objects to another version.
pub(crate) const STORAGE_VERSION_MIGRATOR: Feature = Feature::off("StorageVersionMigrator");
/// Allows tolerations to compare numbers.
pub(crate) const TAINT_TOLERATION_COMPARISON_OPERATORS: Feature = Feature::off("TaintTolerationComparisonOperators");
/// Allows pods with their own user namespace to use the node's network.
pub(crate) const USER_NAMESPACES_HOST_NETWORK_SUPPORT: Feature = Feature::off("UserNamespacesHostNetworkSupport");
/// Allows drivers to keep pods off nodes where they are not registered.
pub(crate) const VOLUME_LIMIT_SCALING: Feature = Feature::off("VolumeLimitScaling");
