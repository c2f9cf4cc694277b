//! The plugins for Kubernetes' own kinds.

use std::sync::Arc;

use anyhow::Result;
use planesmith_access::admission::{Lister, Plugin};
use planesmith_access::authorization::Authorizer;

use super::always_pull_images::AlwaysPullImages;
use super::certificates::{
    CertificateApproval, CertificateSigning, CertificateSubjectRestriction, ClusterTrustBundleAttest,
};
use super::default_ingress_class::DefaultIngressClass;
use super::default_storage_class::DefaultStorageClass;
use super::default_toleration_seconds::DefaultTolerationSeconds;
use super::deny_service_external_ips::DenyServiceExternalIPs;
use super::event_rate_limit::EventRateLimit;
use super::extended_resource_toleration::ExtendedResourceToleration;
use super::limit_pod_hard_anti_affinity_topology::LimitPodHardAntiAffinityTopology;
use super::limit_ranger::LimitRanger;
use super::namespace_presence::{NamespaceAutoProvision, NamespaceExists};
use super::node_declared_features::NodeDeclaredFeatures;
use super::owner_references_permission_enforcement::OwnerReferencesPermissionEnforcement;
use super::persistent_volume_claim_resize::PersistentVolumeClaimResize;
use super::pod_node_selector::PodNodeSelector;
use super::pod_resize_validator::PodResizeValidator;
use super::pod_security::PodSecurity;
use super::pod_toleration_restriction::PodTolerationRestriction;
use super::pod_topology_labels::PodTopologyLabels;
use super::priority::Priority;
use super::resource_quota::ResourceQuotas;
use super::runtime_class::RuntimeClasses;
use super::service_account::ServiceAccounts;
use super::storage_object_in_use_protection::StorageObjectInUseProtection;
use super::taint_nodes_by_condition::TaintNodesByCondition;
use super::{ALWAYS_ADMIT, ALWAYS_DENY, NAMESPACE_LIFECYCLE, Registration, Setup};

/// The plugins of a kube-apiserver, in its order.
pub const KUBERNETES: &[Registration] = &[
    ALWAYS_ADMIT,
    Registration::off("NamespaceAutoProvision", |setup| {
        let (objects, loopback) = (Arc::clone(&setup.objects), setup.loopback.clone());
        made(NamespaceAutoProvision { objects, loopback })
    }),
    NAMESPACE_LIFECYCLE,
    Registration::off("NamespaceExists", |setup| {
        made(NamespaceExists {
            objects: objects(setup),
        })
    }),
    Registration::off("LimitPodHardAntiAffinityTopology", |_| {
        made(LimitPodHardAntiAffinityTopology)
    }),
    Registration::on("LimitRanger", |setup| {
        made(LimitRanger {
            objects: objects(setup),
        })
    }),
    Registration::on("ServiceAccount", |setup| {
        made(ServiceAccounts {
            objects: objects(setup),
        })
    }),
    Registration::place("NodeRestriction", false),
    Registration::on("TaintNodesByCondition", |_| made(TaintNodesByCondition)),
    Registration::off("AlwaysPullImages", |_| made(AlwaysPullImages)),
    Registration::place("ImagePolicyWebhook", false),
    Registration::on("PodSecurity", |setup| {
        made(PodSecurity::new(objects(setup), setup.configuration)?)
    }),
    Registration::off("PodNodeSelector", |setup| {
        made(PodNodeSelector::new(objects(setup), setup.configuration)?)
    }),
    Registration::on("Priority", |setup| {
        made(Priority {
            objects: objects(setup),
        })
    }),
    Registration::on("DefaultTolerationSeconds", |setup| {
        made(DefaultTolerationSeconds {
            not_ready: setup.options.default_not_ready_toleration_seconds,
            unreachable: setup.options.default_unreachable_toleration_seconds,
        })
    }),
    Registration::off("PodTolerationRestriction", |setup| {
        made(PodTolerationRestriction::new(objects(setup), setup.configuration)?)
    }),
    Registration::off("EventRateLimit", |setup| {
        made(EventRateLimit::new(setup.configuration)?)
    }),
    Registration::off("ExtendedResourceToleration", |_| made(ExtendedResourceToleration)),
    Registration::on("DefaultStorageClass", |setup| {
        made(DefaultStorageClass {
            objects: objects(setup),
        })
    }),
    Registration::on("StorageObjectInUseProtection", |_| made(StorageObjectInUseProtection)),
    Registration::place("PodGroupProtection", true),
    Registration::off("OwnerReferencesPermissionEnforcement", |setup| {
        made(OwnerReferencesPermissionEnforcement {
            authorizer: authorizer(setup),
            kinds: setup.kinds.clone(),
        })
    }),
    Registration::on("PersistentVolumeClaimResize", |setup| {
        made(PersistentVolumeClaimResize {
            objects: objects(setup),
        })
    }),
    Registration::on("RuntimeClass", |setup| {
        made(RuntimeClasses {
            objects: objects(setup),
        })
    }),
    Registration::on("CertificateApproval", |setup| {
        made(CertificateApproval {
            authorizer: authorizer(setup),
        })
    }),
    Registration::on("CertificateSigning", |setup| {
        made(CertificateSigning {
            authorizer: authorizer(setup),
        })
    }),
    Registration::on("ClusterTrustBundleAttest", |setup| {
        made(ClusterTrustBundleAttest {
            authorizer: authorizer(setup),
        })
    }),
    Registration::on("CertificateSubjectRestriction", |_| made(CertificateSubjectRestriction)),
    Registration::on("DefaultIngressClass", |setup| {
        made(DefaultIngressClass {
            objects: objects(setup),
        })
    }),
    Registration::off("DenyServiceExternalIPs", |_| made(DenyServiceExternalIPs)),
    Registration::on("PodTopologyLabels", |setup| {
        made(PodTopologyLabels {
            objects: objects(setup),
        })
    })
    .switched_by("PodTopologyLabelsAdmission"),
    Registration::place("PodGroupWorkloadExists", true),
    Registration::on("NodeDeclaredFeatureValidator", |setup| {
        made(NodeDeclaredFeatures {
            objects: objects(setup),
        })
    })
    .switched_by("NodeDeclaredFeatures"),
    Registration::place("JobValidation", true),
    Registration::on("PodResizeValidator", |setup| {
        made(PodResizeValidator {
            objects: objects(setup),
        })
    }),
    Registration::place("MutatingAdmissionPolicy", true),
    Registration::place("MutatingAdmissionWebhook", true),
    Registration::place("ValidatingAdmissionPolicy", true),
    Registration::place("ValidatingAdmissionWebhook", true),
    Registration::on("ResourceQuota", |setup| {
        made(ResourceQuotas::new(
            objects(setup),
            setup.loopback,
            setup.configuration,
        )?)
    }),
    ALWAYS_DENY,
];

fn objects(setup: &Setup<'_>) -> Arc<dyn Lister> {
    Arc::clone(&setup.objects)
}

fn authorizer(setup: &Setup<'_>) -> Arc<dyn Authorizer> {
    Arc::clone(&setup.authorizer)
}

fn made(plugin: impl Plugin + 'static) -> Result<Option<Arc<dyn Plugin>>> {
    Ok(Some(Arc::new(plugin)))
}
