//! A part of a program that does more than store and serve kinds.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use anyhow::Result;
use clap::{ArgMatches, Command};
use futures_util::future::BoxFuture;
use planesmith_access::admission::{Lister, Plugin};
use planesmith_access::authentication::service_account::KeyGenerator;
use planesmith_access::authentication::{Anonymous, BearerTokens};
use planesmith_access::authorization::Authorizer;
use planesmith_machinery::feature::Feature;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::audit::Audit;
use planesmith_server::chain::ApiServer;
use planesmith_server::discovery::GroupDirectory;
use planesmith_server::filters::AddedFilter;
use planesmith_server::flow_control::FlowControl;
use planesmith_server::health::HealthCheck;
use planesmith_server::hooks::Hook;
use planesmith_server::metrics::SharedMetrics;
use planesmith_server::openapi::OpenApi;
use planesmith_server::proxy::ClientIdentity;
use planesmith_server::routes::Routes;
use planesmith_server::stores::Stores;
use planesmith_server::trace::Tracer;
use planesmith_store::{Storage, StorageOptions, Transformers};

use crate::admission::{PluginInitializer, Registration};
use crate::authentication::{AddedAuthentication, AuthenticationContext};
use crate::bootstrap::Announcement;
use crate::certificates::Authority;
use crate::component_command::ComponentCommand;
use crate::component_state::ComponentState;
use crate::controllers::Controller;
use crate::default_roles::DefaultRoles;
use crate::embedded_store::EmbeddedStore;
use crate::feature_gates::{FeatureGate, FeatureGates};
use crate::group_version::GroupVersion;
use crate::loopback::Loopback;
use crate::options::{AuthorizationMode, ControllerName, Options, StorageKind};
use crate::outbound::Outbound;
use crate::secret_users::SecretUsers;
use crate::service_accounts::TokenSigner;
use crate::service_resolver::ServiceResolver;
use crate::shared_store::SharedStore;
use crate::store_scheme::StoreScheme;
use crate::store_transformation::StoreTransformation;

/// A part of a program that does more than store and serve kinds: it handles subresources, creates objects at start,
/// runs controllers, and has flags of its own.
///
/// A program lists its components in [`Program::components`](crate::Program::components). Each method has a default that
/// contributes nothing, and is called once per start.
pub trait Component: fmt::Debug + Sync {
    /// Adds the component's flags to the command line. They are parsed into [`Options::matches`].
    fn flags(&self, command: Command) -> Command {
        command
    }

    /// Checks the values of the component's flags together.
    ///
    /// # Errors
    ///
    /// The flag, its value and the expected one; the program exits with 2.
    fn check_flags(&self, matches: &ArgMatches) -> Result<(), String> {
        let _ = matches;
        Ok(())
    }

    /// Returns roles and bindings that exist from the first start on, if the program has role-based access control.
    fn default_roles(&self) -> DefaultRoles {
        DefaultRoles::default()
    }

