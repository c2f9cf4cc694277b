//! The store of a server, and its health checks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use planesmith_server::health::HealthCheck;
use planesmith_store::log::LogError;
use planesmith_store::{Alarm, MemoryLog, OnProgress, OpenError, Storage, StorageOptions, WriteError};
use planesmith_store_sled::SledLog;

use crate::component::TransformersContext;
use crate::component_state::ComponentState;
use crate::embedded_store::EmbeddedStore;
use crate::options::{Options, StorageKind};
use crate::program::Program;
use crate::shared_store::SharedStore;

/// The folder of the store in the data folder.
pub(crate) const STORE: &str = "store";

/// The folder of a store that is being restored, beside it.
pub(crate) const INCOMING: &str = "store.incoming";

/// Returns the folder of the store.
pub(crate) fn store_dir(options: &Options) -> PathBuf {
    options.data_dir.join(STORE)
}

/// Refuses to begin an empty store in place of one that was to be restored.
fn check_restored(data_dir: &Path) -> Result<()> {
    let incoming = data_dir.join(INCOMING);
    if incoming.exists() && !data_dir.join(STORE).exists() {
        anyhow::bail!(
            "a restore was interrupted: there is no store in {}; repeat it, or remove {} to start empty",
            data_dir.display(),
            incoming.display()
        );
    }
    Ok(())
}

/// Returns the settings of the store of `program` by the flags.
///
/// # Errors
///
/// A flag of a component whose value cannot be used.
pub(crate) fn settings(program: &Program, options: &Options, state: &ComponentState) -> Result<StorageOptions> {
    let scheme = program.scheme();
    let context = TransformersContext {
        options,
        gates: &program.features(options),
        scheme: &scheme,
        state,
    };
    let mut transformers = None;
    for component in program.components {
        transformers = component.transformers(&context)?.or(transformers);
    }
    Ok(StorageOptions {
        transformers,
        clock: Arc::clone(&options.clock),
        window: options.history.store_history_age,
        journal_bytes: options.history.store_history_bytes,
        kinds: options.history.limits(&scheme),
        on_progress: OnProgress::new(|progress| tracing::info!(%progress, "the store is being read")),
        ..StorageOptions::default()
    })
}

/// The open store of a server.
#[derive(Debug)]
pub(crate) struct OpenedStore {
    pub(crate) storage: Storage,
    pub(crate) place: StorePlace,
    /// The same store, if others write to it, too.
    pub(crate) shared: Option<SharedStore>,
}

/// The place of a store, as people read it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StorePlace {
    /// The place, and its kind if the place does not tell.
    pub(crate) description: String,
    /// The folder with the store's files; `None` if it has none on this host.
    pub(crate) folder: Option<PathBuf>,
}

impl From<SharedStore> for OpenedStore {
    fn from(shared: SharedStore) -> Self {
        Self {
            storage: shared.storage.clone(),
            place: StorePlace {
                description: shared.place.clone(),
                folder: None,
            },
            shared: Some(shared),
        }
    }
}

/// Opens the store that `--storage` names and no other server uses.
///
/// # Errors
///
/// The folder cannot be read, its content is damaged and the loss is not accepted, or no component opens the store.
pub(crate) fn open_storage(program: &Program, options: &Options, settings: &StorageOptions) -> Result<OpenedStore> {
    let EmbeddedStore { log, place, folder } = embedded_store(program, options)?;
    let at = folder
        .as_ref()
        .map_or_else(|| place.clone(), |folder| folder.display().to_string());
    let storage = Storage::open_shared(log, settings).map_err(|error| match error {
        OpenError::Log(loss @ LogError::DataLoss(_)) if options.storage == StorageKind::SLED => anyhow::anyhow!(
            "{loss}, list the damage with `store check`, or start once with --store-accept-data-loss to drop these writes"
        ),
        error => error.into(),
    });
    Ok(OpenedStore {
        storage: storage.with_context(|| format!("the store in {at}"))?,
        place: StorePlace {
            description: place,
            folder,
        },
        shared: None,
    })
}

fn embedded_store(program: &Program, options: &Options) -> Result<EmbeddedStore> {
    match options.storage {
        StorageKind::MEMORY => Ok(EmbeddedStore {
            log: Arc::new(MemoryLog::new()),
            place: "in memory, lost at exit".to_owned(),
            folder: None,
        }),
        StorageKind::SLED => {
            check_restored(&options.data_dir)?;
            let folder = store_dir(options);
            let log = SledLog::open(&folder).with_context(|| format!("the store in {}", folder.display()))?;
            let log = log.with_clock(Arc::clone(&options.clock));
            Ok(EmbeddedStore {
                log: Arc::new(log.accepting_loss(options.store_accept_data_loss)),
                place: format!("{} (sled)", folder.display()),
                folder: Some(folder),
            })
        }
        kind => {
            for component in program.components {
                if let Some(store) = component.embedded_store(options)? {
                    return Ok(store);
                }
            }
            bail!("--storage is {kind}, which no component of {} opens", program.name)
        }
    }
}

