//! The contribution of this crate to a server.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use planesmith_control_plane::component::{Contribution, ServerContext, TransformersContext};
use planesmith_control_plane::{Component, StoreTransformation};
use planesmith_encryption::Validation;
use planesmith_machinery::scheme::Scheme;
use planesmith_store::Transformers;

use crate::health;
use crate::loading::{Loaded, Source};
use crate::metrics::EncryptionObserver;
use crate::options::{ConfigurationFile, EncryptionOptions};
use crate::reload::{Following, Reload};

/// The component of a program that can encrypt its stored objects.
pub const COMPONENT: &dyn Component = &EncryptedStorage;

/// The name of the flag with the file.
const FILE: &str = "encryption_provider_config";

/// The feature of plugins of version 1.
const KMS_V1: &str = "KMSv1";

#[derive(Clone, Copy, Debug)]
struct EncryptedStorage;

/// The loaded file, from the opening of the store to the installation of the component.
#[derive(Debug, Default)]
struct State {
    loaded: OnceLock<Arc<Loaded>>,
}

fn source(path: PathBuf, reloads: bool, allows_kms_v1: bool) -> Source {
    Source {
        path,
        validation: Validation { reloads, allows_kms_v1 },
    }
}

impl Component for EncryptedStorage {
    fn flags(&self, command: Command) -> Command {
        EncryptionOptions::augment_args(command)
    }

    fn check_flags(&self, matches: &ArgMatches) -> Result<(), String> {
        let options = EncryptionOptions::from_arg_matches(matches).map_err(|error| error.to_string())?;
        options.check()
    }

    fn store_transformation(&self) -> Option<&'static dyn StoreTransformation> {
        Some(&EncryptedStorage)
    }

    fn transformers(&self, context: &TransformersContext<'_>) -> Result<Option<Arc<dyn Transformers>>> {
        let options = EncryptionOptions::from_arg_matches(&context.options.matches)?;
        let Some(path) = options.file.encryption_provider_config else {
            return Ok(None);
        };
        let reloads = options.encryption_provider_config_automatic_reload;
        let loaded = source(path, reloads, context.gates.enabled(KMS_V1)).load(context.scheme)?;
        let encryption = loaded.encryption.clone();
        let state = context.state.get_or_create(State::default);
        // One server opens its store once.
        let _ = state.loaded.set(Arc::new(loaded));
        Ok(Some(Arc::new(encryption)))
    }

    fn install<'a>(&self, context: &ServerContext<'a>) -> Result<Contribution<'a>> {
        let state = context.state.get_or_create(State::default);
        // kube-apiserver shows some of them without encryption, too.
        let metrics = context.stores.options().metrics.encryption();
        let Some(loaded) = state.loaded.get() else {
            return Ok(Contribution::default());
        };
        let observer = EncryptionObserver::new(&metrics);
        // Nothing else sets it.
        let _ = loaded.observer.observer.set(Arc::new(observer));
        let reloads = loaded.source.validation.reloads;
        if reloads {
            metrics.loaded(&loaded.content);
        }
        let following = Following {
            encryption: loaded.encryption.clone(),
            storage: context.stores.storage().clone(),
        };
        let mut start_hooks = vec![following.hook()];
        if reloads {
            let reload = Reload {
                loaded: Arc::clone(loaded),
                metrics,
            };
            start_hooks.push(reload.hook());
        }
        Ok(Contribution {
            start_hooks,
            health_checks: health::checks(&loaded.encryption, reloads),
            ..Contribution::default()
        })
    }
}

impl StoreTransformation for EncryptedStorage {
    fn flags(&self, command: Command) -> Command {
        ConfigurationFile::augment_args(command)
    }

    fn open(&self, matches: &ArgMatches, scheme: &Scheme) -> Result<Option<Arc<dyn Transformers>>> {
        if matches.try_contains_id(FILE).is_err() {
            // A command without the flag, which moves values as they are.
            return Ok(None);
        }
        let file = ConfigurationFile::from_arg_matches(matches)?;
        let Some(path) = file.encryption_provider_config else {
            return Ok(None);
        };
        let loaded = source(path, false, false).load(scheme)?;
        Ok(Some(Arc::new(loaded.encryption)))
    }
}