    /// Lists the component's commands, beside those of every program such as `store`.
    fn commands(&self) -> &'static [&'static dyn ComponentCommand] {
        &[]
    }

    /// Lists the component's feature gates, for `--feature-gates`. Rules of kinds read their features like those of Kubernetes.
    fn feature_gates(&self) -> &'static [FeatureGate] {
        &[]
    }

    /// Lists the features of Kubernetes that the component's code reads, beside those of the generic server and of api-defs.
    /// `--feature-gates` switches them.
    fn read_features(&self) -> &'static [&'static Feature] {
        &[]
    }

    /// Names the component's controllers, for `--controllers`.
    fn controller_names(&self) -> &'static [ControllerName] {
        &[]
    }

    /// Returns further addresses of the server, for the serving certificate that it creates for itself.
    ///
    /// # Errors
    ///
    /// A flag whose value cannot be used.
    fn serving_addresses(&self, options: &Options) -> Result<Vec<IpAddr>> {
        let _ = options;
        Ok(Vec::new())
    }

    /// Returns features that the component's flags switch, and their states. Rules of kinds read them like those of
    /// `--feature-gates`, which these override.
    ///
    /// # Errors
    ///
    /// A flag whose value cannot be used.
    fn features(&self, options: &Options) -> Result<Vec<(&'static Feature, bool)>> {
        let _ = options;
        Ok(Vec::new())
    }

    /// Lists the values of `--storage` for the stores that the component opens.
    fn storage_kinds(&self) -> &'static [StorageKind] {
        &[]
    }

    /// Opens the backend of a store that no other server uses, if [`Options::storage`] is one of the component's
    /// [`storage_kinds`](Self::storage_kinds). Called where blocking is allowed.
    ///
    /// # Errors
    ///
    /// The store cannot be opened, or a flag has a value that cannot be used.
    fn embedded_store(&self, options: &Options) -> Result<Option<EmbeddedStore>> {
        let _ = options;
        Ok(None)
    }

    /// Opens the store in which the server keeps its objects together with others, with `settings`, if the component's flags
    /// name one, over the connections of `outbound`. The server has no store of its own then.
    ///
    /// # Errors
    ///
    /// The store does not answer, or a flag has a value that cannot be used.
    fn shared_store<'a>(
        &'a self,
        options: &'a Options,
        settings: &'a StorageOptions,
        outbound: &'a Outbound,
    ) -> BoxFuture<'a, Result<Option<SharedStore>>> {
        let _ = (options, settings, outbound);
        Box::pin(async { Ok(None) })
    }

    /// Returns the transformers of stored values, such as their encryption, if the component's flags configure them. Called before
    /// the store is opened.
    ///
    /// # Errors
    ///
    /// A flag whose value cannot be used, such as a file that cannot be read; the server does not start.
    fn transformers(&self, context: &TransformersContext<'_>) -> Result<Option<Arc<dyn Transformers>>> {
        let _ = context;
        Ok(None)
    }

    /// Returns the same transformation for commands about a whole store.
    fn store_transformation(&self) -> Option<&'static dyn StoreTransformation> {
        None
    }

    /// Returns a kind of store that commands can copy from and to.
    fn store_scheme(&self) -> Option<&'static dyn StoreScheme> {
        None
    }

    /// Names the namespaces whose leases the component's clients renew to show that they are alive. Requests for these have a share of
    /// the limit of requests in flight, as those for the leases of servers.
    fn lease_namespaces(&self) -> &'static [&'static str] {
        &[]
    }

    /// Lists admission plugins that take the places of the same names in [`Program::admission`](crate::Program::admission).
    fn admission(&self) -> &'static [Registration] {
        &[]
    }

    /// Returns admission plugins that no flag switches. They run after those of [`Program::admission`](crate::Program::admission).
    fn admission_plugins(&self, initializer: &PluginInitializer<'_>) -> Vec<Arc<dyn Plugin>> {
        let _ = initializer;
        Vec::new()
    }

    /// Returns the authenticators of the component, and its decision about requests without credentials.
    ///
    /// # Errors
    ///
    /// A flag whose value cannot be used, such as a file that cannot be read; the server does not start.
    fn authentication(&self, context: &AuthenticationContext<'_>) -> Result<AddedAuthentication> {
        let _ = context;
        Ok(AddedAuthentication::default())
    }

    /// Lists the modes of `--authorization-mode` that the component implements: modes of Kubernetes, or its own.
    fn authorization_modes(&self) -> &'static [AuthorizationMode] {
        &[]
    }

    /// Lists those of [`authorization_modes`](Self::authorization_modes) that are on without the flag. A program whose
    /// components list none refuses everything to users outside of `system:masters`.
    fn default_authorization_modes(&self) -> &'static [AuthorizationMode] {
        &[]
    }

    /// Creates the authorizer of `mode`, one of [`authorization_modes`](Self::authorization_modes).
    ///
    /// # Errors
    ///
    /// A flag whose value cannot be used, such as a file that cannot be read; the server does not start.
    fn authorizer(
        &self,
        mode: AuthorizationMode,
        initializer: &AuthorizerInitializer<'_>,
    ) -> Result<Option<Box<dyn Authorizer>>> {
        let _ = (mode, initializer);
        Ok(None)
    }

    /// Returns the authorizer that a file configures, in place of `--authorization-mode`; `None` if no flag of the component
    /// names one. `of_mode` creates the authorizers of modes that the file leaves to their flags.
    ///
    /// # Errors
    ///
    /// A flag whose value cannot be used, such as a file that is not valid; the server does not start.
    fn configured_authorizer(
        &self,
        initializer: &AuthorizerInitializer<'_>,
        of_mode: &AuthorizerOfMode<'_>,
    ) -> Result<Option<ConfiguredAuthorizer>> {
        let _ = (initializer, of_mode);
        Ok(None)
    }

    /// Lists the group versions that the component needs. They are served unless the program has them itself.
    fn groups(&self) -> &'static [GroupVersion] {
        &[]
    }

    /// Names the groups whose kinds the component's own [`server`](Self::server) serves, in place of the core server.
    fn server_groups(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the component's own server of the chain, with `routes`, the enabled kinds of
    /// [`server_groups`](Self::server_groups).
    ///
    /// # Errors
    ///
    /// A flag whose value cannot be used.
    fn server(&self, routes: Routes, context: &ChainContext<'_>) -> Result<Option<ChainedServer>> {
        let _ = (routes, context);
        Ok(None)
    }

    /// Returns the generator of the key that signs tokens of service accounts until a flag names one. The first listed component
    /// with one decides; without any the key is on the curve P-256.
    fn token_key(&self) -> Option<KeyGenerator> {
        None
    }

    /// Returns the signer of tokens of service accounts outside of the server, if the component's flags name one. It takes the place
    /// of all keys. Called where blocking is allowed.
    ///
    /// # Errors
    ///
    /// The signer does not answer; the server does not start.
    fn token_signer(&self, context: &AuthenticationContext<'_>) -> Result<Option<TokenSigner>> {
        let _ = context;
        Ok(None)
    }

    /// Registers handlers of subresources in `context.stores`, and returns the component's contribution to the
    /// server. Kinds are registered, but none is served yet.
    ///
    /// # Errors
    ///
    /// A flag whose value cannot be used, such as a file that cannot be read; the server does not start.
    fn install<'a>(&self, context: &ServerContext<'a>) -> Result<Contribution<'a>> {
        let _ = context;
        Ok(Contribution::default())
    }
}

