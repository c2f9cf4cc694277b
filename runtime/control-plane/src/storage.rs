//! The store of a server, and its health checks.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use planesmith_server::health::HealthCheck;
use planesmith_store::log::LogError;
use planesmith_store::{Alarm, MemoryLog, OnProgress, OpenError, Storage, StorageOptions, WriteError};
use planesmith_store_sled::SledLog;

use crate::options::{Options, StorageKind};

/// Returns the folder of the store.
pub(crate) fn store_dir(options: &Options) -> PathBuf {
    options.data_dir.join("store")
}

/// Opens the store that the flags name.
///
/// # Errors
///
/// The folder cannot be read, or its content is damaged and the loss is not accepted.
pub(crate) fn open_storage(options: &Options) -> Result<Storage> {
    let settings = StorageOptions {
        on_progress: OnProgress::new(|progress| tracing::info!(%progress, "the store is being read")),
        ..StorageOptions::default()
    };
    let storage = match options.storage {
        StorageKind::Memory => Storage::open(MemoryLog::new(), &settings)?,
        StorageKind::Sled => {
            let dir = store_dir(options);
            let context = || format!("the store in {}", dir.display());
            let log = SledLog::open(&dir).with_context(context)?;
            let log = log.accepting_loss(options.store_accept_data_loss);
            match Storage::open(log, &settings) {
                Err(OpenError::Log(loss @ LogError::DataLoss(_))) => {
                    let advice = "or start once with --store-accept-data-loss to drop these writes";
                    return Err(anyhow::anyhow!("{loss}, {advice}")).with_context(context);
                }
                opened => opened.with_context(context)?,
            }
        }
    };
    Ok(storage)
}

/// Returns the check of the store under a name that kube-apiserver's monitoring knows. It passes on a full or failed
/// disk: a restart would not help, reading goes on, and an alarm reports it.
pub(crate) fn storage_check(name: &'static str, storage: &Storage) -> HealthCheck {
    let storage = storage.clone();
    HealthCheck::new(name, move || match storage.health() {
        Ok(()) | Err(WriteError::Full | WriteError::ReadOnly(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    })
}

/// Returns the check that fails while the store has a fault that does not pass by itself. Reading goes on, and a restart
/// would not help, so the check counts at `/readyz` only, and reports the reason.
pub(crate) fn alarms_check(storage: &Storage) -> HealthCheck {
    let storage = storage.clone();
    let check = HealthCheck::new("storage-alarms", move || {
        let alarms: Vec<String> = storage.alarms().iter().map(Alarm::to_string).collect();
        if alarms.is_empty() {
            Ok(())
        } else {
            Err(alarms.join("; "))
        }
    });
    check.only_ready().with_public_reason()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use clap::Parser as _;
    use planesmith_store::{Draft, Expect, ListQuery, NoIndex, Op, Row};

    use std::sync::Arc;

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
        let expected = "readable are 2 of /things/two; restore the store's folder from a backup, or start once with \
            --store-accept-data-loss to drop these writes";
        assert!(refused.ends_with(expected), "{refused}");
        let storage = open_storage(&options(&["--store-accept-data-loss"])).unwrap();
        let things = storage.collection("/things/", Arc::new(NoIndex));
        assert_eq!(things.list(&ListQuery::all("/things/")).unwrap().entries.len(), 1);
    }
}
