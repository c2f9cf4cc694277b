//! Embedded lifecycle controllers: those that a server without kube-controller-manager needs.
//!
//! They run unless `--controllers` says otherwise; all of them are off when a kube-controller-manager runs beside the
//! server.

mod garbage_collector;
mod in_each_namespace;
mod metadata;
mod namespace;
mod remote_kinds;
mod remote_objects;
mod root_certificate;
pub mod served_kinds;
mod service_account;
mod service_account_tokens;
mod storage_migration;
mod storage_versions;
mod unused_tokens;

use std::fmt;
use std::sync::Arc;

use anyhow::{Result, ensure};
use futures_util::future::BoxFuture;
use planesmith_access::authentication::service_account::TokenIssuer;
use planesmith_server::chain::{ApiServer, SharedTable};
use planesmith_server::discovery::GroupDirectory;
use planesmith_server::hooks::Hook;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::Stores;

use self::garbage_collector::GarbageCollector;
use self::in_each_namespace::InEachNamespace;
use self::namespace::NamespaceController;
use self::root_certificate::RootCertificate;
use self::service_account::DefaultServiceAccount;
use self::service_account_tokens::TokenController;
use self::storage_migration::StorageMigrator;
use self::storage_versions::StaleStorageVersions;
use self::unused_tokens::UnusedTokens;
use crate::bootstrap::Announcement;
use crate::feature_gates::FeatureGates;
use crate::leadership::Leadership;
use crate::loopback::Loopback;
use crate::options::{ControllerName, Controllers};
use crate::periodic::{self, Periodic};
use crate::reconciler::{self, Reconcile};
use crate::resource_client::{ResourceClient, text};
use crate::secret_users::SecretUsers;
use planesmith_server::task;

/// The field manager of controllers: the same as with a kube-controller-manager.
pub const MANAGER: &str = "kube-controller-manager";

/// Runs until the server stops.
type Run = Box<dyn FnOnce(Shutdown) -> BoxFuture<'static, ()> + Send>;

/// Prepares a controller for a server; `None` when it has nothing to do there.
type Prepare<'a> = Box<dyn FnOnce(&[SharedTable]) -> Option<Run> + 'a>;

/// A controller that `--controllers` can switch. It starts with the server.
pub struct Controller<'a> {
    hook: &'static str,
    prepare: Prepare<'a>,
}

impl<'a> Controller<'a> {
    /// The controller of the start hook `hook`, which is `start-` and the controller's name. `prepare` gets the tables of the
    /// chain, only if the controller is switched on; it returns `None` when the controller has nothing to do there.
    #[must_use]
    pub fn new<W, F>(hook: &'static str, prepare: impl FnOnce(&[SharedTable]) -> Option<W> + 'a) -> Self
    where
        W: FnOnce(Shutdown) -> F + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let prepare = |tables: &[SharedTable]| {
            let run = prepare(tables)?;
            Some(Box::new(|shutdown: Shutdown| Box::pin(run(shutdown)) as BoxFuture<'static, ()>) as Run)
        };
        Self {
            hook,
            prepare: Box::new(prepare),
        }
    }

    /// As [`Controller::new`], for a controller that reconciles objects.
    #[must_use]
    pub fn reconciling<R: Reconcile>(
        hook: &'static str,
        prepare: impl FnOnce(&[SharedTable]) -> Option<R> + 'a,
    ) -> Self {
        Self::new(hook, |tables| {
            let controller = prepare(tables)?;
            Some(|shutdown| reconciler::start(controller, shutdown))
        })
    }

    /// As [`Controller::new`], for a controller that works at intervals.
    #[must_use]
    pub fn periodic<P: Periodic>(hook: &'static str, prepare: impl FnOnce(&[SharedTable]) -> Option<P> + 'a) -> Self {
        Self::new(hook, |tables| {
            let controller = prepare(tables)?;
            Some(|shutdown| periodic::run(controller, shutdown))
        })
    }

    fn name(&self) -> &'static str {
        self.hook.trim_start_matches("start-")
    }

