//! Embedded lifecycle controllers: what a server alone needs so that users see what they expect.
//!
//! They run unless `--controllers` says otherwise; all of them are off when a kube-controller-manager runs beside the
//! server.

mod certificates;
mod cluster_role_aggregation;
mod finished_jobs;
mod garbage_collector;
mod in_each_namespace;
mod metadata;
mod namespace;
mod remote_kinds;
mod remote_objects;
mod resource_quota;
mod root_certificate;
mod served_kinds;
mod service_account;
mod service_account_tokens;
mod service_range;
mod storage_migration;
mod storage_versions;
mod unused_tokens;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use planesmith_access::admission::Lister;
use planesmith_access::authentication::service_account::TokenIssuer;
use planesmith_access::authorization::Authorizer;
use planesmith_server::chain::ApiServer;
use planesmith_server::discovery::GroupDirectory;
use planesmith_server::hooks::Hook;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::Stores;

use self::cluster_role_aggregation::ClusterRoleAggregation;
use self::finished_jobs::FinishedJobs;
use self::garbage_collector::GarbageCollector;
use self::in_each_namespace::InEachNamespace;
use self::namespace::NamespaceController;
use self::resource_quota::QuotaController;
use self::root_certificate::RootCertificate;
use self::service_account::DefaultServiceAccount;
use self::service_account_tokens::TokenController;
use self::service_range::ServiceRangeController;
use self::storage_migration::StorageMigrator;
use self::storage_versions::StaleStorageVersions;
use self::unused_tokens::UnusedTokens;
use crate::bootstrap::Announcement;
use crate::certificates::Authority;
use crate::feature_gates::FeatureGates;
use crate::loopback::Loopback;
use crate::objects::{Objects, text};
use crate::options::Controllers;
use crate::periodic::{self, Periodic};
use crate::reconciler::{self, Reconcile};

/// Whose fields those are that controllers write: the same as with a kube-controller-manager.
const MANAGER: &str = "kube-controller-manager";

/// What controllers work with.
#[derive(Clone, Copy, Debug)]
pub struct Means<'m> {
    /// The objects of the server.
    pub stores: &'m Stores,
    /// The same, as admission plugins see them.
    pub objects: &'m Arc<dyn Lister>,
    /// The server itself.
    pub loopback: &'m Loopback,
    /// What is said about the server in objects.
    pub announcement: &'m Announcement,
    /// Signs certificates of clients.
    pub authority: &'m Arc<Authority>,
    /// Signs tokens of service accounts.
    pub issuer: &'m Arc<TokenIssuer>,
    /// Decides what clients may do.
    pub authorizer: &'m Arc<dyn Authorizer>,
    /// What is served, by this server and by those that it passes requests on to.
    pub directory: &'m GroupDirectory,
    /// Which features are on.
    pub gates: &'m FeatureGates,
}

/// What a controller does until the server stops.
type Work = Box<dyn FnOnce(Shutdown) -> BoxFuture<'static, ()> + Send>;

/// Adds the controllers that are switched on, as start hooks.
#[must_use]
pub fn with_controllers(server: ApiServer, means: Means<'_>, enabled: &Controllers) -> ApiServer {
    let Means {
        stores,
        objects,
        loopback,
        announcement,
        authority,
        issuer,
        authorizer,
        directory,
        gates,
    } = means;
    let root = &announcement.root_authority;
    Switched { server, enabled }
        .add("start-garbage-collector-controller", |server| {
            let collector = GarbageCollector::new(server, stores, loopback, directory);
            Some(work(|shutdown| collector.run(shutdown)))
        })
        .add("start-namespace-controller", |server| {
            let controller = NamespaceController::new(server, stores, loopback, directory)?;
            Some(work(|shutdown| controller.run(shutdown)))
        })
        .add("start-service-cidr-controller", |_| {
            let controller = ServiceRangeController::new(stores, loopback)?;
            Some(work(|shutdown| controller.run(shutdown)))
        })
        .add("start-serviceaccount-controller", |_| {
            reconciling(InEachNamespace::new(stores, loopback, DefaultServiceAccount))
        })
        .add("start-serviceaccount-token-controller", |_| {
            reconciling(TokenController::new(stores, loopback, issuer, root))
        })
        .add("start-root-ca-certificate-publisher-controller", |_| {
            let authority = root.clone();
            reconciling(InEachNamespace::new(stores, loopback, RootCertificate { authority }))
        })
        .add("start-clusterrole-aggregation-controller", |_| {
            reconciling(ClusterRoleAggregation::new(stores, loopback))
        })
        .add("start-resourcequota-controller", |server| {
            let controller = QuotaController::new(server, stores, Arc::clone(objects), loopback)?;
            Some(work(|shutdown| controller.run(shutdown)))
        })
        .add("start-certificatesigningrequest-approving-controller", |_| {
            reconciling(certificates::Approver::new(stores, loopback, authorizer))
        })
        .add("start-certificatesigningrequest-signing-controller", |_| {
            reconciling(certificates::Signer::new(stores, loopback, authority))
        })
        .add("start-certificatesigningrequest-cleaner-controller", |_| {
            repeating(certificates::Cleaner::new(stores, loopback))
        })
        .add("start-storageversion-garbage-collector-controller", |server| {
            reconciling(StaleStorageVersions::new(server, stores, loopback, gates))
        })
        .add("start-storage-version-migrator-controller", |_| {
            let migrator = StorageMigrator::new(stores)?;
            Some(work(|shutdown| migrator.run(shutdown)))
        })
        .add("start-ttl-after-finished-controller", |_| {
            reconciling(FinishedJobs::new(stores, loopback))
        })
        .add("start-legacy-serviceaccount-token-cleaner-controller", |_| {
            repeating(UnusedTokens::new(stores, loopback))
        })
        .server
}

/// A server, and which controllers it is to have.
struct Switched<'s> {
    server: ApiServer,
    enabled: &'s Controllers,
}

impl Switched<'_> {
    /// Adds the hook `start-NAME` for the controller NAME, if it is switched on and has something to do.
    fn add(self, hook: &'static str, controller: impl FnOnce(&ApiServer) -> Option<Work>) -> Self {
        let name = hook.trim_start_matches("start-");
        let work = match self.enabled.enabled(name) {
            true => controller(&self.server),
            false => None,
        };
        let Some(work) = work else { return self };
        let hook = Hook::new(hook, move |shutdown| async move {
            tokio::spawn(work(shutdown));
            Ok(())
        });
        Self {
            server: self.server.with_start_hook(hook),
            ..self
        }
    }
}

fn work<F>(run: impl FnOnce(Shutdown) -> F + Send + 'static) -> Work
where
    F: Future<Output = ()> + Send + 'static,
{
    Box::new(move |shutdown| Box::pin(run(shutdown)))
}

fn reconciling<R: Reconcile>(controller: Option<R>) -> Option<Work> {
    let controller = controller?;
    Some(work(|shutdown| reconciler::start(controller, shutdown)))
}

fn repeating<P: Periodic>(controller: Option<P>) -> Option<Work> {
    let controller = controller?;
    Some(work(|shutdown| periodic::run(controller, shutdown)))
}

/// Whether a namespace is there to stay, so that things can be made in it.
fn is_active(namespaces: &Objects, name: &str) -> bool {
    let namespace = namespaces.get("", name);
    namespace.is_some_and(|namespace| text(&namespace, "/status/phase") == "Active")
}