/// The parts of a server that exist before its store is open.
#[derive(Clone, Copy, Debug)]
pub struct TransformersContext<'a> {
    /// The flags.
    pub options: &'a Options,
    /// The features that are on.
    pub gates: &'a FeatureGates,
    /// The kinds that the program declares.
    pub scheme: &'a Scheme,
    /// State that the parts of a component share.
    pub state: &'a ComponentState,
}

/// The parts of a server from which authorizers are created.
#[derive(Clone, Copy, Debug)]
pub struct AuthorizerInitializer<'a> {
    /// The modes that flags and files may name: those of Kubernetes, and those of the program's components.
    pub modes: &'a [AuthorizationMode],
    /// The stored objects. Everything that a start has to load is there.
    pub storage: &'a Storage,
    /// The kinds of the server.
    pub scheme: &'a Scheme,
    /// The flags.
    pub options: &'a Options,
    /// The features that are on.
    pub gates: &'a FeatureGates,
    /// Reads objects of any kind.
    pub objects: &'a Arc<dyn Lister>,
    /// The metrics of the server.
    pub metrics: &'a SharedMetrics,
    /// The name that identifies the server among several.
    pub server_name: &'a str,
    /// The parts that requests to other servers share.
    pub outbound: &'a Outbound,
    /// State that the parts of a component share.
    pub state: &'a ComponentState,
}

/// Creates the authorizer of a mode by the flags of this mode.
pub type AuthorizerOfMode<'a> = dyn Fn(AuthorizationMode) -> Result<Arc<dyn Authorizer>> + 'a;

/// An authorizer that a file configures, in place of `--authorization-mode`.
#[derive(Debug)]
pub struct ConfiguredAuthorizer {
    /// The authorizer.
    pub authorizer: Box<dyn Authorizer>,
    /// The modes in it that do not change while the server runs.
    pub modes: Vec<AuthorizationMode>,
}

