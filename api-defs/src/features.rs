//! Features of Kubernetes that decide what some of the kinds take.

use planesmith_machinery::feature::Feature;
use planesmith_machinery::ip::STRICT_FORMS;

/// All of them.
pub static ALL: [&Feature; 25] = [
    &CLEARING_NOMINATED_NODE_NAME_AFTER_BINDING,
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
    &STRICT_FORMS,
    &TAINT_TOLERATION_COMPARISON_OPERATORS,
    &USER_NAMESPACES_HOST_NETWORK_SUPPORT,
    &VOLUME_LIMIT_SCALING,
];

/// Nodes are no longer nominated for pods that have one.
pub(crate) static CLEARING_NOMINATED_NODE_NAME_AFTER_BINDING: Feature =
    Feature::on("ClearingNominatedNodeNameAfterBinding");
/// Volumes of pods hold bundles of trusted certificates.
pub(crate) static CLUSTER_TRUST_BUNDLE_PROJECTION: Feature = Feature::off("ClusterTrustBundleProjection");
/// Containers say which signal ends them.
pub(crate) static CONTAINER_STOP_SIGNALS: Feature = Feature::off("ContainerStopSignals");
/// Leases say how their leader is elected.
pub(crate) static COORDINATED_LEADER_ELECTION: Feature = Feature::off("CoordinatedLeaderElection");
/// Claims are filled from sources in other namespaces.
pub(crate) static CROSS_NAMESPACE_VOLUME_DATA_SOURCE: Feature = Feature::off("CrossNamespaceVolumeDataSource");
/// Devices have attributes with several values.
pub(crate) static DRA_LIST_TYPE_ATTRIBUTES: Feature = Feature::off("DRAListTypeAttributes");
/// Devices take from what nodes have for pods.
pub(crate) static DRA_NODE_ALLOCATABLE_RESOURCES: Feature = Feature::off("DRANodeAllocatableResources");
/// Pods name the group with which they are scheduled.
pub(crate) static GENERIC_WORKLOAD: Feature = Feature::off("GenericWorkload");
/// Autoscalers go down to no replicas.
pub(crate) static HPA_SCALE_TO_ZERO: Feature = Feature::off("HPAScaleToZero");
/// Pods say which image is mounted as a volume.
pub(crate) static IMAGE_VOLUME_WITH_DIGEST: Feature = Feature::off("ImageVolumeWithDigest");
/// Allows changing the resources of a whole pod while it runs.
pub(crate) static IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING: Feature =
    Feature::on("InPlacePodLevelResourcesVerticalScaling");
/// Allows changing the resources of init containers after the pod is created.
pub(crate) static IN_PLACE_POD_VERTICAL_SCALING_INIT_CONTAINERS: Feature =
    Feature::on("InPlacePodVerticalScalingInitContainers");
/// Webhooks and policies are read from files when a server starts.
pub(crate) static MANIFEST_BASED_ADMISSION_CONTROL_CONFIG: Feature =
    Feature::off("ManifestBasedAdmissionControlConfig");
/// Stateful sets replace several pods at once.
pub(crate) static MAX_UNAVAILABLE_STATEFUL_SET: Feature = Feature::off("MaxUnavailableStatefulSet");
/// Allows changing the resource requests and limits of suspended jobs.
pub(crate) static MUTABLE_POD_RESOURCES_FOR_SUSPENDED_JOBS: Feature =
    Feature::on("MutablePodResourcesForSuspendedJobs");
/// Allows changing the scheduling directives of suspended jobs that have run before.
pub(crate) static MUTABLE_SCHEDULING_DIRECTIVES_FOR_SUSPENDED_JOBS: Feature =
    Feature::on("MutableSchedulingDirectivesForSuspendedJobs");
/// Nodes say what they can do.
pub(crate) static NODE_DECLARED_FEATURES: Feature = Feature::on("NodeDeclaredFeatures");
/// Volumes of pods hold certificates that are made for the pod.
pub(crate) static POD_CERTIFICATE_REQUEST: Feature = Feature::off("PodCertificateRequest");
/// Names of services start with a digit.
pub(crate) static RELAXED_SERVICE_NAME_VALIDATION: Feature = Feature::on("RelaxedServiceNameValidation");
/// The end of a container starts all of the pod's again.
pub(crate) static RESTART_ALL_CONTAINERS_ON_CONTAINER_EXITS: Feature =
    Feature::on("RestartAllContainersOnContainerExits");
/// Volumes are mounted with the security label of the pod.
pub(crate) static SELINUX_MOUNT: Feature = Feature::off("SELinuxMount");
/// Tolerations compare numbers.
pub(crate) static TAINT_TOLERATION_COMPARISON_OPERATORS: Feature = Feature::off("TaintTolerationComparisonOperators");
/// Pods with users of their own use the network of their node.
pub(crate) static USER_NAMESPACES_HOST_NETWORK_SUPPORT: Feature = Feature::off("UserNamespacesHostNetworkSupport");
/// Drivers keep pods from nodes where they are missing.
pub(crate) static VOLUME_LIMIT_SCALING: Feature = Feature::off("VolumeLimitScaling");
