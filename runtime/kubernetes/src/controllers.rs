//! Embedded lifecycle controllers of built-in kinds: those that a server without kube-controller-manager needs.

mod certificates;
mod finished_jobs;
mod resource_quota;
mod service_range;

use std::sync::Arc;

use planesmith_control_plane::component::ServerContext;
use planesmith_control_plane::controllers::Controller;
use planesmith_control_plane::options::ControllerName;

use self::finished_jobs::FinishedJobs;
use self::resource_quota::QuotaController;
use self::service_range::ServiceRangeController;

/// Names of the controllers, for `--controllers`.
pub(crate) const NAMES: [ControllerName; 6] = [
    ControllerName::renamed("certificatesigningrequest-approving-controller", "csrapproving"),
    ControllerName::renamed("certificatesigningrequest-cleaner-controller", "csrcleaner"),
    ControllerName::renamed("certificatesigningrequest-signing-controller", "csrsigning"),
    ControllerName::renamed("resourcequota-controller", "resourcequota"),
    ControllerName::new("service-cidr-controller"),
    ControllerName::renamed("ttl-after-finished-controller", "ttl-after-finished"),
];

/// Returns the controllers.
pub(crate) fn controllers<'a>(context: &ServerContext<'a>) -> Vec<Controller<'a>> {
    let ServerContext {
        stores,
        objects,
        leader: loopback,
        authority,
        authorizer,
        ..
    } = *context;
    vec![
        Controller::new("start-service-cidr-controller", move |_| {
            let controller = ServiceRangeController::new(stores, loopback)?;
            Some(|shutdown| controller.run(shutdown))
        }),
        Controller::new("start-resourcequota-controller", move |tables| {
            let controller = QuotaController::new(tables, stores, Arc::clone(objects), loopback)?;
            Some(|shutdown| controller.run(shutdown))
        }),
        Controller::reconciling("start-certificatesigningrequest-approving-controller", move |_| {
            certificates::Approver::new(stores, loopback, authorizer)
        }),
        Controller::reconciling("start-certificatesigningrequest-signing-controller", move |_| {
            certificates::Signer::new(stores, loopback, authority)
        }),
        Controller::periodic("start-certificatesigningrequest-cleaner-controller", move |_| {
            certificates::Cleaner::new(stores, loopback)
        }),
        Controller::reconciling("start-ttl-after-finished-controller", move |_| {
            FinishedJobs::new(stores, loopback)
        }),
    ]
}
