//! The parts of a server put together: stores, admission, components, the chain of servers, and controllers.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use planesmith_access::admission::{Chain, Lister};
use planesmith_access::authentication::{Anonymous, BearerTokens};
use planesmith_access::authorization::Authorizer;
use planesmith_api_defs::core::v1::Event;
use planesmith_machinery::environment::Environment;
use planesmith_machinery::feature::Features;
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::audit::Audit;
use planesmith_server::chain::ApiServer;
use planesmith_server::discovery::{GroupDirectory, VersionPriority};
use planesmith_server::filters::{AddedFilter, AuditContext};
use planesmith_server::flow_control::FlowControl;
use planesmith_server::health::HealthCheck;
use planesmith_server::hooks::Hook;
use planesmith_server::in_flight::Heartbeats;
use planesmith_server::metrics::{Metrics, SharedMetrics};
use planesmith_server::openapi::OpenApi;
use planesmith_server::routes::Routes;
use planesmith_server::stores::{ObjectLister, Stores, StoresOptions};
use planesmith_server::trace::Tracer;
use planesmith_store::Storage;

use crate::admission::{self, PluginInitializer};
use crate::authentication::{AddedAuthentication, AuthenticationContext, anonymous, bearer_tokens};
use crate::authorization::{Authorization, authorization};
use crate::bootstrap::Announcement;
use crate::component::{AuthorizerInitializer, ChainContext, ChainedServer, Contribution, ServerContext};
use crate::component_state::ComponentState;
use crate::default_roles::DefaultRoles;
use crate::enablement::Enablement;
use crate::feature_gates::FeatureGates;
use crate::group_version::GroupVersion;
use crate::heartbeats::heartbeats;
use crate::identity::Identity;
use crate::leadership::Leadership;
use crate::live_kinds::LiveKinds;
use crate::loopback::Loopback;
use crate::options::Options;
use crate::outbound::Outbound;
use crate::program::Program;
use crate::server_routes::ServerRoutes;
use crate::service_accounts::ServiceAccountKeys;
use crate::service_resolver::{LiveServices, NoServices};
use crate::shared_store::SharedStore;
use crate::storage::{OpenedStore, checks};
use crate::store_api::with_store_api;
use crate::{bootstrap, controllers, namespaces, service_accounts, subresources};

/// The parts that the chain of servers shares with the server in front of it.
pub(crate) struct Assembled {
    /// The served group versions.
    pub(crate) served: Vec<GroupVersion>,
    /// The requests with a share of the limit of requests in flight.
    pub(crate) heartbeats: Heartbeats,
    /// The priorities of all group versions of the program.
    pub(crate) priorities: Vec<VersionPriority>,
    /// The schemas that it publishes.
    pub(crate) openapi: OpenApi,
    /// The registered groups.
    pub(crate) directory: GroupDirectory,
    /// Gives requests their seats; `None` without flow control.
    pub(crate) flow_control: Option<Arc<dyn FlowControl>>,
    /// Receives requests for a tracing system; `None` without one.
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
    /// Records requests; `None` without an audit.
    pub(crate) audit: Option<Arc<AuditContext>>,
    pub(crate) tokens: Arc<BearerTokens>,
    /// The requests without credentials that are served.
    pub(crate) anonymous: Anonymous,
    pub(crate) authorizer: Arc<dyn Authorizer>,
    pub(crate) metrics: SharedMetrics,
    pub(crate) features: Features,
    /// The filters of the components.
    pub(crate) filters: Vec<AddedFilter>,
}

/// Returns the objects of a server, with the admission plugins of `program`.
fn stores(program: &Program, initializer: &PluginInitializer<'_>) -> Result<Stores> {
    let admission = admission_chain(program, initializer)?;
    let requests = &initializer.options.requests;
    let options = StoresOptions {
        metrics: Arc::clone(&initializer.metrics),
        min_watch: requests.min_watch(),
        collects_garbage: requests.enable_garbage_collector,
        ..StoresOptions::new(Arc::clone(&initializer.authorizer))
    };
    let options = match requests.delete_collection_workers {
        Some(deletions) => StoresOptions {
            deletions: deletions.into(),
            ..options
        },
        None => options,
    };
    let scheme = Arc::clone(initializer.scheme);
    Ok(Stores::with_options(
        initializer.storage.clone(),
        scheme,
        admission,
        options,
    ))
}

