//! The node ports that a write of a service allocates and releases.

use std::collections::{HashMap, HashSet};

use planesmith_api_defs::core::v1::Service;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::status::{ApiError, ApiResult};

use super::node_ports::{PortChange, PortError};

/// Returns the node ports of a stored service, that for health checks included.
pub(super) fn ports_of(service: &Service) -> Vec<i32> {
    let mut ports: Vec<i32> = service.node_ports().into_iter().collect();
    let health = service.spec.health_check_node_port;
    if service.needs_health_check_port() && health != 0 {
        ports.push(health);
    }
    ports
}

/// Allocates the ports of a new service, or of one that had none.
pub(super) fn take_new(service: &mut Service, change: &mut PortChange) -> ApiResult<()> {
    if service.needs_node_ports() {
        take_all(service, change)?;
    }
    if service.needs_health_check_port() {
        take_health_check(service, change)?;
    }
    Ok(())
}

/// Allocates a node port for each port of the service. Ports of one number share it if their protocols differ.
fn take_all(service: &mut Service, change: &mut PortChange) -> ApiResult<()> {
    let allocates = service.spec.allocates_node_ports();
    // A later port of the same number may name the node port.
    let mut said: HashMap<i32, i32> = HashMap::new();
    for port in service.spec.ports.iter().filter(|port| port.node_port != 0) {
        said.entry(port.port).or_insert(port.node_port);
    }
    let unsaid = service
        .spec
        .ports
        .iter()
        .filter(|port| allocates && !said.contains_key(&port.port));
    check_room(unsaid.map(|port| port.port).collect::<HashSet<_>>().len(), change)?;
    let mut taken: HashMap<i32, i32> = HashMap::new();
    for index in 0..service.spec.ports.len() {
        let port = &service.spec.ports[index];
        let (number, wanted) = (port.port, port.node_port);
        if wanted == 0 && !allocates {
            continue;
        }
        let chosen = match taken.get(&number).copied() {
            Some(shared) if wanted == shared || wanted == 0 => shared,
            Some(_) => {
                take_wanted(service, index, wanted, change)?;
                wanted
            }
            None => {
                let chosen = match said.get(&number).copied() {
                    Some(wanted) => {
                        take_wanted(service, index, wanted, change)?;
                        wanted
                    }
                    None => take_any(change)?,
                };
                taken.insert(number, chosen);
                chosen
            }
        };
        service.spec.ports[index].node_port = chosen;
    }
    Ok(())
}

/// Refuses a service that needs more ports than the range has, before any are allocated.
fn check_room(count: usize, change: &PortChange) -> ApiResult<()> {
    match change.has_free(count) {
        true => Ok(()),
        false => Err(unallocated(&PortError::Full)),
    }
}

fn take_any(change: &mut PortChange) -> ApiResult<i32> {
    change.take_any().map_err(|error| unallocated(&error))
}

fn unallocated(error: &PortError) -> ApiError {
    ApiError::internal(format!("failed to allocate a nodePort: {error}"))
}

fn take_wanted(service: &Service, index: usize, wanted: i32, change: &mut PortChange) -> ApiResult<()> {
    change.take(wanted).map_err(|error: PortError| {
        let mut errors = FieldErrors::default();
        let path = format!("spec.ports[{index}].nodePort");
        errors.invalid(&path, wanted, error.to_string());
        ApiError::invalid(&GroupKind::new("", "Service"), &service.metadata.name, &errors)
    })
}

fn take_health_check(service: &mut Service, change: &mut PortChange) -> ApiResult<()> {
    match service.spec.health_check_node_port {
        0 => {
            let port = change
                .take_any()
                .map_err(|error| ApiError::internal(format!("failed to allocate a HealthCheck NodePort 0: {error}")))?;
            service.spec.health_check_node_port = port;
        }
        wanted => change.take(wanted).map_err(|error| {
            ApiError::internal(format!(
                "failed to allocate requested HealthCheck NodePort {wanted}: {error}"
            ))
        })?,
    }
    Ok(())
}

/// Allocates the ports that are in `new` only, and releases those that are in `old` only.
pub(super) fn change(new: &mut Service, old: &Service, change: &mut PortChange) -> ApiResult<()> {
    if old.needs_node_ports() && matches!(new.spec.type_.as_str(), "ExternalName" | "ClusterIP") {
        for port in old.node_ports() {
            change.release_later(port);
        }
    }
    if new.needs_node_ports() {
        change_node_ports(new, old, change)?;
    }
    match (old.needs_health_check_port(), new.needs_health_check_port()) {
        (false, true) => take_health_check(new, change)?,
        (true, false) => change.release_later(old.spec.health_check_node_port),
        _ => {}
    }
    Ok(())
}

