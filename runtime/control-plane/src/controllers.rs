//! Embedded lifecycle controllers: what a server alone needs so that users see what they expect.
//!
//! They run unless `--controllers` says otherwise; all of them are off when a kube-controller-manager runs beside the
//! server.

mod cluster_role_aggregation;
mod garbage_collector;
mod metadata;
mod namespace;
mod root_certificate;
mod served_kinds;
mod service_account;
mod service_range;

use planesmith_server::chain::ApiServer;
use planesmith_server::discovery::GroupDirectory;
use planesmith_server::hooks::Hook;
use planesmith_server::stores::Stores;

use self::cluster_role_aggregation::ClusterRoleAggregation;
use self::root_certificate::RootCertificatePublisher;
use self::service_account::ServiceAccountController;
use crate::bootstrap::Announcement;
use crate::loopback::Loopback;
use crate::objects::{Objects, text};
use crate::options::Controllers;
use crate::reconciler::{self, Reconcile};

/// Whose fields those are that controllers write: the same as with a kube-controller-manager.
const MANAGER: &str = "kube-controller-manager";

/// Adds the controllers that are switched on, as start hooks.
#[must_use]
pub fn with_controllers(
    server: ApiServer,
    stores: &Stores,
    loopback: &Loopback,
    enabled: &Controllers,
    announcement: &Announcement,
    directory: &GroupDirectory,
) -> ApiServer {
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
    if enabled.enabled("namespace-controller")
        && let Some(controller) = namespace::NamespaceController::new(&server, stores, loopback, directory)
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
    let accounts = || ServiceAccountController::new(stores, loopback);
    let certificates = || RootCertificatePublisher::new(stores, loopback, &announcement.root_authority);
    let roles = || ClusterRoleAggregation::new(stores, loopback);
    let hooks = [
        hook(
            enabled,
            "serviceaccount-controller",
            "start-serviceaccount-controller",
            accounts,
        ),
        hook(
            enabled,
            "root-ca-certificate-publisher-controller",
            "start-root-ca-certificate-publisher-controller",
            certificates,
        ),
        hook(
            enabled,
            "clusterrole-aggregation-controller",
            "start-clusterrole-aggregation-controller",
            roles,
        ),
    ];
    hooks.into_iter().flatten().fold(server, ApiServer::with_start_hook)
}

/// The hook that starts a controller in the background, if it is switched on and has something to do.
fn hook<R: Reconcile>(
    enabled: &Controllers,
    name: &str,
    hook: &'static str,
    controller: impl FnOnce() -> Option<R>,
) -> Option<Hook> {
    if !enabled.enabled(name) {
        return None;
    }
    let controller = controller()?;
    Some(Hook::new(hook, move |shutdown| async move {
        tokio::spawn(reconciler::start(controller, shutdown));
        Ok(())
    }))
}

/// Whether a namespace is there to stay, so that things can be made in it.
fn is_active(namespaces: &Objects, name: &str) -> bool {
    let namespace = namespaces.get("", name);
    namespace.is_some_and(|namespace| text(&namespace, "/status/phase") == "Active")
}
