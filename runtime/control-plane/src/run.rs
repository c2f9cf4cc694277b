//! The life of a server, from its flags to its end.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, Result};
use planesmith_access::admission::{Chain, Lister};
use planesmith_access::authentication::{BearerTokens, RequestHeaderAuthenticator};
use planesmith_access::authorization::Authorizer;
use planesmith_api_defs::core::v1::keep_events_for;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::time::Time;
use planesmith_server::chain::ApiServer;
use planesmith_server::discovery::GroupDirectory;
use planesmith_server::filters::Flows;
use planesmith_server::health::HealthCheck;
use planesmith_server::in_flight::InFlightLimits;
use planesmith_server::lifecycle::{Config, Signals};
use planesmith_server::listener::{Listener, Tls};
use planesmith_server::metrics::SharedMetrics;
use planesmith_server::openapi::OpenApi;
use planesmith_server::routes::Routes;
use planesmith_server::stores::{ObjectLister, Stores, StoresOptions};
use planesmith_server::trace::Tracer;
use planesmith_server::version::Version;
use planesmith_store::log::LogError;
use planesmith_store::{Alarm, MemoryLog, OpenError, Storage, StorageOptions, WriteError};
use planesmith_store_sled::SledLog;

use crate::admission::{self, PluginInitializer};
use crate::api_services::{self, Aggregation};
use crate::authentication::{authenticator, authorizer, bearer_tokens};
use crate::base_groups;
use crate::bootstrap::Announcement;
use crate::commands::{self, ParsedCommand, fail};
use crate::component::{Contribution, ServerContext};
use crate::data_folder::DataFolder;
use crate::delegation::{Host, Lookup, TrustedProxies};
use crate::descriptors::Descriptors;
use crate::enablement::Enablement;
use crate::feature_gates::FeatureGates;
use crate::identity::Identity;
use crate::live_kinds::LiveKinds;
use crate::loopback::Loopback;
use crate::options::{Options, StorageKind, VersionFlag};
use crate::program::{GroupVersion, Program};
use crate::running::Running;
use crate::service_accounts::ServiceAccountKeys;
use crate::service_resolver::NoServices;
use crate::trace_export::TraceExport;
use crate::{bootstrap, controllers, custom_resources, namespaces, service_accounts, subresources};

