//! `v1`: the kinds of the core group.

#[cfg(feature = "kubernetes")]
mod access_mode;
#[cfg(feature = "kubernetes")]
mod affinity;
#[cfg(feature = "kubernetes")]
mod annotation_list;
#[cfg(feature = "kubernetes")]
mod binding;
#[cfg(feature = "kubernetes")]
mod component_status;
mod config_map;
#[cfg(feature = "kubernetes")]
mod connect_options;
#[cfg(feature = "kubernetes")]
mod container;
#[cfg(feature = "kubernetes")]
mod endpoints;
mod event;
mod finalizer_name;
#[cfg(feature = "kubernetes")]
mod image;
#[cfg(feature = "kubernetes")]
pub(crate) mod internal_layout;
#[cfg(feature = "kubernetes")]
mod label_keys;
#[cfg(feature = "kubernetes")]
mod limit_range;
mod local_object_reference;
mod namespace;
#[cfg(feature = "kubernetes")]
mod node;
#[cfg(feature = "kubernetes")]
mod node_selector;
mod object_reference;
#[cfg(feature = "kubernetes")]
mod old_node_label;
#[cfg(feature = "kubernetes")]
mod one_of;
#[cfg(feature = "kubernetes")]
mod persistent_volume;
#[cfg(feature = "kubernetes")]
mod persistent_volume_claim;
#[cfg(feature = "kubernetes")]
mod pod;
#[cfg(feature = "kubernetes")]
mod pod_status_result;
#[cfg(feature = "kubernetes")]
mod pod_template;
#[cfg(feature = "kubernetes")]
mod pod_template_spec;
#[cfg(feature = "kubernetes")]
pub(crate) mod protocol;
#[cfg(feature = "kubernetes")]
mod range_allocation;
#[cfg(feature = "kubernetes")]
mod replication_controller;
#[cfg(feature = "kubernetes")]
mod resource_list;
#[cfg(feature = "kubernetes")]
mod resource_name;
#[cfg(feature = "kubernetes")]
mod resource_quota;
#[cfg(feature = "kubernetes")]
mod resource_requirements;
mod secret;
#[cfg(feature = "kubernetes")]
mod serialized_reference;
#[cfg(feature = "kubernetes")]
pub(crate) mod service;
mod service_account;
#[cfg(feature = "kubernetes")]
mod storage_class_name;
#[cfg(feature = "kubernetes")]
mod toleration;
#[cfg(feature = "kubernetes")]
mod topology_selector;
#[cfg(feature = "kubernetes")]
mod typed_reference;
#[cfg(feature = "kubernetes")]
mod volume;

use planesmith_machinery::group_version::GroupVersionPriority;
#[cfg(feature = "kubernetes")]
pub(crate) mod workload;