    /// Adds the controller's hook to `server`.
    fn add_to(self, server: ApiServer, tables: &[SharedTable], leadership: Option<&Leadership>) -> ApiServer {
        let Some(run) = (self.prepare)(tables) else {
            return server;
        };
        let leadership = leadership.cloned();
        server.with_start_hook(Hook::new(self.hook, move |shutdown| async move {
            task::spawn(async move {
                let leads = match leadership {
                    Some(leadership) => leadership.begins().await,
                    None => true,
                };
                if leads {
                    run(shutdown).await;
                }
            });
            Ok(())
        }))
    }
}

impl fmt::Debug for Controller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Controller").field(&self.name()).finish()
    }
}

/// Checks that `--controllers` can switch each of `controllers`: that their names are `known`.
///
/// # Errors
///
/// The controller whose name is missing.
pub(crate) fn check_names(known: &[ControllerName], controllers: &[Controller<'_>]) -> Result<()> {
    for controller in controllers {
        let name = controller.name();
        ensure!(
            known.iter().any(|known| known.name == name),
            "the controller {name} cannot be switched; add it to `Component::controller_names`"
        );
    }
    Ok(())
}

/// Returns the controllers of every server.
pub(crate) fn of_every_server<'a>(
    (stores, loopback): (&'a Stores, &'a Loopback),
    announcement: &'a Announcement,
    gates: &'a FeatureGates,
    (issuer, secret_users): (&'a Arc<TokenIssuer>, &'a [Arc<dyn SecretUsers>]),
    directory: &'a GroupDirectory,
) -> Vec<Controller<'a>> {
    let root = &announcement.root_authority;
    vec![
        Controller::new("start-garbage-collector-controller", move |tables| {
            let collector = GarbageCollector::new(tables, stores, loopback, directory);
            Some(|shutdown| collector.run(shutdown))
        }),
        Controller::new("start-namespace-controller", move |tables| {
            let controller = NamespaceController::new(tables, stores, loopback, directory)?;
            Some(|shutdown| controller.run(shutdown))
        }),
        Controller::reconciling("start-serviceaccount-controller", move |_| {
            InEachNamespace::new(stores, loopback, DefaultServiceAccount)
        }),
        Controller::reconciling("start-serviceaccount-token-controller", move |_| {
            TokenController::new(stores, loopback, issuer, root)
        }),
        Controller::reconciling("start-root-ca-certificate-publisher-controller", move |_| {
            let authority = root.clone();
            InEachNamespace::new(stores, loopback, RootCertificate { authority })
        }),
        Controller::reconciling("start-storageversion-garbage-collector-controller", move |tables| {
            StaleStorageVersions::new(tables, stores, loopback, gates)
        }),
        Controller::new("start-storage-version-migrator-controller", move |_| {
            let migrator = StorageMigrator::new(stores)?;
            Some(|shutdown| migrator.run(shutdown))
        }),
        Controller::periodic("start-legacy-serviceaccount-token-cleaner-controller", move |_| {
            UnusedTokens::new(stores, loopback, secret_users)
        }),
    ]
}

/// Adds those of `controllers` that are switched on as start hooks of `server`. They follow the kinds in `tables`, and start when
/// the server leads, if there is a `leadership`.
#[must_use]
pub(crate) fn with_controllers<'a>(
    server: ApiServer,
    tables: &[SharedTable],
    controllers: impl IntoIterator<Item = Controller<'a>>,
    enabled: &Controllers,
    leadership: Option<&Leadership>,
) -> ApiServer {
    let on = controllers
        .into_iter()
        .filter(|controller| enabled.enabled(controller.name()));
    on.fold(server, |server, controller| {
        controller.add_to(server, tables, leadership)
    })
}

/// True if the namespace `name` exists and is not being deleted, so that objects can be created in it.
fn is_active(namespaces: &ResourceClient, name: &str) -> bool {
    let namespace = namespaces.get("", name);
    namespace.is_some_and(|namespace| text(&namespace, "/status/phase") == "Active")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_that_no_flag_can_switch_is_refused() {
        let controller = Controller::new("start-a", |_| None::<fn(Shutdown) -> std::future::Ready<()>>);
        let controllers = [controller];
        assert!(check_names(&[ControllerName::new("a")], &controllers).is_ok());
        let refused = check_names(&[ControllerName::new("b")], &controllers).unwrap_err();
        assert!(
            refused.to_string().starts_with("the controller a cannot be switched"),
            "{refused}"
        );
    }
}
