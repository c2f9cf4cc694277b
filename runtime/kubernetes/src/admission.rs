//! The plugins for Kubernetes' own kinds, one per file.

mod always_pull_images;
mod any_container;
mod certificates;
mod claim_status_authorization;
mod default_ingress_class;
mod default_storage_class;
mod default_toleration_seconds;
mod deny_service_external_ips;
mod event_rate_limit;
mod extended_resource_toleration;
mod image_policy_webhook;
mod job_validation;
mod limit_pod_hard_anti_affinity_topology;
mod limit_ranger;
mod namespace_presence;
mod newest_class;
mod node_declared_features;
mod node_restriction;
mod owner_references_permission_enforcement;
mod persistent_volume_claim_resize;
mod pod_amounts;
mod pod_group_protection;
mod pod_group_workload_exists;
mod pod_node_selector;
mod pod_resize_validator;
mod pod_security;
mod pod_toleration_restriction;
mod pod_topology_labels;
mod priority;
pub(crate) mod resource_quota;
mod runtime_class;
mod service_account;
mod storage_object_in_use_protection;
mod taint_nodes_by_condition;
#[cfg(test)]
pub(crate) mod testing;
mod tolerations;

use std::sync::Arc;

use anyhow::Result;
use planesmith_access::admission::{Lister, Plugin};
use planesmith_access::authorization::Authorizer;
use planesmith_api_defs::resource::v1::ResourceClaim;
use planesmith_control_plane::admission::{
    ALWAYS_ADMIT, ALWAYS_DENY, NAMESPACE_LIFECYCLE, PluginInitializer, Registration,
};
use planesmith_machinery::object::Resource;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_server::metrics::PodSecurityMetrics;

use self::always_pull_images::AlwaysPullImages;
use self::certificates::{
    CertificateApproval, CertificateSigning, CertificateSubjectRestriction, ClusterTrustBundleAttest,
};
use self::claim_status_authorization::ClaimStatusAuthorization;
use self::default_ingress_class::DefaultIngressClass;
use self::default_storage_class::DefaultStorageClass;
use self::default_toleration_seconds::DefaultTolerationSeconds;
use self::deny_service_external_ips::DenyServiceExternalIPs;
use self::event_rate_limit::EventRateLimit;
use self::extended_resource_toleration::ExtendedResourceToleration;
use self::image_policy_webhook::ImagePolicyWebhook;
use self::job_validation::JobValidation;
use self::limit_pod_hard_anti_affinity_topology::LimitPodHardAntiAffinityTopology;
use self::limit_ranger::LimitRanger;
use self::namespace_presence::{NamespaceAutoProvision, NamespaceExists};
use self::node_declared_features::NodeDeclaredFeatures;
use self::node_restriction::NodeRestriction;
use self::owner_references_permission_enforcement::OwnerReferencesPermissionEnforcement;
use self::persistent_volume_claim_resize::PersistentVolumeClaimResize;
use self::pod_group_protection::PodGroupProtection;
use self::pod_group_workload_exists::PodGroupWorkloadExists;
use self::pod_node_selector::PodNodeSelector;
use self::pod_resize_validator::PodResizeValidator;
use self::pod_security::PodSecurity;
use self::pod_toleration_restriction::PodTolerationRestriction;
use self::pod_topology_labels::PodTopologyLabels;
use self::priority::Priority;
use self::resource_quota::ResourceQuotas;
use self::runtime_class::RuntimeClasses;
use self::service_account::ServiceAccounts;
use self::storage_object_in_use_protection::StorageObjectInUseProtection;
use self::taint_nodes_by_condition::TaintNodesByCondition;
use crate::options::KubernetesOptions;

