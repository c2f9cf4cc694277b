//! The contribution of this crate to a server.

use std::sync::{Arc, OnceLock};

use anyhow::Result;
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use planesmith_control_plane::component::{Contribution, ServerContext, TransformersContext};
use planesmith_control_plane::{Component, StoreTransformation};
use planesmith_encryption::Validation;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::metrics::ConfigurationMetrics;
use planesmith_store::Transformers;

use crate::health;
use crate::loading::Loaded;
use crate::options::{ConfigurationFile, EncryptionOptions};
use crate::reload::{Following, ReloadableProviders};

/// The component of a program that can encrypt its stored objects.
pub const COMPONENT: &dyn Component = &EncryptedStorageComponent;

/// The name of the flag with the file.
const FILE: &str = "encryption_provider_config";

/// The feature of plugins of version 1.
const KMS_V1: &str = "KMSv1";

#[derive(Clone, Copy, Debug)]
struct EncryptedStorageComponent;

/// The loaded file, from the opening of the store to the installation of the component.
#[derive(Debug, Default)]
struct State {
    loaded: OnceLock<Arc<Loaded>>,
}

impl Component for EncryptedStorageComponent {
    fn flags(&self, command: Command) -> Command {
        EncryptionOptions::augment_args(command)
    }

    fn check_flags(&self, matches: &ArgMatches) -> Result<(), String> {
        let options = EncryptionOptions::from_arg_matches(matches).map_err(|error| error.to_string())?;
        options.check()
    }

    fn store_transformation(&self) -> Option<&'static dyn StoreTransformation> {
        Some(&EncryptedStorageComponent)
    }

    fn transformers(&self, context: &TransformersContext<'_>) -> Result<Option<Arc<dyn Transformers>>> {
        let options = EncryptionOptions::from_arg_matches(&context.options.matches)?;
        let Some(path) = options.file.encryption_provider_config else {
            return Ok(None);
        };
        let validation = Validation {
            reloads: options.encryption_provider_config_automatic_reload,
            allows_kms_v1: context.gates.enabled(KMS_V1),
        };
        let loaded = Loaded::open(&path, validation, context.scheme)?;
        let encryption = loaded.encryption.clone();
        let state = context.state.get_or_create(State::default);
        // One server opens its store once.
        let _ = state.loaded.set(Arc::new(loaded));
        Ok(Some(Arc::new(encryption)))
    }

    fn install<'a>(&self, context: &ServerContext<'a>) -> Result<Contribution<'a>> {
        let state = context.state.get_or_create(State::default);
        // kube-apiserver shows some of them without encryption, too.
        let all = &context.stores.options().metrics;
        let metrics = all.encryption(context.server_name);
        let configuration = ConfigurationMetrics::register(all, "encryption", context.server_name);
        let Some(loaded) = state.loaded.get() else {
            return Ok(Contribution::default());
        };
        loaded.observer.pass_to(metrics);
        let reloads = loaded.validation.reloads;
        let following = Following {
            encryption: loaded.encryption.clone(),
            storage: context.stores.storage().clone(),
        };
        let mut start_hooks = vec![following.hook()];
        if reloads {
            configuration.loaded(loaded.file.content());
            start_hooks.push(ReloadableProviders(Arc::clone(loaded)).hook(configuration));
        }
        Ok(Contribution {
            start_hooks,
            health_checks: health::checks(&loaded.encryption, reloads),
            ..Contribution::default()
        })
    }
}

impl StoreTransformation for EncryptedStorageComponent {
    fn flag(&self) -> &'static str {
        "--encryption-provider-config"
    }

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
        let validation = Validation {
            reloads: false,
            allows_kms_v1: false,
        };
        let loaded = Loaded::open(&path, validation, scheme)?;
        Ok(Some(Arc::new(loaded.encryption)))
    }
}
