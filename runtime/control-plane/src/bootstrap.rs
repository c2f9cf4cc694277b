//! Objects that a control plane makes for itself at start, as hooks in a fixed order.

mod authority_file;
pub(crate) mod cluster_authentication;
mod default_roles;
mod flow_control;
pub(crate) mod identity_lease;
mod kept_config_map;
mod kubernetes_service;
mod server_leases;
mod service_range;
pub(crate) mod storage_versions;
mod system_namespaces;
mod system_priority_classes;
mod table;
pub(crate) mod token_tracking;

use std::net::{IpAddr, SocketAddr};

use planesmith_server::chain::ApiServer;
use planesmith_server::stores::Stores;

pub use self::authority_file::AuthorityFile;
pub use self::cluster_authentication::Believed;
use crate::loopback::Loopback;
use crate::options::Options;
use crate::service_addresses::ServiceAddresses;

/// What the hooks say about the server in the objects that they make.
#[derive(Clone, Debug)]
pub struct Announcement {
    /// Where clients reach the server.
    pub address: IpAddr,
    /// The address behind the Service kubernetes; `None` for a server that pods cannot reach.
    pub endpoint: Option<IpAddr>,
    /// The port that it listens on.
    pub port: u16,
    /// Whom servers behind it can believe.
    pub believed: Believed,
    /// Who signed the serving certificate, PEM.
    pub root_authority: String,
}

impl Announcement {
    /// Both, as URLs write them.
    #[must_use]
    pub fn public_address(&self) -> String {
        SocketAddr::new(self.address, self.port).to_string()
    }
}

/// Adds the hooks for the kinds that the server has.
#[must_use]
pub fn with_bootstrap(
    server: ApiServer,
    stores: &Stores,
    loopback: &Loopback,
    options: &Options,
    announcement: &Announcement,
    addresses: Option<&ServiceAddresses>,
) -> ApiServer {
    let storage_versions = storage_versions::hook(&server, stores, loopback, &options.features());
    let mut server = server;
    let hooks = [
        system_namespaces::hook(stores, loopback),
        system_priority_classes::hook(stores, loopback),
    ];
    let hooks = hooks.into_iter().flatten();
    let hooks = hooks.chain(flow_control::hooks(stores, loopback));
    let in_namespaces = default_roles::hook(stores, loopback).into_iter();
    let in_namespaces = in_namespaces.chain(cluster_authentication::hook(stores, loopback, &announcement.believed));
    let in_namespaces = in_namespaces.chain(token_tracking::hook(stores, loopback));
    let identity = options.features().enabled(identity_lease::GATE);
    let identity = identity.then(|| identity_lease::hooks(stores, loopback, announcement));
    let in_namespaces = in_namespaces.chain(identity.into_iter().flatten());
    let hooks = hooks.chain(in_namespaces.map(|hook| hook.after(system_namespaces::HOOK)));
    let hooks = hooks.chain(storage_versions);
    server = hooks.fold(server, ApiServer::with_start_hook);
    if let Some(addresses) = addresses {
        server = server
            .with_start_hook(service_range::hook(stores, loopback, &options.service_cluster_ip_range))
            .with_start_hook(addresses.repair_hook().after(service_range::HOOK));
        server = kubernetes_service::with_hooks(server, stores, loopback, options, announcement);
    }
    server
}
