//! `v1`: the kinds of the core group.

mod access_mode;
mod affinity;
mod binding;
mod component_status;
mod config_map;
mod connect_options;
mod container;
mod endpoints;
mod event;
mod finalizer_name;
mod image;
pub(crate) mod internal_layout;
mod label_keys;
mod limit_range;
mod local_object_reference;
mod namespace;
mod node;
mod node_selector;
mod object_reference;
mod old_node_label;
mod one_of;
mod persistent_volume;
mod persistent_volume_claim;
mod pod;
mod pod_status_result;
mod pod_template;
mod pod_template_spec;
pub(crate) mod protocol;
mod range_allocation;
mod replication_controller;
mod resource_list;
mod resource_name;
mod resource_quota;
mod resource_requirements;
mod secret;
mod serialized_reference;
pub(crate) mod service;
mod service_account;
mod storage_class_name;
mod toleration;
mod topology_selector;
mod typed_reference;
mod volume;

pub use affinity::{
    Affinity, NodeAffinity, PodAffinity, PodAffinityTerm, PodAntiAffinity, PreferredSchedulingTerm,
    WeightedPodAffinityTerm,
};
pub use binding::Binding;
pub use component_status::{ComponentCondition, ComponentStatus};
pub use config_map::ConfigMap;
pub use connect_options::{
    NodeProxyOptions, PodAttachOptions, PodExecOptions, PodLogOptions, PodPortForwardOptions, PodProxyOptions,
    ServiceProxyOptions,
};
pub use container::{
    AppArmorProfile, Capabilities, ConfigMapEnvSource, ConfigMapKeySelector, Container, ContainerPort,
    ContainerResizePolicy, ContainerRestartRule, ContainerRestartRuleOnExitCodes, ContainerState,
    ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting, ContainerStatus, ContainerUser,
    EnvFromSource, EnvVar, EnvVarSource, EphemeralContainer, EphemeralContainerCommon, ExecAction, FileKeySelector,
    GRPCAction, HTTPGetAction, HTTPHeader, ImageVolumeStatus, Lifecycle, LifecycleHandler, LinuxContainerUser,
    ObjectFieldSelector, Probe, ProbeHandler, ResourceFieldSelector, ResourceHealth, ResourceStatus, SELinuxOptions,
    SeccompProfile, SecretEnvSource, SecretKeySelector, SecurityContext, SleepAction, TCPSocketAction, VolumeDevice,
    VolumeMount, VolumeMountStatus, VolumeStatus, WindowsSecurityContextOptions, allow_privileged_containers,
};
pub use endpoints::{EndpointAddress, EndpointPort, EndpointSubset, Endpoints};
pub use event::{Event, EventSeries, EventSource, keep_events_for};
pub use limit_range::{LimitRange, LimitRangeItem, LimitRangeSpec};
pub use local_object_reference::LocalObjectReference;
pub use namespace::{Namespace, NamespaceCondition, NamespaceSpec, NamespaceStatus};
pub use node::{
    AttachedVolume, ConfigMapNodeConfigSource, ContainerImage, DaemonEndpoint, Node, NodeAddress, NodeCondition,
    NodeConfigSource, NodeConfigStatus, NodeDaemonEndpoints, NodeFeatures, NodeRuntimeHandler,
    NodeRuntimeHandlerFeatures, NodeSpec, NodeStatus, NodeSwapStatus, NodeSystemInfo, Taint,
};
pub use node_selector::{NodeSelector, NodeSelectorRequirement, NodeSelectorTerm};
pub use object_reference::ObjectReference;
pub use persistent_volume::{
    AzureFilePersistentVolumeSource, CSIPersistentVolumeSource, CephFSPersistentVolumeSource,
    CinderPersistentVolumeSource, FlexPersistentVolumeSource, GlusterfsPersistentVolumeSource,
    ISCSIPersistentVolumeSource, LocalVolumeSource, PersistentVolume, PersistentVolumeSource, PersistentVolumeSpec,
    PersistentVolumeStatus, RBDPersistentVolumeSource, ScaleIOPersistentVolumeSource, StorageOSPersistentVolumeSource,
    VolumeNodeAffinity,
};
pub use persistent_volume_claim::{
    EmbeddedPersistentVolumeClaim, ModifyVolumeStatus, PersistentVolumeClaim, PersistentVolumeClaimCondition,
    PersistentVolumeClaimSpec, PersistentVolumeClaimStatus, VolumeResourceRequirements,
};
pub use pod::{
    ContainerExtendedResourceRequest, HostAlias, HostIP, NodeAllocatableResourceClaimStatus, Pod, PodCondition,
    PodDNSConfig, PodDNSConfigOption, PodExtendedResourceClaimStatus, PodIP, PodOS, PodOptions, PodReadinessGate,
    PodResourceClaim, PodResourceClaimStatus, PodSchedulingGate, PodSchedulingGroup, PodSecurityContext, PodSpec,
    PodStatus, Sysctl, TopologySpreadConstraint,
};
pub use pod_status_result::PodStatusResult;
pub use pod_template::PodTemplate;
pub use pod_template_spec::PodTemplateSpec;
pub use range_allocation::RangeAllocation;
pub use replication_controller::{
    ReplicationController, ReplicationControllerCondition, ReplicationControllerSpec, ReplicationControllerStatus,
};
pub use resource_list::ResourceList;
pub use resource_name::check_container_resource;
pub use resource_quota::{
    ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus, ScopeSelector, ScopedResourceSelectorRequirement,
};
pub use resource_requirements::{ResourceClaim, ResourceRequirements};
pub use secret::Secret;
pub use serialized_reference::SerializedReference;
pub use service::{
    ClientIPConfig, LoadBalancerIngress, LoadBalancerStatus, PortStatus, Service, ServicePort, ServiceSpec,
    ServiceStatus, SessionAffinityConfig, check_cluster_ips,
};
pub use service_account::ServiceAccount;
pub use toleration::Toleration;
pub use topology_selector::{TopologySelectorLabelRequirement, TopologySelectorTerm};
pub use typed_reference::{SecretReference, TypedLocalObjectReference, TypedObjectReference};
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

pub(crate) use old_node_label::{new_node_label, of_node_label_selector, of_node_selector_term, old_node_label};
pub(crate) use resource_name::is_extended_resource;
pub(crate) use resource_requirements::ResourceNames;
pub(crate) use toleration::check_tolerations;
pub(crate) use volume::check_driver_name;
