//! Requests of a server to other servers.

use planesmith_server::proxy::NameResolver;

use crate::dedicated_runtime::DedicatedRuntime;

/// The parts that the requests of one server to others share; cheap to clone. They are freed with the last clone.
#[derive(Clone, Debug, Default)]
pub struct Outbound {
    /// Resolves the names of hosts.
    pub resolver: NameResolver,
    /// Runs requests whose answers must come whatever else the server does.
    pub dedicated: DedicatedRuntime,
}
