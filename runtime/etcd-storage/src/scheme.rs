//! etcd as a store that commands copy from and to: `etcd:URLS`.

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use planesmith_control_plane::store_scheme::{OpenStore, StoreScheme};
use planesmith_machinery::scheme::StorageMediaType;
use planesmith_store_etcd::{Config, Etcd};
use tokio::runtime::Handle;

use crate::connection::config;
use crate::options::{ConnectionOptions, check_server};
use crate::whole_store::WholeStore;

/// The scheme `etcd`.
pub(crate) const SCHEME: &dyn StoreScheme = &EtcdScheme;

#[derive(Clone, Copy, Debug)]
struct EtcdScheme;

impl StoreScheme for EtcdScheme {
    fn name(&self) -> &'static str {
        "etcd"
    }

    fn flags(&self, command: Command) -> Command {
        ConnectionOptions::augment_args(command)
    }

    fn media_type(&self, matches: &ArgMatches) -> Result<StorageMediaType> {
        ConnectionOptions::from_arg_matches(matches)?
            .media_type()
            .map_err(anyhow::Error::msg)
    }

    fn open(&self, place: &str, matches: &ArgMatches, runtime: &Handle) -> Result<Box<dyn OpenStore>> {
        let flags = ConnectionOptions::from_arg_matches(matches)?;
        flags.check().map_err(anyhow::Error::msg)?;
        let servers: Vec<String> = place.split(',').map(str::to_owned).collect();
        for server in &servers {
            check_server(server)
                .map_err(|_| anyhow!("etcd:{place} has {server:?}; expected URLs such as https://192.0.2.1:2379"))?;
        }
        let shown = format!("etcd at {place}, {}", flags.prefix());
        let config = Config {
            // Copies compact by themselves.
            compaction_interval: Duration::ZERO,
            ..config(&servers, &flags)?
        };
        let etcd = runtime
            .block_on(Etcd::connect(&config))
            .with_context(|| shown.clone())?;
        Ok(Box::new(WholeStore::new(etcd, shown, runtime)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_flags_that_have_an_effect() {
        let mut command = SCHEME.flags(Command::new("copy"));
        let help = command.render_long_help().to_string();
        assert!(
            help.contains("--etcd-cafile") && help.contains("--storage-media-type"),
            "{help}"
        );
        assert!(
            !help.contains("--etcd-servers") && !help.contains("--etcd-compaction-interval"),
            "{help}"
        );
    }
}
