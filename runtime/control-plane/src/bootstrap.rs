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
    let complete = complete.with_parts(&["generic-apiserver-start-informers"]);
    let namespaces = std::iter::once(complete).chain(system_namespaces::hook(stores, loopback));
    let in_namespaces = cluster_authentication::hook(stores, loopback, &announcement.authentication).into_iter();
    let in_namespaces = in_namespaces.chain(token_tracking::hook(stores, loopback));
    let identity = gates.enabled(identity_lease::GATE);
    let identity = identity.then(|| identity_lease::hooks(stores, loopback, announcement));
    let in_namespaces = in_namespaces.chain(identity.into_iter().flatten());
    let hooks = namespaces.chain(of_components);
    let hooks = hooks.chain(in_namespaces.map(|hook| hook.after(system_namespaces::HOOK)));
    hooks.chain(storage_versions).fold(server, ApiServer::with_start_hook)
}