fn change_node_ports(new: &mut Service, old: &Service, change: &mut PortChange) -> ApiResult<()> {
    let before = old.node_ports();
    let allocates = new.spec.allocates_node_ports();
    let unsaid = new.spec.ports.iter().filter(|port| allocates && port.node_port == 0);
    check_room(unsaid.count(), change)?;
    let mut taken: HashSet<i32> = HashSet::new();
    let mut seen: HashSet<(String, i32)> = HashSet::new();
    for index in 0..new.spec.ports.len() {
        let port = &new.spec.ports[index];
        let (protocol, wanted) = (port.protocol.clone(), port.node_port);
        let chosen = match wanted {
            0 if !allocates => continue,
            0 => take_any(change)?,
            wanted => {
                if !before.contains(&wanted) && taken.insert(wanted) {
                    take_wanted(new, index, wanted, change)?;
                }
                wanted
            }
        };
        new.spec.ports[index].node_port = chosen;
        let duplicate = || ApiError::unnamed(500, format!("duplicate nodePort: {{{protocol} {chosen}}}"));
        if !seen.insert((protocol.clone(), chosen)) {
            return Err(duplicate());
        }
    }
    let after = new.node_ports();
    for port in before.difference(&after) {
        change.release_later(*port);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use planesmith_machinery::json::{Strictness, from_value};
    use serde_json::{Value, json};

    use super::super::node_ports::NodePorts;
    use super::*;
    use crate::options::PortRange;

    fn service(spec: &Value) -> Service {
        let mut service = Service::default();
        from_value(&json!({"spec": spec}), &mut service, Strictness::Strict).unwrap();
        service
    }

    fn ports() -> NodePorts {
        NodePorts::new(PortRange::new(30_000, 30_099).unwrap())
    }

    #[test]
    fn ports_of_one_number_share_one_of_nodes() {
        let ports = ports();
        let mut dns = service(&json!({"type": "NodePort", "ports": [
            {"name": "t", "protocol": "TCP", "port": 53},
            {"name": "u", "protocol": "UDP", "port": 53, "nodePort": 30053},
            {"name": "m", "protocol": "TCP", "port": 80},
        ]}));
        let mut taking = ports.begin(false);
        take_new(&mut dns, &mut taking).unwrap();
        taking.commit();
        assert_eq!(dns.spec.ports[0].node_port, 30_053);
        assert_eq!(dns.spec.ports[1].node_port, 30_053);
        assert_eq!(ports.all(), dns.node_ports());
        assert_eq!(ports.all().len(), 2);
    }

    #[test]
    fn a_taken_port_is_refused_where_it_stands() {
        let ports = ports();
        ports.take(30_001).unwrap();
        let mut web = service(&json!({"type": "NodePort", "ports": [
            {"protocol": "TCP", "port": 80}, {"protocol": "TCP", "port": 81, "nodePort": 30001},
        ]}));
        let error = take_new(&mut web, &mut ports.begin(false)).unwrap_err();
        assert!(
            error
                .message()
                .contains("spec.ports[1].nodePort: Invalid value: 30001: provided port is already allocated")
        );
        assert_eq!(ports.all(), BTreeSet::from([30_001]));
    }

    #[test]
    fn more_ports_than_there_are_take_none() {
        let ports = ports();
        let many: Vec<Value> = (1..=60_000)
            .map(|port| json!({"protocol": "TCP", "port": port}))
            .collect();
        let mut greedy = service(&json!({"type": "NodePort", "ports": many}));
        let error = take_new(&mut greedy, &mut ports.begin(false)).unwrap_err();
        assert!(error.message().contains("failed to allocate a nodePort: range is full"));
        assert!(greedy.node_ports().is_empty());
        let old = service(&json!({"type": "ClusterIP"}));
        assert!(change(&mut greedy, &old, &mut ports.begin(false)).is_err());
        take_new(&mut greedy, &mut ports.begin(true)).unwrap();
        assert_eq!(greedy.node_ports().len(), 60_000);
        assert!(ports.all().is_empty());
    }

    #[test]
    fn a_change_takes_what_is_new_and_gives_up_what_is_gone() {
        let ports = ports();
        for port in [30_001, 30_002] {
            ports.take(port).unwrap();
        }
        let old = service(&json!({"type": "NodePort", "ports": [
            {"name": "a", "protocol": "TCP", "port": 1, "nodePort": 30001},
            {"name": "b", "protocol": "TCP", "port": 2, "nodePort": 30002},
        ]}));
        let mut new = service(&json!({"type": "NodePort", "ports": [
            {"name": "a", "protocol": "TCP", "port": 1, "nodePort": 30001},
            {"name": "c", "protocol": "TCP", "port": 3, "nodePort": 30003},
        ]}));
        let mut taking = ports.begin(false);
        change(&mut new, &old, &mut taking).unwrap();
        taking.commit();
        assert_eq!(ports.all(), BTreeSet::from([30_001, 30_003]));
        let mut gone = new.clone();
        "ClusterIP".clone_into(&mut gone.spec.type_);
        let mut taking = ports.begin(false);
        change(&mut gone, &new, &mut taking).unwrap();
        taking.commit();
        assert!(ports.all().is_empty());
    }

    #[test]
    fn the_port_for_health_checks_comes_and_goes_with_the_policy() {
        let ports = ports();
        let cluster = service(&json!({
            "type": "LoadBalancer", "externalTrafficPolicy": "Cluster", "allocateLoadBalancerNodePorts": false,
        }));
        let mut local = cluster.clone();
        "Local".clone_into(&mut local.spec.external_traffic_policy);
        let mut taking = ports.begin(false);
        change(&mut local, &cluster, &mut taking).unwrap();
        taking.commit();
        assert_eq!(ports.all(), BTreeSet::from([local.spec.health_check_node_port]));
        let mut taking = ports.begin(false);
        change(&mut cluster.clone(), &local, &mut taking).unwrap();
        taking.commit();
        assert!(ports.all().is_empty());
    }
}
