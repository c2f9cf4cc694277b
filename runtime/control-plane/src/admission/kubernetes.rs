//! The plugins for Kubernetes' own kinds.

use std::sync::Arc;

use super::default_toleration_seconds::DefaultTolerationSeconds;
use super::limit_ranger::LimitRanger;
use super::pod_security::PodSecurity;
use super::priority::Priority;
use super::resource_quota::ResourceQuotas;
use super::service_account::ServiceAccounts;
use super::taint_nodes_by_condition::TaintNodesByCondition;
use super::{ALWAYS_ADMIT, ALWAYS_DENY, NAMESPACE_LIFECYCLE, Registration};

/// The plugins of a kube-apiserver, in its order.
pub const KUBERNETES: &[Registration] = &[
    ALWAYS_ADMIT,
    NAMESPACE_LIFECYCLE,
    Registration::on("LimitRanger", |setup| {
        let objects = Arc::clone(&setup.objects);
        Ok(Some(Arc::new(LimitRanger { objects })))
    }),
    Registration::on("ServiceAccount", |setup| {
        let objects = Arc::clone(&setup.objects);
        Ok(Some(Arc::new(ServiceAccounts { objects })))
    }),
    Registration::place("NodeRestriction", false),
    Registration::on("TaintNodesByCondition", |_| Ok(Some(Arc::new(TaintNodesByCondition)))),
    Registration::place("ImagePolicyWebhook", false),
    Registration::on("PodSecurity", |setup| {
        let plugin = PodSecurity::new(Arc::clone(&setup.objects), setup.configuration)?;
        Ok(Some(Arc::new(plugin)))
    }),
    Registration::on("Priority", |setup| {
        let objects = Arc::clone(&setup.objects);
        Ok(Some(Arc::new(Priority { objects })))
    }),
    Registration::on("DefaultTolerationSeconds", |setup| {
        Ok(Some(Arc::new(DefaultTolerationSeconds {
            not_ready: setup.options.default_not_ready_toleration_seconds,
            unreachable: setup.options.default_unreachable_toleration_seconds,
        })))
    }),
    Registration::place("PodGroupProtection", true),
    Registration::place("PodGroupWorkloadExists", true),
    Registration::place("NodeDeclaredFeatureValidator", true),
    Registration::place("JobValidation", true),
    Registration::place("PodResizeValidator", true),
    Registration::place("MutatingAdmissionPolicy", true),
    Registration::place("MutatingAdmissionWebhook", true),
    Registration::place("ValidatingAdmissionPolicy", true),
    Registration::place("ValidatingAdmissionWebhook", true),
    Registration::on("ResourceQuota", |setup| {
        let plugin = ResourceQuotas::new(Arc::clone(&setup.objects), setup.loopback, setup.configuration)?;
        Ok(Some(Arc::new(plugin)))
    }),
    ALWAYS_DENY,
];
