//! Objects that a control plane creates for itself at start, as hooks in a fixed order.

mod authority_file;
pub(crate) mod cluster_authentication;
pub(crate) mod identity_lease;
mod maintained_config_map;
pub(crate) mod storage_versions;
pub mod system_namespaces;
pub(crate) mod token_tracking;

use std::net::{IpAddr, SocketAddr};

use planesmith_server::chain::{ApiServer, SharedTable};
use planesmith_server::hooks::Hook;
use planesmith_server::stores::Stores;

pub use self::authority_file::AuthorityFile;
pub use self::cluster_authentication::ClusterAuthentication;
use crate::feature_gates::FeatureGates;
use crate::loopback::Loopback;

/// The facts about the server that hooks publish in objects.
#[derive(Clone, Debug)]
pub struct Announcement {
    /// The address at which clients reach the server.
    pub address: IpAddr,
    /// The address behind the Service kubernetes; `None` for a server that pods cannot reach.
    pub endpoint: Option<IpAddr>,
    /// The port that it listens on.
    pub port: u16,
    /// The host, perhaps with a port, that an operator gives to clients in place of the address; empty without one.
    pub external_host: String,
    /// The authorities and headers that servers behind this one can trust.
    pub authentication: ClusterAuthentication,
    /// The authority of the serving certificate, PEM.
    pub root_authority: String,
}

impl Announcement {
    /// Returns both in the form of URLs.
    #[must_use]
    pub fn public_address(&self) -> String {
        SocketAddr::new(self.address, self.port).to_string()
    }

    /// Returns the host and port that clients are given.
    #[must_use]
    pub fn external_address(&self) -> String {
        let host = &self.external_host;
        let with_port = host.rsplit_once(':');
        let has_port = with_port.is_some_and(|(name, _)| !name.contains(':') || name.ends_with(']'));
        match host.as_str() {
            "" => self.public_address(),
            _ if has_port => host.clone(),
            _ if with_port.is_some() && !host.starts_with('[') => format!("[{host}]:{}", self.port),
            _ => format!("{host}:{}", self.port),
        }
    }
}

/// Adds the hooks for the kinds in `tables`, those of the chain; those of its components come between the namespaces and the rest.
#[must_use]
pub fn with_bootstrap(
    server: ApiServer,
    tables: &[SharedTable],
    (stores, loopback): (&Stores, &Loopback),
    announcement: &Announcement,
    gates: &FeatureGates,
    of_components: Vec<Hook>,
) -> ApiServer {
    let storage_versions = storage_versions::hook(tables, stores, loopback, gates);
    // Plugins and caches are complete before the server listens; in kube-apiserver, hooks complete them.
    let complete = Hook::new("start-apiserver-admission-initializer", |_| async { Ok(()) });
    let complete = complete.with_parts(&["generic-apiserver-start-informers", "storage-object-count-tracker-hook"]);
    let namespaces = std::iter::once(complete).chain(system_namespaces::hook(stores, loopback));
    let in_namespaces = cluster_authentication::hook(stores, loopback, &announcement.authentication).into_iter();
    let in_namespaces = in_namespaces.chain(token_tracking::hook(stores, loopback));
    let identity = gates.enabled(identity_lease::GATE);
    let identity = identity.then(|| identity_lease::hooks(stores, loopback, announcement));
    let (identity, give_up_identity) = identity.flatten().unzip();
    let in_namespaces = in_namespaces.chain(identity.into_iter().flatten());
    let hooks = namespaces.chain(of_components);
    let hooks = hooks.chain(in_namespaces.map(|hook| hook.after(system_namespaces::HOOK)));
    let server = hooks.chain(storage_versions).fold(server, ApiServer::with_start_hook);
    give_up_identity.into_iter().fold(server, ApiServer::with_stop_hook)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_given_a_host_with_a_port() {
        for (external, expected) in [
            ("", "192.0.2.7:6443"),
            ("api.example.com", "api.example.com:6443"),
            ("api.example.com:443", "api.example.com:443"),
            ("2001:db8::1", "[2001:db8::1]:6443"),
            ("[2001:db8::1]", "[2001:db8::1]:6443"),
            ("[2001:db8::1]:443", "[2001:db8::1]:443"),
        ] {
            let announcement = Announcement {
                address: IpAddr::from([192, 0, 2, 7]),
                endpoint: None,
                port: 6443,
                external_host: external.to_owned(),
                authentication: ClusterAuthentication::default(),
                root_authority: String::new(),
            };
            assert_eq!(announcement.external_address(), expected, "{external}");
        }
    }
}
