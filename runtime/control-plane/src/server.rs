//! A server, from its flags to its end.

use std::fmt::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use planesmith_access::authentication::RequestHeaderAuthenticator;
use planesmith_machinery::time::Time;
use planesmith_server::filters::AuditContext;
use planesmith_server::in_flight::InFlightLimits;
use planesmith_server::lifecycle::{Config, PreparedServer, Signals};
use planesmith_server::listener::{Listener, Tls};
use planesmith_server::trace::Tracer;
use planesmith_store::Storage;

use crate::assembly::{Assembled, assemble};
use crate::authentication::authenticator;
use crate::bootstrap::Announcement;
use crate::certificates::renewal::Renewal;
use crate::component_state::ComponentState;
use crate::data_folder::DataFolder;
use crate::delegation::{Host, Lookup, TrustedProxies};
use crate::descriptors::Descriptors;
use crate::group_version::GroupVersion;
use crate::identity::Identity;
use crate::loopback::Loopback;
use crate::options::{Options, VersionFlag};
use crate::outbound::Outbound;
use crate::program::Program;
use crate::running::Running;
use crate::storage::{OpenedStore, open_storage, settings};
use planesmith_server::task;

/// A server that is ready to run: its store is open, its address is bound, and its parts are put together.
///
/// A process may run several, each with a data folder and a port of its own, and with flags of its own.
pub struct Server {
    prepared: PreparedServer,
    listener: Listener,
    storage: Storage,
    renewal: Option<Renewal>,
    tracer: Option<Arc<dyn Tracer>>,
    audit: Option<Arc<AuditContext>>,
    record: Running,
    data_dir: PathBuf,
    served: Vec<GroupVersion>,
    kubeconfig: PathBuf,
    /// Unlocks the data folder after everything else is dropped.
    _folder: Arc<DataFolder>,
}

impl Server {
    /// Opens the server of `program` with these flags: creates or reads its certificates, opens its store, and binds its
    /// address. It leaves some of the `descriptors` of the process to everything but client connections.
    ///
    /// # Errors
    ///
    /// The flag, folder or address that cannot be used, and the reason.
    pub async fn open(program: &Program, options: &Options, descriptors: Descriptors) -> Result<Self> {
        warn_about_outdated_features(options);
        let folder = DataFolder::open(&options.data_dir, program.name).await?;
        let mut addresses = Vec::new();
        for component in program.components {
            addresses.extend(component.serving_addresses(options)?);
        }
        let identity = blocking(options, move |options| Identity::open(options, &addresses)).await?;
        let outbound = blocking(options, |options| options.egress_selector.outbound()).await?;
        let state = ComponentState::default();
        let (settings, mut shared) = (settings(program, options, &state)?, None);
        for component in program.components {
            shared = component.shared_store(options, &settings, &outbound).await?.or(shared);
        }
        let store = match shared {
            Some(shared) => OpenedStore::from(shared),
            None => {
                let program = *program;
                blocking(options, move |options| open_storage(&program, options, &settings)).await?
            }
        };
        let opened = Opened {
            folder: Arc::new(folder),
            identity,
            store,
            state,
            outbound,
        };
        let server = opened.prepare(program, options, descriptors).await;
        if server.is_err() {
            opened.store.storage.close().await;
        }
        server
    }

    /// The URL at which clients on this host reach the server.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.record.url
    }

    /// The file with the administrator's credentials, for kubectl.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Returns lines with the served group versions, the URL, the store, and the command to use next.
    #[must_use]
    pub fn summary(&self) -> String {
        let served: Vec<String> = self.served.iter().map(GroupVersion::api_version).collect();
        let mut text = format!(
            "{} {} serves {}\n",
            self.record.name,
            self.record.version,
            served.join(", ")
        );
        let next = format!("kubectl --kubeconfig {} api-resources", self.kubeconfig.display());
        for (what, value) in [("at", self.url()), ("store", &self.record.store), ("next", &next)] {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {what:<6} {value}");
        }
        text
    }

    /// Serves until a signal stops the server, and closes its store.
    ///
    /// # Errors
    ///
    /// The server does not stop in order.
    pub async fn run(self, signals: Signals) -> Result<()> {
        if let Err(error) = self.record.write(&self.data_dir) {
            // A full disk does not stop a server that can be read.
            tracing::warn!(%error, folder = %self.data_dir.display(), "the command status will not find the server");
        }
        let renewal = self.renewal.map(|renewal| task::spawn(renewal.run()));
        // The server's own tasks may request something until the store is closed.
        let front = self.prepared.front();
        let result = self.prepared.run(self.listener, signals).await;
        if let Some(renewal) = renewal {
            renewal.abort();
        }
        if let Some(tracer) = self.tracer {
            finish(tracer).await;
        }
        if let Some(audit) = self.audit {
            finish_audit(audit).await;
        }
        self.storage.close().await;
        Running::remove(&self.data_dir);
        drop(front);
        result.context("the server stopped with an error")
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}

