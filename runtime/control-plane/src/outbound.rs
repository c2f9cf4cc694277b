//! Requests of a server to other servers.

use std::collections::BTreeMap;
use std::sync::Arc;

use planesmith_server::metrics::EgressMetrics;
use planesmith_server::proxy::{Dialer, NameResolver};

use crate::dedicated_runtime::DedicatedRuntime;

/// A network that a server connects to, for which `--egress-selector-config-file` may select a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Network {
    /// The network of nodes, pods and services: kubelets, proxied requests, aggregated servers, and webhooks that are services.
    Cluster,
    /// The network of the control plane: webhooks with a URL, those of kubeconfigs, and the collector of traces.
    ControlPlane,
    /// The network of etcd.
    Etcd,
}

impl Network {
    /// The name in files and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Network::Cluster => "cluster",
            Network::ControlPlane => "controlplane",
            Network::Etcd => "etcd",
        }
    }
}

/// The parts that the requests of one server to others share; cheap to clone. They are freed with the last clone.
#[derive(Clone, Debug, Default)]
pub struct Outbound {
    /// Opens the connections that no selection is about.
    pub direct: Dialer,
    /// Runs requests whose answers must come whatever else the server does.
    pub dedicated: DedicatedRuntime,
    /// The selections of a file; `None` without one.
    selections: Option<Arc<BTreeMap<Network, Dialer>>>,
    pub(crate) metrics: Arc<EgressMetrics>,
}

impl Outbound {
    /// The parts of a server whose connections are selected by `selections`, if there are any.
    pub(crate) fn selecting(
        resolver: &NameResolver,
        selections: Option<BTreeMap<Network, Dialer>>,
        metrics: Arc<EgressMetrics>,
    ) -> Self {
        Self {
            direct: Dialer::direct(resolver),
            dedicated: DedicatedRuntime::default(),
            selections: selections.map(Arc::new),
            metrics,
        }
    }

    /// The dialer of connections to `network`: the selected one, or that of direct connections.
    #[must_use]
    pub fn dialer(&self, network: Network) -> &Dialer {
        self.selected(network).unwrap_or(&self.direct)
    }

    /// The dialer that is selected for `network`; `None` without a selection.
    #[must_use]
    pub fn selected(&self, network: Network) -> Option<&Dialer> {
        self.selections.as_ref()?.get(&network)
    }

    /// True if there is a file with selections.
    #[must_use]
    pub fn has_selector(&self) -> bool {
        self.selections.is_some()
    }
}
