//! The contribution of this crate to a server.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use futures_util::future::BoxFuture;
use planesmith_control_plane::options::{Options, StorageKind};
use planesmith_control_plane::outbound::{Network, Outbound};
use planesmith_control_plane::{Component, SharedStore, StoreScheme};
use planesmith_store::{Storage, StorageOptions};
use planesmith_store_etcd::{Config, Etcd};

use crate::connection::{REGISTRY, config};
use crate::egress_dial::EgressDial;
use crate::options::{ETCD, EtcdOptions, wants_etcd};
use crate::scheme::SCHEME;

/// The component of a program that can keep its objects in etcd.
pub const COMPONENT: &dyn Component = &EtcdStorageComponent;

#[derive(Clone, Copy, Debug)]
struct EtcdStorageComponent;

impl Component for EtcdStorageComponent {
    fn flags(&self, command: Command) -> Command {
        EtcdOptions::augment_args(command)
    }

    fn check_flags(&self, matches: &ArgMatches) -> Result<(), String> {
        let options = EtcdOptions::from_arg_matches(matches).map_err(|error| error.to_string())?;
        options.check(matches)
    }

    fn storage_kinds(&self) -> &'static [StorageKind] {
        &[ETCD]
    }

    fn store_scheme(&self) -> Option<&'static dyn StoreScheme> {
        Some(SCHEME)
    }

    fn shared_store<'a>(
        &'a self,
        options: &'a Options,
        settings: &'a StorageOptions,
        outbound: &'a Outbound,
    ) -> BoxFuture<'a, Result<Option<SharedStore>>> {
        Box::pin(async {
            if !wants_etcd(&options.matches) {
                return Ok(None);
            }
            let flags = EtcdOptions::from_arg_matches(&options.matches)?;
            open(&flags, settings, outbound).await.map(Some)
        })
    }
}

/// Connects to etcd, and reads all objects.
async fn open(flags: &EtcdOptions, settings: &StorageOptions, outbound: &Outbound) -> Result<SharedStore> {
    let place = format!("etcd at {}", flags.etcd_servers.join(", "));
    let config = Config {
        compaction_interval: flags.etcd_compaction_interval,
        lease_reuse: Duration::from_secs(flags.lease_reuse_duration_seconds.into()),
        dial: outbound.selected(Network::Etcd).map(EgressDial::of),
        ..config(&flags.etcd_servers, &flags.connection)?
    };
    let etcd = Etcd::connect(&config).await;
    let etcd = Arc::new(etcd.with_context(|| place.clone())?);
    ensure!(
        !etcd.has_transfer_mark().await.with_context(|| place.clone())?,
        "{place}: a copy or a restore of a store is being written, or was interrupted; repeat it"
    );
    let storage = Storage::connect(Arc::clone(&etcd) as _, REGISTRY, settings).await;
    let storage = storage.with_context(|| place.clone())?;
    tracing::info!(servers = ?flags.etcd_servers, prefix = flags.connection.prefix(), revision = %storage.revision(), "objects are in etcd");
    Ok(SharedStore {
        storage,
        backend: etcd,
        place,
        media_type: flags.connection.media_type().map_err(anyhow::Error::msg)?,
        health_timeout: flags.etcd_healthcheck_timeout,
        ready_timeout: flags.etcd_readycheck_timeout,
    })
}
