//! Embedded lifecycle controllers: what a server alone needs so that users see what they expect.
//!
//! They run unless `--controllers` says otherwise; all of them are off when a kube-controller-manager runs beside the
//! server.

mod garbage_collector;
mod metadata;
mod namespace;
mod served_kinds;
mod service_range;

use planesmith_server::chain::ApiServer;
use planesmith_server::hooks::Hook;
use planesmith_server::stores::Stores;

use crate::loopback::Loopback;
use crate::options::Controllers;

/// Adds the controllers that are switched on, as start hooks.
#[must_use]
pub fn with_controllers(server: ApiServer, stores: &Stores, loopback: &Loopback, enabled: &Controllers) -> ApiServer {
    let mut server = server;
    if enabled.enabled("garbage-collector-controller") {
        let controller = garbage_collector::GarbageCollector::new(&server, loopback);
        server = server.with_start_hook(Hook::new(
            "start-garbage-collector-controller",
            move |shutdown| async move {
                tokio::spawn(controller.run(shutdown));
                Ok(())
            },
        ));
    }
    if enabled.enabled("namespace")
        && let Some(controller) = namespace::NamespaceController::new(&server, stores, loopback)
    {
        server = server.with_start_hook(Hook::new("start-namespace-controller", move |shutdown| async move {
            tokio::spawn(controller.run(shutdown));
            Ok(())
        }));
    }
    if enabled.enabled("service-cidr-controller")
        && let Some(controller) = service_range::ServiceRangeController::new(stores, loopback)
    {
        server = server.with_start_hook(Hook::new("start-service-cidr-controller", move |shutdown| async move {
            tokio::spawn(controller.run(shutdown));
            Ok(())
        }));
    }
    server
}
