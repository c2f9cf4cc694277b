//! The contribution of this crate to a server.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use futures_util::future::BoxFuture;
use planesmith_control_plane::options::Options;
use planesmith_control_plane::{Component, SharedStore};
use planesmith_server::proxy::{ClientIdentity, Trust, client_tls_to};
use planesmith_store::{Storage, StorageOptions};
use planesmith_store_etcd::{Config, Etcd};

use crate::options::{EtcdOptions, wants_etcd};

/// The component of a program that can keep its objects in etcd.
pub const COMPONENT: &dyn Component = &EtcdStorage;

/// The beginning of the keys of all objects.
const REGISTRY: &str = "/registry/";

#[derive(Clone, Copy, Debug)]
struct EtcdStorage;

impl Component for EtcdStorage {
    fn flags(&self, command: Command) -> Command {
        EtcdOptions::augment_args(command)
    }

    fn check_flags(&self, matches: &ArgMatches) -> Result<(), String> {
        let options = EtcdOptions::from_arg_matches(matches).map_err(|error| error.to_string())?;
        options.check(matches)
    }

    fn shared_store<'a>(
        &'a self,
        options: &'a Options,
        settings: &'a StorageOptions,
    ) -> BoxFuture<'a, Result<Option<SharedStore>>> {
        Box::pin(async {
            if !wants_etcd(&options.matches) {
                return Ok(None);
            }
            let flags = EtcdOptions::from_arg_matches(&options.matches)?;
            open(&flags, settings).await.map(Some)
        })
    }
}

/// Connects to etcd, and reads all objects.
async fn open(flags: &EtcdOptions, settings: &StorageOptions) -> Result<SharedStore> {
    let place = format!("etcd at {}", flags.etcd_servers.join(", "));
    let etcd = Etcd::connect(&config(flags)?).await;
    let etcd = Arc::new(etcd.with_context(|| place.clone())?);
    let storage = Storage::connect(Arc::clone(&etcd) as _, REGISTRY, settings).await;
    let storage = storage.with_context(|| place.clone())?;
    tracing::info!(servers = ?flags.etcd_servers, prefix = flags.prefix(), revision = %storage.revision(), "objects are in etcd");
    Ok(SharedStore {
        storage,
        backend: etcd,
        place,
        media_type: flags.media_type().map_err(anyhow::Error::msg)?,
        health_timeout: flags.etcd_healthcheck_timeout,
        ready_timeout: flags.etcd_readycheck_timeout,
    })
}

fn config(flags: &EtcdOptions) -> Result<Config> {
    let identity = flags.etcd_certfile.clone().zip(flags.etcd_keyfile.clone());
    let identity = identity.map(|(certificate, key)| ClientIdentity {
        certificate: certificate.into(),
        key: key.into(),
    });
    // As in kube-apiserver, the authorities of the system count if there is no file.
    let trust = flags.etcd_cafile.as_deref().map_or(Trust::System, Trust::File);
    let tls = client_tls_to(trust, identity.as_ref())
        .context("the files of --etcd-cafile, --etcd-certfile and --etcd-keyfile")?;
    Ok(Config {
        endpoints: flags.etcd_servers.clone(),
        prefix: flags.prefix(),
        tls: Some(tls),
        compaction_interval: flags.etcd_compaction_interval,
        lease_reuse: Duration::from_secs(flags.lease_reuse_duration_seconds.into()),
        connect_timeout: flags.storage_initialization_timeout,
        ..Config::default()
    })
}