/// Puts the parts of a server of `program` together: its chain of servers, and the rest. `state` is the state of its components since
/// `store` was opened.
///
/// # Errors
///
/// The kinds of the program contradict each other, or a flag names a file or a value that cannot be used.
#[expect(
    clippy::too_many_lines,
    reason = "the order in which a server is assembled stays in one function"
)]
pub(crate) fn assemble(
    program: &Program,
    options: &Options,
    (store, state): (&OpenedStore, &ComponentState),
    (loopback, outbound): (&Loopback, &Outbound),
    announcement: &Announcement,
    identity: &Identity,
) -> Result<(ApiServer, Assembled)> {
    let (storage, shared) = (&store.storage, store.shared.as_ref());
    let gates = program.features(options);
    let features = features(program, options, &gates)?;
    let scheme = Arc::new(scheme(program, options, &features, shared)?);
    let objects: Arc<dyn Lister> = Arc::new(ObjectLister::new(storage, &scheme));
    let metrics = Arc::new(Metrics::new(Arc::clone(&options.clock)));
    outbound.metrics.show_in(&metrics);
    metrics.select(options.metrics.selection().map_err(anyhow::Error::msg)?);
    for (name, stage, on) in gates.all() {
        metrics.show_feature(name, stage, on);
    }
    let server_name = bootstrap::identity_lease::own_name();
    let initializer = AuthorizerInitializer {
        modes: &program.known_authorization_modes(),
        storage,
        scheme: &scheme,
        options,
        gates: &gates,
        objects: &objects,
        metrics: &metrics,
        server_name: &server_name,
        outbound,
        state,
    };
    let Authorization {
        authorizer,
        allows_everything,
    } = authorization(program, &initializer)?;
    let (kinds, live_services) = (LiveKinds::default(), LiveServices::default());
    let initializer = PluginInitializer {
        storage,
        kinds: &kinds,
        scheme: &scheme,
        objects: Arc::clone(&objects),
        authorizer: Arc::clone(&authorizer),
        loopback,
        services: &live_services,
        metrics: Arc::clone(&metrics),
        options,
        gates: &gates,
        outbound,
        configuration: None,
    };
    let stores = stores(program, &initializer)?;
    let context = AuthenticationContext {
        options,
        gates: &gates,
        metrics: &metrics,
        server_name: &server_name,
        outbound,
    };
    let keys = ServiceAccountKeys::open(options, program.token_key(), program.token_signer(&context)?)?;
    let (tokens, configured) = bearer_tokens_of(program, &context, (&stores, loopback), &keys)?;
    let anonymous = anonymous(options, configured, allows_everything);
    namespaces::handle_subresources(&stores);
    service_accounts::handle_subresources(&stores, &keys, &options.service_accounts);
    let election = shared.and_then(|_| election(program, options, loopback));
    let leadership = election.as_ref().map(|(leadership, _)| leadership);
    let leader = leadership.map_or_else(|| loopback.clone(), |leads| loopback.of_leader(leads.signal()));
    let components = program.components.iter();
    let default_roles: Vec<DefaultRoles> = components.map(|component| component.default_roles()).collect();
    let context = ServerContext {
        stores: &stores,
        objects: &objects,
        loopback,
        leader: &leader,
        options,
        gates: &gates,
        metrics: &metrics,
        announcement,
        authority: identity.authority(),
        tokens: &tokens,
        anonymous: &anonymous,
        authorizer: &authorizer,
        default_roles: &default_roles,
        server_name: &server_name,
        outbound,
        state,
    };
    let added = contributions(program, &context)?;
    let enablement = enablement(program, options, &gates)?;
    let routes = ServerRoutes::install(program, &stores, &enablement);
    subresources::check(&stores, &routes)?;
    let served = routes.served(program);
    let openapi = program.openapi.of(&served, scheme.environment());
    for (path, resources) in enablement.unserved(&scheme, &served) {
        openapi.remove_resources(&path, &resources);
    }
    let services = added.services.unwrap_or_else(|| Arc::new(NoServices));
    live_services.connect(&services);
    let directory = GroupDirectory::default();
    let chain_context = ChainContext {
        server: context,
        served: &served,
        openapi: &openapi,
        directory: &directory,
        services: &services,
        proxy_client: &identity.proxy_client(),
    };
    let further = FurtherServers::of(program, routes.components, &chain_context)?;
    let core = in_front_of(ApiServer::new("core", routes.core), further.behind);
    let core = with_store_checks(core, storage, shared);
    let front_tables = further.in_front.iter().flat_map(ApiServer::tables);
    let tables: Vec<_> = front_tables.chain(core.tables()).collect();
    kinds.connect(&tables);
    let keys_url = options.service_accounts.service_account_jwks_uri.as_deref();
    let core = service_accounts::with_openid(core, &keys, &announcement.external_address(), keys_url);
    let core = bootstrap::with_bootstrap(
        core,
        &tables,
        (&stores, loopback),
        announcement,
        &gates,
        added.start_hooks,
    );
    let core = added.stop_hooks.into_iter().fold(core, ApiServer::with_stop_hook);
    let core = added.health_checks.into_iter().fold(core, ApiServer::with_check);
    let own = controllers::of_every_server(
        (&stores, &leader),
        announcement,
        &gates,
        (&keys.issuer, &added.secret_users),
        &directory,
    );
    let core = with_store_api(core, program.name, (options, &store.place), &stores);
    let controllers: Vec<_> = own.into_iter().chain(added.controllers).collect();
    controllers::check_names(&program.controller_names(), &controllers)?;
    let core = controllers::with_controllers(core, &tables, controllers, &options.embedded_controllers(), leadership);
    let core = election
        .into_iter()
        .fold(core, |core, (_, hook)| core.with_start_hook(hook));
    let in_front = further.in_front.into_iter().rev();
    let chain = in_front.fold(core, |chain, server| server.in_front_of(chain));
    let assembled = Assembled {
        served,
        heartbeats: heartbeats(program),
        priorities: program.all_groups().map(GroupVersion::version_priority).collect(),
        openapi,
        directory,
        flow_control: added.flow_control,
        tracer: added.tracer,
        audit: added.audit.map(|audit| audit_of(audit, &stores)),
        tokens: Arc::clone(&tokens),
        anonymous: anonymous.clone(),
        authorizer: Arc::clone(&authorizer),
        metrics: Arc::clone(&metrics),
        features,
        filters: added.filters,
    };
    Ok((chain, assembled))
}