/// Executes the command line of this process: runs the server of `program` until it is stopped, unless the command
/// line has another command.
#[must_use]
pub fn run(program: &Program) -> ExitCode {
    let options = match commands::read(program) {
        ParsedCommand::Serve(options) => options,
        ParsedCommand::Done(code) => return code,
    };
    crate::logging::start_logging(options.logging_format, options.verbosity);
    log_version(program);
    switch_features(&options);
    let descriptors = Descriptors::of_process();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    match runtime.block_on(serve(program, &options, descriptors)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// Logs the versions of the program and of its environment, as the first line of the log.
fn log_version(program: &Program) {
    let version = Version::default();
    tracing::info!(
        program = program.name,
        version = env!("CARGO_PKG_VERSION"),
        kubernetes = version.git_version,
        runtime = version.go_version,
        platform = version.platform,
        cores = std::thread::available_parallelism().map_or(1, usize::from),
        pid = std::process::id(),
        "starting"
    );
}

/// Switches the features of this process by the flags.
fn switch_features(options: &Options) {
    let gates = &options.features();
    for (name, on) in gates.outdated() {
        tracing::warn!(
            name,
            on,
            "--feature-gates names a feature that a later release does not know any more"
        );
    }
    for feature in planesmith_server::features::ALL
        .iter()
        .chain(&planesmith_api_defs::features::ALL)
    {
        feature.switch(gates.enabled(feature.name()));
    }
}

async fn serve(program: &Program, options: &Options, descriptors: Descriptors) -> Result<()> {
    // From here on SIGTERM is an orderly stop, also while starting.
    let signals = Signals::of_process().context("signals cannot be received")?;
    keep_events_for(options.event_ttl);
    let _folder = DataFolder::open(&options.data_dir, program.name).await?;
    let mut addresses = Vec::new();
    for component in program.components {
        addresses.extend(component.serving_addresses(options)?);
    }
    let identity = Identity::open(options, &addresses)?;
    let storage = open_storage(options)?;
    let listener = listen(options, &identity).await?;
    let announcement = Announcement {
        address: options.client_address(),
        endpoint: options.endpoint_address(),
        port: listener.local_addr()?.port(),
        authentication: identity.authentication()?,
        root_authority: identity.root_authority()?,
    };
    let local = SocketAddr::new(options.local_address(), announcement.port);
    let url = format!("https://{local}");

    let loopback = Loopback::new();
    let assembled = assemble(program, options, &storage, &loopback, &announcement, &identity)?;
    let Assembled { chain, served, .. } = assembled;
    let proxies = RequestHeaderAuthenticator::new(identity.request_headers().clone(), SystemTime::now);
    let chain = match trusted_proxies(options, &identity, &listener, &proxies)? {
        Some(trusted) => chain.with_start_hook(trusted.hook()),
        None => chain,
    };
    let authenticator = authenticator(options, &proxies, &assembled.tokens);
    let mut config = Config::new(authenticator, assembled.authorizer);
    config.in_flight = InFlightLimits {
        reading: options.max_requests_inflight,
        writing: options.max_mutating_requests_inflight,
    };
    if options.http2_max_streams_per_connection > 0 {
        config.connections.streams = options.http2_max_streams_per_connection;
    }
    config.flows = assembled.flows;
    config.connections.connections = descriptors.connections(config.connections.connections);
    config.request_timeout = options.request_timeout;
    config.shutdown_delay = options.shutdown_delay_duration;
    if let VersionFlag::Reported(version) = &options.version {
        config.version.git_version.clone_from(version);
    }
    config.public_address = announcement.public_address();
    config.openapi = assembled.openapi;
    config.metrics = assembled.metrics;
    let traces = options
        .tracing_config_file
        .as_deref()
        .map(TraceExport::open)
        .transpose()?;
    config.tracer = traces.clone().map(|traces| traces as Arc<dyn Tracer>);
    config.metrics.show_storage(storage.clone());
    config.priorities = api_services::priorities();
    config.directory = assembled.directory;
    config.flags.clone_from(&options.listed);
    for (name, stage, on) in options.features().all() {
        config.metrics.show_feature(name, stage, on);
    }
    let server = config.complete()?.prepare(chain)?;
    loopback.connect(server.front());

    let kubeconfig = identity.write_admin_kubeconfig(options, &url)?;
    // The next command may be typed in another folder.
    let kubeconfig = std::path::absolute(&kubeconfig).unwrap_or(kubeconfig);
    announce(program, options, &served, &url, &kubeconfig.display().to_string());
    let running = running(program, options, &identity, &url);
    running
        .write(&options.data_dir)
        .with_context(|| format!("--data-dir {} cannot be written", options.data_dir.display()))?;
    let renewal = listener.tls().and_then(|tls| identity.renewal(Arc::clone(tls)));
    let renewal = renewal.map(|renewal| tokio::spawn(renewal.run()));
    let result = server.run(listener, signals).await;
    if let Some(renewal) = renewal {
        renewal.abort();
    }
    if let Some(traces) = traces {
        traces.close().await;
    }
    storage.close().await;
    Running::remove(&options.data_dir);
    result.context("the server stopped out of order")
}

/// Returns the record of the running server that the command `status` reads.
fn running(program: &Program, options: &Options, identity: &Identity, url: &str) -> Running {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let store = match options.storage {
        StorageKind::Sled => store_dir(options).display().to_string(),
        StorageKind::Memory => String::new(),
    };
    let admin = identity.admin();
    Running {
        name: program.name.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: rustix::process::getpid().as_raw_nonzero().get(),
        since: Time::now().to_string(),
        url: url.to_owned(),
        store,
        authority: absolute(identity.root_authority_file()),
        client_certificate: absolute(&admin.certificate),
        client_key: absolute(&admin.key),
    }
}

fn store_dir(options: &Options) -> PathBuf {
    options.data_dir.join("store")
}

fn open_storage(options: &Options) -> Result<Storage> {
    let settings = StorageOptions::default();
    let storage = match options.storage {
        StorageKind::Memory => Storage::open(MemoryLog::new(), &settings)?,
        StorageKind::Sled => {
            let dir = store_dir(options);
            let context = || format!("the store in {}", dir.display());
            let log = SledLog::open(&dir).with_context(context)?;
            let log = log.accepting_loss(options.store_accept_data_loss);
            match Storage::open(log, &settings) {
                Err(OpenError::Log(loss @ LogError::DataLoss(_))) => {
                    let advice = "or start once with --store-accept-data-loss to give these writes up";
                    return Err(anyhow::anyhow!("{loss}, {advice}")).with_context(context);
                }
                opened => opened.with_context(context)?,
            }
        }
    };
    Ok(storage)
}

async fn listen(options: &Options, identity: &Identity) -> Result<Listener> {
    let address = SocketAddr::new(options.bind_address, options.secure_port);
    let tls = Tls::open(identity.tls_files())?;
    Listener::bind(address, Some(tls))
        .await
        .with_context(|| format!("cannot listen on {address}; choose another --secure-port, or 0 for any free one"))
}

/// Returns the follower of the proxies that the server in front trusts; `None` without such a server.
fn trusted_proxies(
    options: &Options,
    identity: &Identity,
    listener: &Listener,
    authenticator: &RequestHeaderAuthenticator,
) -> Result<Option<TrustedProxies>> {
    let flags = &options.aggregation;
    let kubeconfig = flags.authentication_kubeconfig.as_ref();
    let (Some(kubeconfig), Some(tls), false) = (kubeconfig, listener.tls(), flags.authentication_skip_lookup) else {
        return Ok(None);
    };
    Ok(Some(TrustedProxies {
        host: Host::open(kubeconfig)?,
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

/// The parts that are put together before the server starts.
struct Assembled {
    /// The chain of servers.
    chain: ApiServer,
    /// The served group versions.
    served: Vec<GroupVersion>,
    /// The schemas that it publishes.
    openapi: OpenApi,
    /// The registered groups.
    directory: GroupDirectory,
    /// The flows of requests; `None` without the kinds for that.
    flows: Option<Arc<dyn Flows>>,
    tokens: Arc<BearerTokens>,
    authorizer: Arc<dyn Authorizer>,
    metrics: SharedMetrics,
}

fn store_options(authorizer: &Arc<dyn Authorizer>) -> StoresOptions {
    StoresOptions {
        authorizer: Some(Arc::clone(authorizer)),
        ..StoresOptions::default()
    }
}

fn assemble(
    program: &Program,
    options: &Options,
    storage: &Storage,
    loopback: &Loopback,
    announcement: &Announcement,
    identity: &Identity,
) -> Result<Assembled> {
    let mut scheme = Scheme::new();
    for group_version in base_groups::with_groups_of(program) {
        (group_version.register)(&mut scheme);
    }
    if let Err(problems) = scheme.check() {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        anyhow::bail!("the kinds of this program do not go together: {}", problems.join("; "));
    }
    let scheme = Arc::new(scheme);
    let authorizer = authorizer(options)?;
    let kinds = LiveKinds::default();
    let objects: Arc<dyn Lister> = Arc::new(ObjectLister::new(storage, &scheme));
    let initializer = PluginInitializer {
        storage,
        kinds: &kinds,
        scheme: &scheme,
        objects: Arc::clone(&objects),
        authorizer: Arc::clone(&authorizer),
        loopback,
        options,
        configuration: None,
    };
    let admission = admission_chain(program, &initializer)?;
    let stores = Stores::with_options(storage.clone(), scheme, admission, store_options(&authorizer));
    let keys = ServiceAccountKeys::open(options)?;
    let tokens = bearer_tokens(options, loopback, &keys, &stores)?;
    namespaces::handle_subresources(&stores);
    service_accounts::handle_subresources(&stores, &keys, &options.service_accounts);
    let gates = options.features();
    let context = ServerContext {
        stores: &stores,
        objects: &objects,
        loopback,
        options,
        gates: &gates,
        announcement,
        authority: identity.authority(),
        tokens: &tokens,
        authorizer: &authorizer,
    };
    let mut added = Contribution::default();
    for component in program.components {
        added = added.and(component.install(&context)?);
    }
    let enablement = enablement(program, options, &gates)?;
    let resources = enablement.clone();
    let mut routes = Routes::new().only(move |facts| resources.resource(facts));
    let groups = base_groups::with_groups_of(program);
    for group_version in groups.filter(|group| enablement.version(group)) {
        (group_version.install)(&mut routes, &stores);
    }
    subresources::check(&stores, &routes)?;
    // Versions that only exist for conversions serve nothing.
    let served = base_groups::with_groups_of(program).copied();
    let served: Vec<GroupVersion> = served
        .filter(|group| routes.serves(group.group, group.version))
        .collect();
    let openapi = program.openapi.of(&served);
    let services = added.services.unwrap_or_else(|| Arc::new(NoServices));
    let directory = GroupDirectory::default();
    let extensions = custom_resources::extensions(&stores, loopback, (&openapi, &directory), &services);
    let core = ApiServer::new("core", routes)
        .in_front_of(extensions)
        .with_check(storage_check("etcd", storage))
        .with_check(storage_check("etcd-readiness", storage).only_ready())
        .with_check(alarms_check(storage))
        // The data in memory is read when the store is opened, before anything is served.
        .with_check(HealthCheck::new("informer-sync", || Ok(())).only_ready());
    let keys_url = options.service_accounts.service_account_jwks_uri.as_deref();
    kinds.connect(&core);
    let core = service_accounts::with_openid(core, &keys, &announcement.public_address(), keys_url);
    let core = bootstrap::with_bootstrap(core, (&stores, loopback), announcement, &gates, added.start_hooks);
    let core = added.stop_hooks.into_iter().fold(core, ApiServer::with_stop_hook);
    let own = controllers::of_every_server((&stores, loopback), announcement, &gates, &keys.issuer, &directory);
    let controllers = own.into_iter().chain(added.controllers);
    let core = controllers::with_controllers(core, controllers, &options.embedded_controllers());
    let aggregation = Aggregation {
        stores: &stores,
        loopback,
        served: &served,
        directory: &directory,
        openapi: &openapi,
        services,
        identity: Some(identity.proxy_client()),
        rejects_redirects: options.aggregation.aggregator_reject_forwarding_redirect,
    };
    Ok(Assembled {
        chain: aggregation.in_front_of(core),
        served,
        openapi,
        directory,
        flows: added.flows,
        tokens: Arc::clone(&tokens),
        authorizer: Arc::clone(&authorizer),
        metrics: Arc::clone(&stores.options().metrics),
    })
}

/// Returns the chain of the program's admission plugins, followed by those of its components.
fn admission_chain(program: &Program, initializer: &PluginInitializer<'_>) -> Result<Chain> {
    let mut chain = admission::chain(program.admission, initializer)?;
    for component in program.components {
        for plugin in component.admission_plugins(initializer) {
            chain.push(plugin);
        }
    }
    Ok(chain)
}

/// Returns the group versions and resources of `program` that are on.
fn enablement(program: &Program, options: &Options, gates: &FeatureGates) -> Result<Enablement> {
    let components = program.components.iter();
    let gated = components.flat_map(|component| component.gated_resources());
    let enablement = Enablement::new(base_groups::with_groups_of(program), gated, &options.versions(), gates);
    enablement.map_err(|problem| anyhow::anyhow!(problem))
}

/// Returns the check of the store under a name that kube-apiserver's monitoring knows. It passes on a full or failed
/// disk: a restart would not help, reading goes on, and an alarm reports it.
fn storage_check(name: &'static str, storage: &Storage) -> HealthCheck {
    let storage = storage.clone();
    HealthCheck::new(name, move || match storage.health() {
        Ok(()) | Err(WriteError::Full | WriteError::ReadOnly(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    })
}

/// Returns the check that fails while the store has a fault that does not pass by itself. Reading goes on, and a restart
/// would not help, so the check counts at `/readyz` only, and reports the reason.
fn alarms_check(storage: &Storage) -> HealthCheck {
    let storage = storage.clone();
    let check = HealthCheck::new("storage-alarms", move || {
        let alarms: Vec<String> = storage.alarms().iter().map(Alarm::to_string).collect();
        if alarms.is_empty() {
            Ok(())
        } else {
            Err(alarms.join("; "))
        }
    });
    check.only_ready().with_told_reason()
}

/// Prints the URL of the server, and the command to use next.
#[expect(clippy::print_stdout, reason = "the answer to starting the program")]
fn announce(program: &Program, options: &Options, served: &[GroupVersion], url: &str, kubeconfig: &str) {
    let store = match options.storage {
        StorageKind::Sled => format!("{} (sled)", store_dir(options).display()),
        StorageKind::Memory => "in memory, gone at exit".to_owned(),
    };
    let mut text = format!(
        "{} {} serves {}\n",
        program.name,
        env!("CARGO_PKG_VERSION"),
        served
            .iter()
            .map(GroupVersion::api_version)
            .collect::<Vec<_>>()
            .join(", ")
    );
    for (what, value) in [
        ("at", url),
        ("store", store.as_str()),
        ("next", &format!("kubectl --kubeconfig {kubeconfig} api-resources")),
    ] {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {what:<6} {value}");
    }
    print!("{text}");
    // A parent process may wait for these lines behind a pipe.
    let _ = std::io::Write::flush(&mut std::io::stdout());
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use clap::Parser as _;
    use planesmith_store::{Draft, Expect, ListQuery, NoIndex, Op, Row};

    use super::*;

    #[tokio::test]
    async fn a_damaged_store_is_opened_only_when_the_loss_is_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().to_str().unwrap();
        let options = |flags: &[&str]| {
            let line = [&["planesmith", "--data-dir", data][..], flags].concat();
            Options::try_parse_from(line).unwrap()
        };
        let storage = open_storage(&options(&[])).unwrap();
        let things = storage.collection("/things/", Arc::new(NoIndex));
        for name in ["one", "two"] {
            let put = Op::Put {
                key: format!("/things/{name}").into(),
                draft: Draft::new(b"{\"v\":\"\"}".to_vec(), 6),
                row: Row::default(),
                expect: Expect::Any,
                ttl: None,
            };
            things.write(put).await.unwrap();
        }
        storage.close().await;
        drop((storage, things));

        let journal = dir.path().join("store/journal/0000000001.journal");
        let file = std::fs::OpenOptions::new().write(true).open(&journal).unwrap();
        // In the second frame.
        file.write_all_at(b"?", 250).unwrap();
        let refused = format!("{:#}", open_storage(&options(&[])).unwrap_err());
        let expected = "legible are 2 of /things/two; restore the store's folder from a backup, or start once with \
            --store-accept-data-loss to give these writes up";
        assert!(refused.ends_with(expected), "{refused}");
        let storage = open_storage(&options(&["--store-accept-data-loss"])).unwrap();
        let things = storage.collection("/things/", Arc::new(NoIndex));
        assert_eq!(things.list(&ListQuery::all("/things/")).unwrap().entries.len(), 1);
    }
}
