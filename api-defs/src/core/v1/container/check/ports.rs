//! Validation of ports.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use crate::core::v1::{Container, ContainerPort};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// Reports errors in the ports of one container.
pub(super) fn check(ports: &[ContainerPort], errors: &mut FieldErrors) {
    let mut known = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let mut errors = errors.at_index("ports", index);
        if !port.name.is_empty() {
            let problems = names::port_name(&port.name);
            if problems.is_empty() && !known.insert(&port.name) {
                errors.duplicate("name", &port.name);
            }
            for problem in problems {
                errors.invalid("name", &port.name, problem);
            }
        }
        if port.container_port == 0 {
            errors.required("containerPort", "");
        }
        for (field, number) in [("containerPort", port.container_port), ("hostPort", port.host_port)] {
            if number != 0 {
                for problem in names::port_number(number.into()) {
                    errors.invalid(field, number, problem);
                }
            }
        }
        match port.protocol.as_str() {
            "" => errors.required("protocol", ""),
            protocol if !PROTOCOLS.contains(&protocol) => errors.not_supported("protocol", protocol, &PROTOCOLS),
            _ => {}
        }
    }
}

/// Reports node ports that several container ports request.
pub(super) fn check_conflicts(containers: &[Container], field: &str, errors: &mut FieldErrors) {
    let mut taken = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        check_taken(container, &mut taken, &mut errors.at_index(field, index));
    }
}

fn check_taken(container: &Container, taken: &mut BTreeSet<String>, errors: &mut FieldErrors) {
    for (index, port) in container.ports.iter().enumerate() {
        if port.host_port == 0 {
            continue;
        }
        let place = format!("{}/{}/{}", port.protocol, port.host_ip, port.host_port);
        if taken.contains(&place) {
            errors.at_index("ports", index).duplicate("hostPort", place.as_str());
        }
        taken.insert(place);
    }
}