/// The parts of a server that components and controllers work with.
#[derive(Clone, Copy, Debug)]
pub struct ServerContext<'a> {
    /// Objects of the program's kinds.
    pub stores: &'a Stores,
    /// The same objects, as admission plugins see them.
    pub objects: &'a Arc<dyn Lister>,
    /// Client of the server itself. It answers once the server has started.
    pub loopback: &'a Loopback,
    /// The same client for controllers. If several servers share a store, its writes wait until this server leads them.
    pub leader: &'a Loopback,
    /// The flags.
    pub options: &'a Options,
    /// The features that are on.
    pub gates: &'a FeatureGates,
    /// The metrics of the server. The component adds its own, as collectors of the crate `prometheus`, with
    /// [`Metrics::register`](planesmith_server::metrics::Metrics::register).
    pub metrics: &'a SharedMetrics,
    /// Addresses and authorities that are published in objects.
    pub announcement: &'a Announcement,
    /// Signs certificates of clients.
    pub authority: &'a Arc<Authority>,
    /// Authenticates bearer tokens.
    pub tokens: &'a Arc<BearerTokens>,
    /// The requests without credentials that are served.
    pub anonymous: &'a Anonymous,
    /// Decides about requests.
    pub authorizer: &'a Arc<dyn Authorizer>,
    /// The default roles of all components.
    pub default_roles: &'a [DefaultRoles],
    /// The name that identifies the server among several.
    pub server_name: &'a str,
    /// The parts that requests to other servers share.
    pub outbound: &'a Outbound,
    /// State that the parts of a component share.
    pub state: &'a ComponentState,
}

/// The parts of a server that its chain is made of.
#[derive(Clone, Copy)]
pub struct ChainContext<'a> {
    /// The parts that all components work with.
    pub server: ServerContext<'a>,
    /// The group versions that this program serves.
    pub served: &'a [GroupVersion],
    /// The published OpenAPI documents.
    pub openapi: &'a OpenApi,
    /// The groups published in discovery.
    pub directory: &'a GroupDirectory,
    /// Finds servers behind services.
    pub services: &'a Arc<dyn ServiceResolver>,
    /// The client certificate of this server, with which it passes requests on for their users.
    pub proxy_client: &'a ClientIdentity,
}

impl fmt::Debug for ChainContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainContext")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

/// A further server of the chain, and its place.
#[derive(Debug)]
pub enum ChainedServer {
    /// It gets requests before the core server. Of several, that of the first listed component gets them first.
    BeforeCore(ApiServer),
    /// It gets the requests that no server before it has a route for.
    AfterCore(ApiServer),
}

/// The parts that a component adds to a server.
#[derive(Default)]
pub struct Contribution<'a> {
    /// Hooks that run at start, such as those that make objects. Those whose objects have a namespace wait for
    /// [`system_namespaces::HOOK`](crate::bootstrap::system_namespaces::HOOK).
    pub start_hooks: Vec<Hook>,
    /// Checks of the health of the server.
    pub health_checks: Vec<HealthCheck>,
    /// Hooks that run before the server stops.
    pub stop_hooks: Vec<Hook>,
    /// Controllers that `--controllers` can switch.
    pub controllers: Vec<Controller<'a>>,
    /// Finds servers behind services; `None` from a component without services.
    pub services: Option<Arc<dyn ServiceResolver>>,
    /// Objects that use secrets, whose unused tokens are removed otherwise.
    pub secret_users: Vec<Arc<dyn SecretUsers>>,
    /// Gives requests their seats; `None` from a component without flow control.
    pub flow_control: Option<Arc<dyn FlowControl>>,
    /// Receives requests for a tracing system; `None` from a component without one.
    pub tracer: Option<Arc<dyn Tracer>>,
    /// Records requests; `None` from a component without an audit, or if no request is to be recorded.
    pub audit: Option<Arc<Audit>>,
    /// Filters of all requests, with their places among those of every server.
    pub filters: Vec<AddedFilter>,
}

impl fmt::Debug for Contribution<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contribution")
            .field("start_hooks", &self.start_hooks)
            .field("health_checks", &self.health_checks)
            .field("stop_hooks", &self.stop_hooks)
            .field("controllers", &self.controllers)
            .field("filters", &self.filters)
            .finish_non_exhaustive()
    }
}

impl<'a> Contribution<'a> {
    /// Adds the parts of `later`. Of resolvers, flow controls, tracers and audits the last one counts.
    #[must_use]
    pub(crate) fn and(mut self, later: Contribution<'a>) -> Self {
        self.start_hooks.extend(later.start_hooks);
        self.health_checks.extend(later.health_checks);
        self.stop_hooks.extend(later.stop_hooks);
        self.controllers.extend(later.controllers);
        self.secret_users.extend(later.secret_users);
        self.services = later.services.or(self.services);
        self.flow_control = later.flow_control.or(self.flow_control);
        self.tracer = later.tracer.or(self.tracer);
        self.audit = later.audit.or(self.audit);
        self.filters.extend(later.filters);
        self
    }
}
