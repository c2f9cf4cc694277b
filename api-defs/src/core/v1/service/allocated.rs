//! Values allocated by the server, in objects that clients send back.

use std::collections::{BTreeMap, BTreeSet};

use super::Service;

impl Service {
    /// Derives `clusterIPs` of a new service from `clusterIP`, for clients that know only the latter. This is part of the
    /// allocation, so that a service that is created through its status must have both.
    pub fn unite_new_addresses(&mut self) {
        let spec = &mut self.spec;
        if !spec.cluster_ip.is_empty() && spec.cluster_ips.is_empty() {
            spec.cluster_ips.push(spec.cluster_ip.clone());
        }
    }

    /// Updates `clusterIPs` if only `clusterIP` was changed.
    pub fn unite_changed_addresses(&mut self, old: &Self) {
        let (new, old) = (&mut self.spec, &old.spec);
        if new.cluster_ip == old.cluster_ip || new.cluster_ips != old.cluster_ips {
            return;
        }
        new.cluster_ips.clear();
        if old.cluster_ip.is_empty() || !new.cluster_ip.is_empty() {
            new.cluster_ips.push(new.cluster_ip.clone());
        }
    }

    /// Copies addresses and ports of `old` that the client left out, so that clients can apply a manifest again without
    /// the allocated values.
    pub fn keep_allocated_values(&mut self, old: &Self) {
        if self.spec.needs_cluster_ip() && old.spec.needs_cluster_ip() {
            let (new, old) = (&mut self.spec, &old.spec);
            if new.cluster_ip.is_empty() {
                new.cluster_ip.clone_from(&old.cluster_ip);
            }
            if new.cluster_ips.is_empty() {
                new.cluster_ips.clone_from(&old.cluster_ips);
            }
        }
        if self.spec.allocates_node_ports() && old.spec.allocates_node_ports() {
            self.keep_node_ports(old);
        }
        if self.needs_health_check_port() && old.needs_health_check_port() && self.spec.health_check_node_port == 0 {
            self.spec.health_check_node_port = old.spec.health_check_node_port;
        }
    }

    /// Ports are matched by name, whatever else changed.
    fn keep_node_ports(&mut self, old: &Self) {
        let (given, before) = (self.node_ports(), old.node_ports());
        let moved: BTreeSet<i32> = given.intersection(&before).copied().collect();
        let by_name: BTreeMap<&str, i32> = old
            .spec
            .ports
            .iter()
            .map(|port| (port.name.as_str(), port.node_port))
            .collect();
        for port in self.spec.ports.iter_mut().filter(|port| port.node_port == 0) {
            let kept = by_name.get(port.name.as_str()).copied().unwrap_or_default();
            if !moved.contains(&kept) {
                port.node_port = kept;
            }
        }
    }

    /// Returns the node ports that the service specifies or that have been allocated to it.
    #[must_use]
    pub fn node_ports(&self) -> BTreeSet<i32> {
        let ports = self.spec.ports.iter().map(|port| port.node_port);
        ports.filter(|port| *port != 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::json::{Strictness, from_value};
    use planesmith_machinery::strategy::{Context, Strategy};
    use serde_json::{Value, json};

    use super::*;

    fn service(spec: &Value) -> Service {
        let mut service = Service::default();
        from_value(&json!({"spec": spec}), &mut service, Strictness::Strict).unwrap();
        service
    }

    #[test]
    fn ports_are_not_kept_where_none_are_given_out() {
        let old = service(&json!({
            "type": "LoadBalancer", "allocateLoadBalancerNodePorts": false, "ports": [{"port": 80, "nodePort": 30001}],
        }));
        let mut new = service(&json!({
            "type": "LoadBalancer", "allocateLoadBalancerNodePorts": false, "ports": [{"port": 80}],
        }));
        new.keep_allocated_values(&old);
        assert_eq!(new.spec.ports[0].node_port, 0);
    }

    #[test]
    fn a_mere_name_has_no_policy_for_traffic() {
        let policy_of = |policy: &str| {
            let mut name = service(&json!({
                "type": "ExternalName", "externalName": "a.example.com", "internalTrafficPolicy": policy,
            }));
            name.prepare_for_create(&Context::default());
            name.spec.internal_traffic_policy
        };
        assert_eq!(policy_of("Local"), None);
        // The validation refuses it.
        assert_eq!(policy_of("Nowhere").as_deref(), Some("Nowhere"));
    }

    #[test]
    fn allocated_values_are_kept_when_the_manifest_is_sent_again() {
        let old = service(&json!({
            "type": "NodePort", "clusterIP": "10.0.0.5", "clusterIPs": ["10.0.0.5", "2001:db8::5"],
            "ports": [{"name": "a", "port": 1, "nodePort": 30001}, {"name": "b", "port": 2, "nodePort": 30002}],
        }));
        let mut new = service(&json!({
            "type": "NodePort", "ports": [{"name": "b", "port": 3}, {"name": "c", "port": 4, "nodePort": 30001}],
        }));
        new.keep_allocated_values(&old);
        assert_eq!(new.spec.cluster_ips, old.spec.cluster_ips);
        let ports: Vec<i32> = new.spec.ports.iter().map(|port| port.node_port).collect();
        assert_eq!(ports, [30002, 30001]);
    }

    #[test]
    fn a_port_that_moved_to_another_name_is_not_given_twice() {
        let old = service(&json!({"type": "NodePort", "ports": [{"name": "a", "port": 1, "nodePort": 30001}]}));
        let mut new = service(&json!({
            "type": "NodePort", "ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2, "nodePort": 30001}],
        }));
        new.keep_allocated_values(&old);
        assert_eq!(new.spec.ports[0].node_port, 0);
    }

    #[test]
    fn the_list_of_addresses_follows_the_single_one() {
        let old = service(&json!({"clusterIP": "10.0.0.5", "clusterIPs": ["10.0.0.5"]}));
        for (changed, list) in [
            ("10.0.0.6", vec!["10.0.0.6"]),
            ("10.0.0.5", vec!["10.0.0.5"]),
            ("", vec![]),
        ] {
            let mut new = old.clone();
            changed.clone_into(&mut new.spec.cluster_ip);
            new.unite_changed_addresses(&old);
            assert_eq!(new.spec.cluster_ips, list);
        }
    }
}
