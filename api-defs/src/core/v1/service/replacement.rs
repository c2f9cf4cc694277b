//! Validation of updates of services.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::field_error::Json;
use planesmith_machinery::value::Value;

use super::{SINGLE_STACK, Service};

const FIXED: &str = "may not change once set";

impl Service {
    /// Reports changes of immutable fields: the primary address and its family, unless the service is or was an
    /// ExternalName; the load balancer class; the health check node port.
    pub(super) fn check_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        if !self.is_external_name() && !old.is_external_name() {
            if !(self.is_headless() && old.is_headless()) {
                self.check_retained_addresses(old, errors);
            }
            if !self.is_headless() && !old.is_headless() {
                self.check_retained_families(old, errors);
            }
        }
        let class = &self.spec.load_balancer_class;
        if self.is_load_balancer() && old.is_load_balancer() && *class != old.spec.load_balancer_class {
            errors.invalid("spec.loadBalancerClass", class as &dyn Value, FIXED);
        }
        self.check_load_balancer_class(errors);
        if self.needs_health_check_port()
            && old.needs_health_check_port()
            && self.spec.health_check_node_port != old.spec.health_check_node_port
        {
            errors.forbidden("spec.healthCheckNodePort", "field is immutable");
        }
    }

    fn check_retained_addresses(&self, old: &Self, errors: &mut FieldErrors) {
        let (new, old) = (&self.spec.cluster_ips, &old.spec.cluster_ips);
        let shown = list(new);
        if new.len() == old.len() {
            for index in (0..old.len()).filter(|index| new[*index] != old[*index]) {
                let mut errors = errors.at_index("spec.clusterIPs", index);
                errors.invalid("", Json(&shown), FIXED);
            }
            return;
        }
        if new.is_empty() {
            let mut errors = errors.at_index("spec.clusterIPs", 0);
            errors.invalid("", Json(&shown), "primary clusterIP can not be unset");
        }
        if let (Some(new), Some(old)) = (new.first(), old.first())
            && new != old
        {
            errors.at_index("spec.clusterIPs", 0).invalid("", Json(&shown), FIXED);
        }
        if new.len() < old.len() && new.len() == 1 {
            self.check_release("clusterIP", errors);
        }
    }

    fn check_retained_families(&self, old: &Self, errors: &mut FieldErrors) {
        let (new, old) = (&self.spec.ip_families, &old.spec.ip_families);
        let mut refuse = |shown: &[String], complaint: &str| {
            let shown = list(shown);
            let mut errors = errors.at_index("spec.ipFamilies", 0);
            errors.invalid("", Json(&shown), complaint);
        };
        if new.len() == old.len() {
            for _ in new.iter().zip(old).filter(|(new, old)| new != old) {
                refuse(new, FIXED);
            }
            return;
        }
        if new.len() < old.len() && self.spec.cluster_ips.is_empty() {
            refuse(new, "primary ipFamily can not be unset");
        }
        if let (Some(new), Some(old)) = (new.first(), old.first())
            && new != old
        {
            // As in kube-apiserver, the error shows the addresses instead of the families.
            refuse(&self.spec.cluster_ips, FIXED);
        }
        if new.len() < old.len() && new.len() == 1 {
            self.check_release("ipFamily", errors);
        }
    }

    /// Reports the removal of the secondary address or family without a change of the policy.
    fn check_release(&self, what: &str, errors: &mut FieldErrors) {
        if self.family_policy() != SINGLE_STACK {
            let complaint = format!("must be set to 'SingleStack' when releasing the secondary {what}");
            let policy = &self.spec.ip_family_policy as &dyn Value;
            errors.invalid("spec.ipFamilyPolicy", policy, complaint);
        }
    }
}

/// Renders a list for error messages. An empty list is rendered as nothing.
fn list(texts: &[String]) -> String {
    match texts {
        [] => "null".to_owned(),
        texts => serde_json::Value::from(texts).to_string(),
    }
}