#[cfg(feature = "kubernetes")]
pub use affinity::{
    Affinity, NodeAffinity, PodAffinity, PodAffinityTerm, PodAntiAffinity, PreferredSchedulingTerm,
    WeightedPodAffinityTerm,
};
#[cfg(feature = "kubernetes")]
pub use binding::Binding;
#[cfg(feature = "kubernetes")]
pub use component_status::{ComponentCondition, ComponentStatus};
pub use config_map::ConfigMap;
#[cfg(feature = "kubernetes")]
pub use connect_options::{
    NodeProxyOptions, PodAttachOptions, PodExecOptions, PodLogOptions, PodPortForwardOptions, PodProxyOptions,
    ServiceProxyOptions,
};
#[cfg(feature = "kubernetes")]
pub use container::{
    AppArmorProfile, Capabilities, ConfigMapEnvSource, ConfigMapKeySelector, Container, ContainerPort,
    ContainerResizePolicy, ContainerRestartRule, ContainerRestartRuleOnExitCodes, ContainerState,
    ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting, ContainerStatus, ContainerUser,
    EnvFromSource, EnvVar, EnvVarSource, EphemeralContainer, EphemeralContainerCommon, ExecAction, FileKeySelector,
    GRPCAction, HTTPGetAction, HTTPHeader, ImageVolumeStatus, Lifecycle, LifecycleHandler, LinuxContainerUser,
    ObjectFieldSelector, Probe, ProbeHandler, ResourceFieldSelector, ResourceHealth, ResourceStatus, SELinuxOptions,
    SeccompProfile, SecretEnvSource, SecretKeySelector, SecurityContext, SleepAction, TCPSocketAction, VolumeDevice,
    VolumeMount, VolumeMountStatus, VolumeStatus, WindowsSecurityContextOptions,
};
#[cfg(feature = "kubernetes")]
pub use endpoints::{EndpointAddress, EndpointPort, EndpointSubset, Endpoints};
pub use event::{Event, EventSeries, EventSource};
#[cfg(feature = "kubernetes")]
pub use limit_range::{LimitRange, LimitRangeItem, LimitRangeSpec};
pub use local_object_reference::LocalObjectReference;
pub use namespace::{Namespace, NamespaceCondition, NamespaceSpec, NamespaceStatus};
#[cfg(feature = "kubernetes")]
pub use node::{
    AttachedVolume, ConfigMapNodeConfigSource, ContainerImage, DaemonEndpoint, Node, NodeAddress, NodeCondition,
    NodeConfigSource, NodeConfigStatus, NodeDaemonEndpoints, NodeFeatures, NodeRuntimeHandler,
    NodeRuntimeHandlerFeatures, NodeSpec, NodeStatus, NodeSwapStatus, NodeSystemInfo, Taint,
};
#[cfg(feature = "kubernetes")]
pub use node_selector::{NodeSelector, NodeSelectorRequirement, NodeSelectorTerm};
pub use object_reference::ObjectReference;
#[cfg(feature = "kubernetes")]
pub use persistent_volume::{
    AzureFilePersistentVolumeSource, CSIPersistentVolumeSource, CephFSPersistentVolumeSource,
    CinderPersistentVolumeSource, FlexPersistentVolumeSource, GlusterfsPersistentVolumeSource,
    ISCSIPersistentVolumeSource, LocalVolumeSource, PersistentVolume, PersistentVolumeSource, PersistentVolumeSpec,
    PersistentVolumeStatus, RBDPersistentVolumeSource, ScaleIOPersistentVolumeSource, StorageOSPersistentVolumeSource,
    VolumeNodeAffinity,
};
#[cfg(feature = "kubernetes")]
pub use persistent_volume_claim::{
    EmbeddedPersistentVolumeClaim, ModifyVolumeStatus, PersistentVolumeClaim, PersistentVolumeClaimCondition,
    PersistentVolumeClaimSpec, PersistentVolumeClaimStatus, VolumeResourceRequirements,
};
#[cfg(feature = "kubernetes")]
pub use pod::{
    ContainerExtendedResourceRequest, HostAlias, HostIP, NodeAllocatableResourceClaimStatus, Pod, PodCondition,
    PodDNSConfig, PodDNSConfigOption, PodExtendedResourceClaimStatus, PodIP, PodOS, PodOptions, PodReadinessGate,
    PodResourceClaim, PodResourceClaimStatus, PodSchedulingGate, PodSchedulingGroup, PodSecurityContext, PodSpec,
    PodStatus, Sysctl, TopologySpreadConstraint,
};
#[cfg(feature = "kubernetes")]
pub use pod_status_result::PodStatusResult;
#[cfg(feature = "kubernetes")]
pub use pod_template::PodTemplate;
#[cfg(feature = "kubernetes")]
pub use pod_template_spec::PodTemplateSpec;
#[cfg(feature = "kubernetes")]
pub use range_allocation::RangeAllocation;
#[cfg(feature = "kubernetes")]
pub use replication_controller::{
    ReplicationController, ReplicationControllerCondition, ReplicationControllerSpec, ReplicationControllerStatus,
};
#[cfg(feature = "kubernetes")]
pub use resource_list::ResourceList;
#[cfg(feature = "kubernetes")]
pub use resource_name::check_container_resource;
#[cfg(feature = "kubernetes")]
pub use resource_quota::{
    ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus, ScopeSelector, ScopedResourceSelectorRequirement,
};
#[cfg(feature = "kubernetes")]
pub use resource_requirements::{ResourceClaim, ResourceRequirements};
pub use secret::Secret;
#[cfg(feature = "kubernetes")]
pub use serialized_reference::SerializedReference;
#[cfg(feature = "kubernetes")]
pub use service::{
    ClientIPConfig, LoadBalancerIngress, LoadBalancerStatus, PortStatus, Service, ServicePort, ServiceSpec,
    ServiceStatus, SessionAffinityConfig, check_cluster_ips,
};
pub use service_account::ServiceAccount;
#[cfg(feature = "kubernetes")]
pub use toleration::Toleration;
#[cfg(feature = "kubernetes")]
pub use topology_selector::{TopologySelectorLabelRequirement, TopologySelectorTerm};
#[cfg(feature = "kubernetes")]
pub use typed_reference::{SecretReference, TypedLocalObjectReference, TypedObjectReference};
#[cfg(feature = "kubernetes")]
pub use volume::{
    AWSElasticBlockStoreVolumeSource, AzureDiskVolumeSource, AzureFileVolumeSource, CSIVolumeSource,
    CephFSVolumeSource, CinderVolumeSource, ClusterTrustBundleProjection, ConfigMapProjection, ConfigMapVolumeSource,
    DownwardAPIProjection, DownwardAPIVolumeFile, DownwardAPIVolumeSource, EmptyDirVolumeSource, EphemeralVolumeSource,
    FCVolumeSource, FlexVolumeSource, FlockerVolumeSource, GCEPersistentDiskVolumeSource, GitRepoVolumeSource,
    GlusterfsVolumeSource, HostPathVolumeSource, ISCSIVolumeSource, ImageVolumeSource, KeyToPath, NFSVolumeSource,
    PersistentVolumeClaimTemplate, PersistentVolumeClaimVolumeSource, PhotonPersistentDiskVolumeSource,
    PodCertificateProjection, PortworxVolumeSource, ProjectedVolumeSource, QuobyteVolumeSource, RBDVolumeSource,
    ScaleIOVolumeSource, SecretProjection, SecretVolumeSource, ServiceAccountTokenProjection, StorageOSVolumeSource,
    Volume, VolumeProjection, VolumeSource, VsphereVirtualDiskVolumeSource,
};

#[cfg(feature = "kubernetes")]
pub(crate) use old_node_label::{new_node_label, of_node_label_selector, of_node_selector_term, old_node_label};
#[cfg(feature = "kubernetes")]
pub(crate) use resource_name::is_extended_resource;
#[cfg(feature = "kubernetes")]
pub(crate) use resource_requirements::ResourceNames;
#[cfg(feature = "kubernetes")]
pub(crate) use toleration::check_tolerations;
#[cfg(feature = "kubernetes")]
pub(crate) use volume::check_driver_name;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(18_000, 1);