/// Runs `open`, which waits for the disk or generates keys, beside the requests of other servers.
async fn blocking<T: Send + 'static>(
    options: &Options,
    open: impl FnOnce(&Options) -> Result<T> + Send + 'static,
) -> Result<T> {
    let options = options.clone();
    tokio::task::spawn_blocking(move || open(&options)).await?
}

/// Sends the last requests to the tracing system, which may wait for the network.
async fn finish(tracer: Arc<dyn Tracer>) {
    if let Err(error) = tokio::task::spawn_blocking(move || tracer.finish()).await {
        tracing::error!(%error, "the export of the last traces panicked");
    }
}

/// Delivers the last events, which may wait for the network.
async fn finish_audit(audit: Arc<AuditContext>) {
    if let Err(error) = tokio::task::spawn_blocking(move || audit.audit.finish()).await {
        tracing::error!(%error, "the delivery of the last audit events panicked");
    }
}

/// The files of a server.
struct Opened {
    folder: Arc<DataFolder>,
    identity: Identity,
    store: OpenedStore,
    state: ComponentState,
    outbound: Outbound,
}

impl Opened {
    /// Binds the address and puts the parts of the server together.
    async fn prepare(&self, program: &Program, options: &Options, descriptors: Descriptors) -> Result<Server> {
        let (identity, storage) = (&self.identity, &self.store.storage);
        let listener = listen(options, identity).await?;
        let announcement = Announcement {
            address: options.client_address(),
            endpoint: options.endpoint_address(),
            port: listener.local_addr()?.port(),
            external_host: options.serving.external_hostname.clone(),
            authentication: identity.authentication()?,
            root_authority: identity.root_authority()?,
        };
        let local = SocketAddr::new(options.local_address(), announcement.port);
        let url = format!("https://{local}");

        let (loopback, outbound) = (Loopback::new(Arc::clone(&options.clock)), &self.outbound);
        let store = (&self.store, &self.state);
        let (chain, assembled) = assemble(program, options, store, (&loopback, outbound), &announcement, identity)?;
        let (tracer, audit) = (assembled.tracer.clone(), assembled.audit.clone());
        let served = assembled.served.clone();
        let proxies = RequestHeaderAuthenticator::new(identity.request_headers().clone(), Arc::clone(&options.clock));
        let trusted = trusted_proxies(options, identity, &listener, &proxies, outbound)?;
        let chain = match trusted {
            Some(trusted) => chain.with_start_hook(trusted.hook()),
            None => chain,
        };
        let mut config = config(options, &proxies, assembled);
        config.connections.connections = descriptors.connections(config.connections.connections);
        config.public_address = announcement.external_address();
        config.tracer.clone_from(&tracer);
        config.audit.clone_from(&audit);
        config.metrics.show_storage(storage.clone());
        let prepared = config.complete()?.prepare(chain)?;
        loopback.connect(&prepared.front());

        let kubeconfig = identity.write_admin_kubeconfig(options, &url)?;
        Ok(Server {
            prepared,
            renewal: listener.tls().and_then(|tls| identity.renewal(Arc::clone(tls))),
            listener,
            storage: storage.clone(),
            tracer,
            audit,
            record: record(program, options, self, &url),
            data_dir: options.data_dir.clone(),
            served,
            // The next command may be typed in another folder.
            kubeconfig: std::path::absolute(&kubeconfig).unwrap_or(kubeconfig),
            _folder: Arc::clone(&self.folder),
        })
    }
}

