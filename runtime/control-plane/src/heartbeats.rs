//! The requests with which servers, and clients of a program's components, show that they are alive.

use planesmith_server::in_flight::Heartbeats;
use planesmith_server::request::{RequestInfo, Verb};

use crate::bootstrap::identity_lease;
use crate::program::Program;

/// Returns the requests for single leases in the namespaces where servers and controllers renew theirs, and in those of components.
pub(crate) fn heartbeats(program: &Program) -> Heartbeats {
    let of_components = program.components.iter();
    let of_components = of_components.flat_map(|component| component.lease_namespaces());
    let namespaces: Vec<&'static str> = of_components.copied().chain([identity_lease::NAMESPACE]).collect();
    Heartbeats::new(move |info| is_for_lease(info) && namespaces.contains(&info.namespace()))
}

fn is_for_lease(info: &RequestInfo) -> bool {
    info.resource() == "leases"
        && info.group() == "coordination.k8s.io"
        && info.subresource().is_empty()
        && matches!(info.verb(), Verb::Get | Verb::Create | Verb::Update | Verb::Patch)
}

#[cfg(test)]
mod tests {
    use http::{Method, Uri};

    use super::*;

    #[test]
    fn single_leases_are_heartbeats() {
        let is_lease = |path: &'static str| is_for_lease(&RequestInfo::new(&Method::GET, &Uri::from_static(path)));
        assert!(is_lease("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/a"));
        for path in [
            "/api/v1/namespaces/kube-system/leases/a",
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/a/status",
        ] {
            assert!(!is_lease(path), "{path}");
        }
    }
}