/// Returns the checks of the store: `shared` if others write to it, too.
pub(crate) fn checks(storage: &Storage, shared: Option<&SharedStore>) -> [HealthCheck; 3] {
    let [health, readiness] = match shared {
        Some(shared) => shared.checks(),
        None => [
            storage_check("etcd", storage),
            storage_check("etcd-readiness", storage).only_ready(),
        ],
    };
    [health, readiness, alarms_check(storage)]
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
    check.only_ready().with_public_reason()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use clap::Parser as _;
    use planesmith_store::{Draft, Expect, ListQuery, NoIndex, Op, Row};

    use super::*;
    use crate::component::Component;

    /// A component with a store in a shelf.
    #[derive(Debug)]
    struct Shelf;

    const SHELF: StorageKind = StorageKind::new("shelf", "In a shelf");

    impl Component for Shelf {
        fn storage_kinds(&self) -> &'static [StorageKind] {
            &[SHELF]
        }

        fn embedded_store(&self, options: &Options) -> Result<Option<EmbeddedStore>> {
            Ok((options.storage == SHELF).then(|| EmbeddedStore {
                log: Arc::new(MemoryLog::new()),
                place: "the upper shelf".to_owned(),
                folder: None,
            }))
        }
    }

    fn open(options: &Options) -> Result<Storage> {
        let opened = open_storage(&Program::of_test(&[]), options, &StorageOptions::default());
        opened.map(|opened| opened.storage)
    }

    #[test]
    fn only_the_store_in_a_folder_has_files() {
        let dir = tempfile::tempdir().unwrap();
        let place = |flags: &[&str]| {
            let data = format!("--data-dir={}", dir.path().display());
            let line = [&["planesmith", &data][..], flags].concat();
            let options = Options::try_parse_from(line).unwrap();
            let opened = open_storage(&Program::of_test(&[]), &options, &StorageOptions::default());
            opened.unwrap().place
        };
        let folder = dir.path().join("store");
        let sled = place(&[]);
        assert_eq!(sled.description, format!("{} (sled)", folder.display()));
        assert_eq!(sled.folder, Some(folder));
        let memory = place(&["--storage=memory"]);
        assert_eq!(memory.description, "in memory, lost at exit");
        assert_eq!(memory.folder, None);
    }

    #[test]
    fn a_component_opens_a_store_of_its_own_kind() {
        let mut options = Options::try_parse_from(["test"]).unwrap();
        options.storage = SHELF;
        let settings = StorageOptions::default();
        let opened = open_storage(&Program::of_test(&[&Shelf]), &options, &settings).unwrap();
        assert_eq!(opened.place.description, "the upper shelf");
        assert!(opened.storage.health().is_ok());
        let refused = open_storage(&Program::of_test(&[]), &options, &settings)
            .unwrap_err()
            .to_string();
        assert_eq!(refused, "--storage is shelf, which no component of test opens");
    }

    #[test]
    fn a_server_does_not_begin_an_empty_store_after_an_interrupted_restore() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(INCOMING)).unwrap();
        let data = dir.path().to_str().unwrap();
        let options = Options::try_parse_from(["planesmith", "--data-dir", data]).unwrap();
        let refused = open(&options).unwrap_err().to_string();
        assert!(refused.starts_with("a restore was interrupted"), "{refused}");
        std::fs::create_dir(dir.path().join(STORE)).unwrap();
        open(&options).unwrap();
    }

    #[tokio::test]
    async fn a_damaged_store_is_opened_only_when_the_loss_is_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().to_str().unwrap();
        let options = |flags: &[&str]| {
            let line = [&["planesmith", "--data-dir", data][..], flags].concat();
            Options::try_parse_from(line).unwrap()
        };
        let storage = open(&options(&[])).unwrap();
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
        let refused = format!("{:#}", open(&options(&[])).unwrap_err());
        let expected = "readable are 2 of /things/two; restore the store's folder from a backup, list the damage with \
            `store check`, or start once with --store-accept-data-loss to drop these writes";
        assert!(refused.ends_with(expected), "{refused}");
        let storage = open(&options(&["--store-accept-data-loss"])).unwrap();
        let things = storage.collection("/things/", Arc::new(NoIndex));
        assert_eq!(things.list(&ListQuery::all("/things/")).unwrap().entries.len(), 1);
    }
}