/// Logs the features of the flags that a later release does not have any more.
fn warn_about_outdated_features(options: &Options) {
    for (name, on) in options.features().outdated() {
        tracing::warn!(
            name,
            on,
            "--feature-gates names a feature that a later release does not know any more"
        );
    }
}

/// Returns the settings of the server by the flags.
fn config(options: &Options, proxies: &RequestHeaderAuthenticator, assembled: Assembled) -> Config {
    let authenticator = authenticator(proxies, &assembled.tokens, assembled.anonymous, &options.clock);
    let mut config = Config::new(authenticator, assembled.authorizer);
    config.in_flight = InFlightLimits {
        reading: options.max_requests_inflight,
        writing: options.max_mutating_requests_inflight,
    };
    if options.http2_max_streams_per_connection > 0 {
        config.connections.streams = options.http2_max_streams_per_connection;
    }
    config.flow_control = assembled.flow_control;
    config.request_timeout = options.request_timeout;
    config.cors_allowed_origins.clone_from(&options.cors_allowed_origins);
    config
        .strict_transport
        .clone_from(&options.strict_transport_security_directives);
    config.goaway_chance = options.serving.goaway_chance;
    config.shutdown_delay = options.shutdown.shutdown_delay_duration;
    config.shutdown_retry_after = options.shutdown.shutdown_send_retry_after;
    config.watch_grace = options.shutdown.shutdown_watch_termination_grace_period;
    config.refuse_until_ready = options.shutdown.send_retry_after_while_not_ready_once;
    config.debug_socket.clone_from(&options.serving.debug_socket_path);
    config.livez_grace = options.serving.livez_grace_period;
    if let VersionFlag::Reported(version) = &options.version {
        config.version.git_version.clone_from(version);
    }
    config.openapi = assembled.openapi;
    config.metrics = assembled.metrics;
    config.features = assembled.features;
    config.added_filters = assembled.filters;
    config.heartbeats = assembled.heartbeats;
    config.priorities = assembled.priorities;
    config.directory = assembled.directory;
    config.flags.clone_from(&options.listed);
    config.clock = Arc::clone(&options.clock);
    config
}

/// Returns the record of the running server that the command `status` reads.
fn record(program: &Program, options: &Options, opened: &Opened, url: &str) -> Running {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let store = &opened.store.place;
    let identity = &opened.identity;
    let admin = identity.admin();
    Running {
        name: program.name.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: rustix::process::getpid().as_raw_nonzero().get(),
        since: Time::from(options.clock.now()).to_string(),
        url: url.to_owned(),
        store: store.description.clone(),
        store_folder: store.folder.as_deref().map(absolute),
        authority: absolute(identity.root_authority_file()),
        client_certificate: absolute(&admin.certificate),
        client_key: absolute(&admin.key),
    }
}

async fn listen(options: &Options, identity: &Identity) -> Result<Listener> {
    let address = SocketAddr::new(options.bind_address, options.secure_port);
    let tls = Tls::open(identity.tls_files())?;
    let listener = match options.serving.permit_port_sharing {
        true => Listener::bind_shared(address, Some(tls)),
        false => Listener::bind(address, Some(tls)).await,
    };
    listener.with_context(|| format!("cannot listen on {address}; choose another --secure-port, or 0 for any free one"))
}

/// Returns the follower of the proxies that the server in front trusts; `None` without such a server.
fn trusted_proxies(
    options: &Options,
    identity: &Identity,
    listener: &Listener,
    authenticator: &RequestHeaderAuthenticator,
    outbound: &Outbound,
) -> Result<Option<TrustedProxies>> {
    let flags = &options.aggregation;
    let kubeconfig = flags.authentication_kubeconfig.as_ref();
    let (Some(kubeconfig), Some(tls), false) = (kubeconfig, listener.tls(), flags.authentication_skip_lookup) else {
        return Ok(None);
    };
    Ok(Some(TrustedProxies {
        host: Host::open(kubeconfig, outbound)?,
        tls: Arc::clone(tls),
        authenticator: authenticator.clone(),
        own: identity.request_headers().clone(),
        lookup: Lookup {
            clients: options.client_ca_file.is_none(),
            proxies: flags.requestheader_client_ca_file.is_none(),
        },
        tolerant: flags.authentication_tolerate_lookup_failure,
    }))
}