fn audit_of(audit: Arc<Audit>, stores: &Stores) -> Arc<AuditContext> {
    let scheme = Arc::clone(stores.scheme());
    Arc::new(AuditContext { audit, scheme })
}

/// Returns the authenticator of bearer tokens, and the requests without credentials that a file configures.
fn bearer_tokens_of(
    program: &Program,
    context: &AuthenticationContext<'_>,
    (stores, loopback): (&Stores, &Loopback),
    keys: &ServiceAccountKeys,
) -> Result<(Arc<BearerTokens>, Option<Anonymous>)> {
    let mut components = program.components.iter();
    let added = components.try_fold(AddedAuthentication::default(), |added, component| {
        anyhow::Ok(added.and(component.authentication(context)?))
    })?;
    let tokens = bearer_tokens(context, loopback, keys, stores, added.tokens)?;
    Ok((tokens, added.anonymous))
}

/// Adds the checks of the store.
fn with_store_checks(core: ApiServer, storage: &Storage, shared: Option<&SharedStore>) -> ApiServer {
    let core = checks(storage, shared).into_iter().fold(core, ApiServer::with_check);
    // The data in memory is read when the store is opened, before anything is served.
    core.with_check(HealthCheck::new("informer-sync", || Ok(())).only_ready())
}

/// Returns the leadership of the controllers that run here, and the hook that begins to compete for it; `None` without such
/// controllers.
fn election(program: &Program, options: &Options, loopback: &Loopback) -> Option<(Leadership, Hook)> {
    let enabled = options.embedded_controllers();
    let names = program.controller_names();
    let works = names.iter().any(|name| enabled.enabled(name.name));
    works.then(|| Leadership::elected(&format!("{}-controllers", program.name), loopback))
}

