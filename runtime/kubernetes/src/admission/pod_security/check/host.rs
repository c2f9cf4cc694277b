//! Checks of resources that pods share with their node.

use std::collections::BTreeSet;

use planesmith_api_defs::core::v1::{HTTPGetAction, TCPSocketAction};

use super::super::super::any_container::AnyContainer;
use super::wording::{bad_containers, named_containers, quoted_set, setters, violation};
use super::{Checked, Violation};

pub(super) fn check_namespaces(pod: Checked<'_>) -> Option<Violation> {
    let shared = [
        (pod.spec.host_network, "hostNetwork=true"),
        (pod.spec.host_pid, "hostPID=true"),
        (pod.spec.host_ipc, "hostIPC=true"),
    ];
    let shared: Vec<&str> = shared.iter().filter(|(is, _)| *is).map(|(_, what)| *what).collect();
    if shared.is_empty() {
        return None;
    }
    violation("host namespaces", shared.join(", "))
}

pub(super) fn check_ports(pod: Checked<'_>) -> Option<Violation> {
    // Sorted as text.
    let mut ports = BTreeSet::new();
    let containers = bad_containers(pod, |container| {
        let own = container.ports.iter().filter(|port| port.host_port != 0);
        let own: Vec<String> = own.map(|port| port.host_port.to_string()).collect();
        let is_bad = !own.is_empty();
        ports.extend(own);
        is_bad
    });
    if containers.is_empty() {
        return None;
    }
    let verb = if containers.len() == 1 { "uses" } else { "use" };
    let what = if ports.len() == 1 { "hostPort" } else { "hostPorts" };
    let ports: Vec<&str> = ports.iter().map(String::as_str).collect();
    let who = named_containers(&containers);
    violation("hostPort", format!("{who} {verb} {what} {}", ports.join(", ")))
}

pub(super) fn check_probes(pod: Checked<'_>) -> Option<Violation> {
    let mut hosts = BTreeSet::new();
    let containers = bad_containers(pod, |container| {
        let own = probed_hosts(container);
        let is_bad = !own.is_empty();
        hosts.extend(own);
        is_bad
    });
    // Names are sorted here, and stand once.
    let containers: Vec<&str> = containers.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    if containers.is_empty() {
        return None;
    }
    let verb = if containers.len() == 1 { "uses" } else { "use" };
    let what = match hosts.len() {
        1 => "probe or lifecycle host",
        _ => "probe or lifecycle hosts",
    };
    let who = named_containers(&containers);
    violation(
        "probe or lifecycle host",
        format!("{who} {verb} {what} {}", quoted_set(&hosts)),
    )
}

/// Returns the hosts other than the pod that the kubelet probes for a container.
fn probed_hosts<'p>(container: &AnyContainer<'p>) -> Vec<&'p str> {
    let mut hosts = Vec::new();
    let mut add = |http: &'p Option<HTTPGetAction>, tcp: &'p Option<TCPSocketAction>| {
        hosts.extend(http.as_ref().map(|http| http.host.as_str()));
        hosts.extend(tcp.as_ref().map(|tcp| tcp.host.as_str()));
    };
    for probe in container.probes.into_iter().flatten() {
        add(&probe.probe_handler.http_get, &probe.probe_handler.tcp_socket);
    }
    if let Some(lifecycle) = container.lifecycle {
        for handler in [&lifecycle.post_start, &lifecycle.pre_stop].into_iter().flatten() {
            add(&handler.http_get, &handler.tcp_socket);
        }
    }
    hosts.retain(|host| !host.is_empty());
    hosts
}

pub(super) fn check_windows_processes(pod: Checked<'_>) -> Option<Violation> {
    let containers = bad_containers(pod, |container| {
        let options = container
            .security_context
            .and_then(|context| context.windows_options.as_ref());
        options.and_then(|options| options.host_process) == Some(true)
    });
    let own = pod.spec.security_context.as_ref();
    let own = own.and_then(|context| context.windows_options.as_ref());
    let who = setters(own.and_then(|options| options.host_process) == Some(true), &containers)?;
    violation(
        "hostProcess",
        format!("{who} must not set securityContext.windowsOptions.hostProcess=true"),
    )
}