/// The plugins of a kube-apiserver, in its order.
pub const ADMISSION: &[Registration] = &[
    ALWAYS_ADMIT,
    Registration::off("NamespaceAutoProvision", |initializer| {
        let (objects, loopback) = (Arc::clone(&initializer.objects), initializer.loopback.clone());
        enabled(NamespaceAutoProvision { objects, loopback })
    }),
    NAMESPACE_LIFECYCLE,
    Registration::off("NamespaceExists", |initializer| {
        enabled(NamespaceExists {
            objects: objects(initializer),
        })
    }),
    Registration::off("LimitPodHardAntiAffinityTopology", |_| {
        enabled(LimitPodHardAntiAffinityTopology)
    }),
    Registration::on("LimitRanger", |initializer| {
        enabled(LimitRanger {
            objects: objects(initializer),
        })
    }),
    Registration::on("ServiceAccount", |initializer| {
        enabled(ServiceAccounts {
            objects: objects(initializer),
        })
    }),
    Registration::off("NodeRestriction", |initializer| {
        let gates = initializer.gates;
        enabled(NodeRestriction {
            objects: objects(initializer),
            authorizer: authorizer(initializer),
            restricts_audiences: gates.enabled("ServiceAccountNodeAudienceRestriction"),
            has_pod_certificates: gates.enabled("PodCertificateRequest"),
        })
    }),
    Registration::on("TaintNodesByCondition", |_| enabled(TaintNodesByCondition)),
    Registration::off("AlwaysPullImages", |_| enabled(AlwaysPullImages)),
    Registration::off("ImagePolicyWebhook", |initializer| {
        enabled(ImagePolicyWebhook::new(
            initializer.configuration,
            initializer.outbound,
        )?)
    }),
    Registration::on("PodSecurity", |initializer| {
        let metrics = PodSecurityMetrics::register(&initializer.metrics);
        enabled(PodSecurity::new(objects(initializer), initializer.configuration)?.counted_by(metrics))
    }),
    Registration::off("PodNodeSelector", |initializer| {
        enabled(PodNodeSelector::new(objects(initializer), initializer.configuration)?)
    }),
    Registration::on("Priority", |initializer| {
        enabled(Priority {
            objects: objects(initializer),
        })
    }),
    Registration::on("DefaultTolerationSeconds", |initializer| {
        let flags = KubernetesOptions::from_options(initializer.options)?;
        enabled(DefaultTolerationSeconds {
            not_ready: flags.default_not_ready_toleration_seconds,
            unreachable: flags.default_unreachable_toleration_seconds,
        })
    }),
    Registration::off("PodTolerationRestriction", |initializer| {
        enabled(PodTolerationRestriction::new(
            objects(initializer),
            initializer.configuration,
        )?)
    }),
    Registration::off("EventRateLimit", |initializer| {
        enabled(EventRateLimit::new(initializer.configuration)?)
    }),
    Registration::off("ExtendedResourceToleration", |_| enabled(ExtendedResourceToleration)),
    Registration::on("DefaultStorageClass", |initializer| {
        enabled(DefaultStorageClass {
            objects: objects(initializer),
        })
    }),
    Registration::on("StorageObjectInUseProtection", |_| {
        enabled(StorageObjectInUseProtection)
    }),
    Registration::on("PodGroupProtection", |_| enabled(PodGroupProtection)).gated_by("GenericWorkload"),
    Registration::off("OwnerReferencesPermissionEnforcement", |initializer| {
        enabled(OwnerReferencesPermissionEnforcement {
            authorizer: authorizer(initializer),
            kinds: initializer.kinds.clone(),
        })
    }),
    Registration::on("PersistentVolumeClaimResize", |initializer| {
        enabled(PersistentVolumeClaimResize {
            objects: objects(initializer),
        })
    }),
    Registration::on("RuntimeClass", |initializer| {
        enabled(RuntimeClasses {
            objects: objects(initializer),
        })
    }),
    Registration::on("CertificateApproval", |initializer| {
        enabled(CertificateApproval {
            authorizer: authorizer(initializer),
        })
    }),
    Registration::on("CertificateSigning", |initializer| {
        enabled(CertificateSigning {
            authorizer: authorizer(initializer),
        })
    }),
    Registration::on("ClusterTrustBundleAttest", |initializer| {
        enabled(ClusterTrustBundleAttest {
            authorizer: authorizer(initializer),
        })
    }),
    Registration::on("CertificateSubjectRestriction", |_| {
        enabled(CertificateSubjectRestriction)
    }),
    Registration::on("DefaultIngressClass", |initializer| {
        enabled(DefaultIngressClass {
            objects: objects(initializer),
        })
    }),
    Registration::off("DenyServiceExternalIPs", |_| enabled(DenyServiceExternalIPs)),
    Registration::on("PodTopologyLabels", |initializer| {
        enabled(PodTopologyLabels {
            objects: objects(initializer),
        })
    })
    .gated_by("PodTopologyLabelsAdmission"),
    Registration::on("PodGroupWorkloadExists", |initializer| {
        enabled(PodGroupWorkloadExists {
            objects: objects(initializer),
        })
    })
    .gated_by("GenericWorkload"),
    Registration::on("NodeDeclaredFeatureValidator", |initializer| {
        enabled(NodeDeclaredFeatures {
            objects: objects(initializer),
        })
    })
    .gated_by("NodeDeclaredFeatures"),
    Registration::on("JobValidation", |initializer| {
        enabled(JobValidation {
            objects: objects(initializer),
        })
    })
    .gated_by("GenericWorkload"),
    Registration::on("PodResizeValidator", |initializer| {
        enabled(PodResizeValidator {
            objects: objects(initializer),
        })
    }),
    Registration::place("MutatingAdmissionPolicy", true),
    Registration::place("MutatingAdmissionWebhook", true),
    Registration::place("ValidatingAdmissionPolicy", true),
    Registration::place("ValidatingAdmissionWebhook", true),
    Registration::on("ResourceQuota", |initializer| {
        enabled(ResourceQuotas::new(
            objects(initializer),
            initializer.loopback,
            initializer.configuration,
        )?)
    }),
    ALWAYS_DENY,
];

/// Returns the check of the status of resource claims, which no flag switches.
pub(crate) fn always_on(initializer: &PluginInitializer<'_>) -> Vec<Arc<dyn Plugin>> {
    let has_claims = |kind: &ResourceFacts| kind == ResourceClaim::RESOURCE;
    if !initializer.scheme.iter().any(has_claims) {
        return Vec::new();
    }
    match initializer.gates.enabled("DRAResourceClaimGranularStatusAuthorization") {
        true => vec![Arc::new(ClaimStatusAuthorization {
            authorizer: authorizer(initializer),
        })],
        false => Vec::new(),
    }
}

fn objects(initializer: &PluginInitializer<'_>) -> Arc<dyn Lister> {
    Arc::clone(&initializer.objects)
}

fn authorizer(initializer: &PluginInitializer<'_>) -> Arc<dyn Authorizer> {
    Arc::clone(&initializer.authorizer)
}

fn enabled(plugin: impl Plugin + 'static) -> Result<Option<Arc<dyn Plugin>>> {
    Ok(Some(Arc::new(plugin)))
}
