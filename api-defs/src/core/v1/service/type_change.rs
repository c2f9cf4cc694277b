//! Treatment of fields when the type of a service changes.

use super::{Service, ServiceSpec, status::LoadBalancerStatus};

impl Service {
    /// Clears fields that have no meaning for the new type, so that clients need not know all of them.
    ///
    /// Affects only fields that the server may have set, and only if the client did not change them: the validation
    /// reports a value that was changed together with the type.
    pub(super) fn drop_fields_of_other_type(&mut self, old: &Self) {
        if old.spec.needs_cluster_ip() && !self.spec.needs_cluster_ip() {
            self.spec.drop_addresses(&old.spec);
        }
        if old.needs_node_ports() && !self.needs_node_ports() && self.node_ports().is_subset(&old.node_ports()) {
            for port in &mut self.spec.ports {
                port.node_port = 0;
            }
        }
        let (new_needs, old_needs) = (self.needs_health_check_port(), old.needs_health_check_port());
        let (new, old_spec) = (&mut self.spec, &old.spec);
        if old_needs && !new_needs && new.health_check_node_port == old_spec.health_check_node_port {
            new.health_check_node_port = 0;
        }
        let is_balanced = new.type_ == super::LOAD_BALANCER;
        if old.is_load_balancer() && !is_balanced {
            if new.allocate_load_balancer_node_ports == old_spec.allocate_load_balancer_node_ports {
                new.allocate_load_balancer_node_ports = None;
            }
            if new.load_balancer_class == old_spec.load_balancer_class {
                new.load_balancer_class = None;
            }
        }
        let same_policy = self.spec.external_traffic_policy == old.spec.external_traffic_policy;
        if old.is_externally_accessible() && !self.is_externally_accessible() && same_policy {
            self.spec.external_traffic_policy.clear();
        }
        let same_policy = self.spec.internal_traffic_policy == old.spec.internal_traffic_policy;
        if !old.is_external_name() && self.is_external_name() && same_policy {
            self.spec.internal_traffic_policy = None;
        }
        if !is_balanced {
            self.status.load_balancer = LoadBalancerStatus::default();
        }
    }
}

impl ServiceSpec {
    /// Clears the addresses, which are released after the change has been stored.
    fn drop_addresses(&mut self, old: &Self) {
        if self.cluster_ip == old.cluster_ip && self.cluster_ips == old.cluster_ips {
            self.cluster_ip.clear();
            self.cluster_ips.clear();
        }
        if self.ip_families == old.ip_families {
            self.ip_families.clear();
        }
        if self.ip_family_policy == old.ip_family_policy {
            self.ip_family_policy = None;
        }
    }
}
