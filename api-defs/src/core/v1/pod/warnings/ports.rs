//! Conflicting ports of a pod.

use std::collections::BTreeMap;
use std::fmt;

use planesmith_machinery::go_format::quote;

use super::Walk;
use crate::core::v1::ContainerPort;
use crate::core::v1::pod::placed_container::PlacedContainer;

/// Position of a port in the pod.
struct At<'a> {
    place: &'a PlacedContainer<'a>,
    index: usize,
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "spec.{}.ports[{}]", self.place, self.index)
    }
}

impl Walk<'_> {
    pub(super) fn about_ports(&mut self, containers: &[PlacedContainer<'_>]) {
        let mut known: BTreeMap<(i32, &str), Vec<(At<'_>, &ContainerPort)>> = BTreeMap::new();
        for place in containers {
            for (index, port) in place.container.ports.iter().enumerate() {
                let path = At { place, index };
                if !port.host_ip.is_empty() && port.host_port == 0 {
                    self.warn(&path, &format!("hostIP set without hostPort: {}", rendered(port)));
                }
                let same = known.entry((port.container_port, &port.protocol)).or_default();
                for (other_path, other) in same.iter() {
                    if let Some(words) = conflict(port, other) {
                        let words = format!("{words} port definition with {}{other_path}", self.base);
                        self.warn(&path, &words);
                    }
                }
                same.push((path, port));
            }
        }
    }

    /// Warns about ports of the same name, of which only the first can be found by name.
    pub(super) fn about_port_names(&mut self, containers: &[PlacedContainer<'_>]) {
        let mut known: BTreeMap<&str, At<'_>> = BTreeMap::new();
        for place in containers {
            for (index, port) in place
                .container
                .ports
                .iter()
                .enumerate()
                .filter(|(_, port)| !port.name.is_empty())
            {
                let path = At { place, index };
                let Some(other) = known.get(port.name.as_str()) else {
                    known.insert(&port.name, path);
                    continue;
                };
                let (name, other) = (quote(&port.name), format!("{}{other}", self.base));
                let words = format!(
                    "duplicate port name {name} with {other}, services and probes that select ports by name will use \
                     {other}"
                );
                self.warn(&path, &words);
            }
        }
    }
}

/// Returns the kind of conflict between two definitions of a port; `None` when they do not conflict.
fn conflict(port: &ContainerPort, other: &ContainerPort) -> Option<&'static str> {
    if port.host_ip == other.host_ip && port.host_port == other.host_port {
        Some("duplicate")
    } else if port.host_port == 0 || other.host_port == 0 {
        Some("overlapping")
    } else if port.host_port == other.host_port && port.host_ip.is_empty() != other.host_ip.is_empty() {
        Some("dangerously ambiguous")
    } else {
        None
    }
}

/// Renders the port as Go prints it.
fn rendered(port: &ContainerPort) -> String {
    format!(
        "{{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}",
        port.name, port.host_port, port.container_port, port.protocol, port.host_ip
    )
}
