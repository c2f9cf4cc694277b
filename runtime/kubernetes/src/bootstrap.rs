//! Objects of built-in kinds that a control plane creates for itself at start, as hooks in a fixed order.

mod default_roles;
mod flow_control;
mod kubernetes_service;
mod server_leases;
mod service_range;
mod system_priority_classes;
mod table;

use planesmith_control_plane::component::ServerContext;
use planesmith_server::hooks::Hook;

pub(crate) use self::default_roles::DEFAULT_ROLES;

use crate::options::KubernetesOptions;
use crate::service_addresses::ServiceAddresses;

/// Returns the hooks for the kinds that the server has: those of its start and those of its end.
pub(crate) fn hooks(
    context: &ServerContext<'_>,
    flags: &KubernetesOptions,
    addresses: Option<&ServiceAddresses>,
) -> (Vec<Hook>, Vec<Hook>) {
    let ServerContext { stores, loopback, .. } = *context;
    let mut start: Vec<Hook> = system_priority_classes::hook(stores, loopback).into_iter().collect();
    start.extend(flow_control::hooks(stores, loopback));
    let mut stop = Vec::new();
    if let Some(addresses) = addresses {
        start.push(service_range::hook(stores, loopback, &flags.service_cluster_ip_range));
        start.push(addresses.repair_hook().after(service_range::HOOK));
        if let Some((keep, withdraw)) = kubernetes_service::hooks(context, flags) {
            start.push(keep);
            stop.push(withdraw);
        }
    }
    (start, stop)
}