/// Returns what the components add to a server.
fn contributions<'a>(program: &Program, context: &ServerContext<'a>) -> Result<Contribution<'a>> {
    let mut components = program.components.iter();
    components.try_fold(Contribution::default(), |added, component| {
        Ok(added.and(component.install(context)?))
    })
}

/// Returns `core` in front of the servers `behind`.
fn in_front_of(core: ApiServer, behind: Vec<ApiServer>) -> ApiServer {
    let behind = behind.into_iter().rev();
    match behind.reduce(|behind, server| server.in_front_of(behind)) {
        Some(behind) => core.in_front_of(behind),
        None => core,
    }
}

/// The servers of the components, by their place in the chain.
#[derive(Default)]
struct FurtherServers {
    in_front: Vec<ApiServer>,
    behind: Vec<ApiServer>,
}

impl FurtherServers {
    fn of(program: &Program, routes: Vec<Routes>, context: &ChainContext<'_>) -> Result<Self> {
        let mut servers = Self::default();
        for (component, routes) in program.components.iter().zip(routes) {
            match component.server(routes, context)? {
                Some(ChainedServer::BeforeCore(server)) => servers.in_front.push(server),
                Some(ChainedServer::AfterCore(server)) => servers.behind.push(server),
                None => {}
            }
        }
        Ok(servers)
    }
}

/// Returns the kinds of `program`, whose objects `features` determine, as the store has them.
fn scheme(program: &Program, options: &Options, features: &Features, shared: Option<&SharedStore>) -> Result<Scheme> {
    let mut scheme = program.scheme();
    if let Err(problems) = scheme.check() {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        anyhow::bail!(
            "the kinds of this program contradict each other: {}",
            problems.join("; ")
        );
    }
    if !options.event_ttl.is_zero() {
        // A fraction of a second must not mean no limit.
        scheme.set_ttl(Event::RESOURCE, Duration::from_secs(options.event_ttl.as_secs().max(1)));
    }
    scheme.set_environment(Environment {
        features: features.clone(),
        clock: Arc::clone(&options.clock),
    });
    if let Some(shared) = shared {
        scheme.set_storage_media_type(shared.media_type);
    }
    Ok(scheme)
}

/// Returns the features of the server: those of `gates`, those that components read, and those that flags of
/// components switch.
///
/// # Errors
///
/// Two feature gates have one name, or a flag has a value that cannot be used.
fn features(program: &Program, options: &Options, gates: &FeatureGates) -> Result<Features> {
    if let Some(name) = gates.shared_name() {
        bail!(
            "a component brings the feature gate {name}, which Kubernetes or another component has; rename its feature"
        );
    }
    let mut states = gates.states();
    for component in program.components {
        let read = component.read_features().iter();
        states.extend(read.map(|feature| (*feature, gates.enabled(feature.name()))));
        states.extend(component.features(options)?);
    }
    Ok(states.into_iter().collect())
}

/// Returns the chain of the program's admission plugins, followed by those of its components.
fn admission_chain(program: &Program, initializer: &PluginInitializer<'_>) -> Result<Chain> {
    let plugins = program.components.iter().flat_map(|component| component.admission());
    let registrations = admission::filled(program.admission, &plugins.collect::<Vec<_>>())?;
    let mut chain = admission::chain(&registrations, initializer)?;
    for component in program.components {
        for plugin in component.admission_plugins(initializer) {
            chain.push(plugin);
        }
    }
    Ok(chain)
}

/// Returns the group versions and resources of `program` that are on.
fn enablement(program: &Program, options: &Options, gates: &FeatureGates) -> Result<Enablement> {
    let enablement = Enablement::new(program.all_groups(), &options.versions(), gates);
    enablement.map_err(|problem| anyhow::anyhow!(problem))
}
