//! The providers of all resources, as the configuration has them now.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io;
use std::ops::Bound;
use std::sync::Arc;

use arc_swap::ArcSwap;
use planesmith_store::{PlainValue, Preparation, Reason, TransformError, Transformer, Transformers, is_encrypted};
use tokio::sync::watch;

use crate::chain::Chain;
use crate::configuration::EncryptionConfiguration;
use crate::kms::{KmsProvider, PREFIX};
use crate::observer::Observer;
use crate::provider::{IDENTITY_WRITER, Provider, open_identity};
use crate::validation::{ConfigurationError, GroupResource, KmsSettings, ValidProvider, Validation};

/// The transformers of a store, by the configuration that was loaded last. Clones share it.
#[derive(Clone)]
pub struct Encryption {
    shared: Arc<Shared>,
}

struct Shared {
    names: ResourceNames,
    current: ArcSwap<Snapshot>,
    observer: Arc<dyn Observer>,
    /// Changes with the keys.
    changes: watch::Sender<u64>,
}

/// The resources whose objects are stored under the prefixes of keys.
#[derive(Clone, Debug, Default)]
pub struct ResourceNames {
    by_prefix: BTreeMap<String, GroupResource>,
}

/// The providers of one configuration.
#[derive(Default)]
pub struct Snapshot {
    chains: HashMap<GroupResource, Arc<Chain>>,
    /// True if a resource is `*`.
    has_wildcards: bool,
    /// By name.
    plugins: BTreeMap<String, Arc<KmsProvider>>,
}

/// The transformer of one collection.
struct ResourceTransformer {
    resource: GroupResource,
    shared: Arc<Shared>,
}

impl ResourceNames {
    /// Returns the names of resources, each with the prefix of its keys, its group and its plural name.
    pub fn new(resources: impl IntoIterator<Item = (String, String, String)>) -> Self {
        let by_prefix = resources
            .into_iter()
            .map(|(prefix, group, resource)| (prefix, GroupResource { group, resource }));
        Self {
            by_prefix: by_prefix.collect(),
        }
    }

    /// The resource with the keys under `prefix`, or with a key. Keys of other kinds have group and resource in them.
    fn of(&self, prefix: &str) -> GroupResource {
        let mut up_to = self
            .by_prefix
            .range::<str, _>((Bound::Unbounded, Bound::Included(prefix)));
        if let Some((_, known)) = up_to
            .next_back()
            .filter(|(known, _)| prefix.starts_with(known.as_str()))
        {
            return known.clone();
        }
        let mut parts = prefix.split('/').filter(|part| !part.is_empty()).skip(1);
        match (parts.next(), parts.next()) {
            (Some(group), Some(resource)) if group.contains('.') => GroupResource {
                group: group.to_owned(),
                resource: resource.to_owned(),
            },
            (first, _) => GroupResource {
                group: String::new(),
                resource: first.unwrap_or_default().to_owned(),
            },
        }
    }
}

impl Snapshot {
    /// Returns the providers of `configuration`; requests to plugins begin.
    ///
    /// # Errors
    ///
    /// All problems of the configuration, with their fields.
    pub fn new(
        configuration: &EncryptionConfiguration,
        validation: Validation,
        observer: &Arc<dyn Observer>,
    ) -> Result<Self, ConfigurationError> {
        Self::default().successor(configuration, validation, observer)
    }

    /// Returns the providers of `configuration`, which takes the place of this one: plugins whose settings are the same go on with
    /// their keys.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn successor(
        &self,
        configuration: &EncryptionConfiguration,
        validation: Validation,
        observer: &Arc<dyn Observer>,
    ) -> Result<Self, ConfigurationError> {
        let valid = validation.check(configuration)?;
        let mut plugins = BTreeMap::new();
        let mut lists: HashMap<GroupResource, Vec<Arc<Provider>>> = HashMap::new();
        for item in valid {
            let mut providers = Vec::with_capacity(item.providers.len());
            for provider in item.providers {
                providers.push(Arc::new(match provider {
                    ValidProvider::Identity => Provider::Identity,
                    ValidProvider::Keyring(keyring) => Provider::Keyring(keyring),
                    ValidProvider::Kms(settings) => {
                        let name = settings.name.clone();
                        let plugin = self.plugin(settings, observer).map_err(|error| {
                            ConfigurationError(format!("the thread for the KMS provider {name} did not start: {error}"))
                        })?;
                        plugins.insert(name, Arc::clone(&plugin));
                        Provider::Kms(plugin)
                    }
                }));
            }
            for resource in item.resources {
                lists
                    .entry(resource)
                    .or_default()
                    .extend(providers.iter().map(Arc::clone));
            }
        }
        let chains = lists
            .into_iter()
            .map(|(resource, providers)| (resource, Arc::new(Chain::new(providers))));
        let chains: HashMap<_, _> = chains.collect();
        Ok(Self {
            has_wildcards: chains.keys().any(|resource| resource.resource == "*"),
            chains,
            plugins,
        })
    }

    /// Returns the plugin with `settings`: the present one, or one that is started.
    fn plugin(&self, settings: KmsSettings, observer: &Arc<dyn Observer>) -> io::Result<Arc<KmsProvider>> {
        let present = self.plugins.get(&settings.name);
        match present.filter(|plugin| *plugin.settings() == settings) {
            Some(plugin) => Ok(Arc::clone(plugin)),
            None => KmsProvider::start(settings, Arc::clone(observer)),
        }
    }

    /// The plugins, in the order of their names.
    pub fn plugins(&self) -> impl Iterator<Item = &Arc<KmsProvider>> {
        self.plugins.values()
    }

    /// The providers of `resource`; `None` if it is not configured.
    fn chain(&self, resource: &GroupResource) -> Option<&Arc<Chain>> {
        let any = |group: &str| {
            self.chains.get(&GroupResource {
                group: group.to_owned(),
                resource: "*".to_owned(),
            })
        };
        let exact = self.chains.get(resource);
        if exact.is_some() || !self.has_wildcards {
            return exact;
        }
        any(&resource.group).or_else(|| any("*"))
    }
}

impl Encryption {
    /// Returns the transformers of `snapshot`. `names` are those of the kinds that the program declares.
    #[must_use]
    pub fn new(names: ResourceNames, snapshot: Snapshot, observer: Arc<dyn Observer>) -> Self {
        let shared = Shared {
            names,
            current: ArcSwap::from_pointee(snapshot),
            observer,
            changes: watch::Sender::new(0),
        };
        let encryption = Self {
            shared: Arc::new(shared),
        };
        encryption.follow(&encryption.shared.current.load());
        encryption
    }

    /// Uses `snapshot` from now on. Transformers that exist follow.
    pub fn replace(&self, snapshot: Snapshot) {
        self.follow(&snapshot);
        self.shared.current.store(Arc::new(snapshot));
        self.shared.changes.send_modify(|count| *count += 1);
    }

    /// The providers that are used now.
    #[must_use]
    pub fn current(&self) -> Arc<Snapshot> {
        self.shared.current.load_full()
    }

    /// Changes whenever a key changes with which values are written, or a plugin answers again that did not.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// True if values with keys under `prefix` are stored encrypted.
    #[must_use]
    pub fn encrypts(&self, prefix: &str) -> bool {
        let resource = self.shared.names.of(prefix);
        let current = self.shared.current.load();
        current.chain(&resource).is_some_and(|chain| chain.encrypts())
    }

    /// Announces changes of the keys of plugins, too.
    fn follow(&self, snapshot: &Snapshot) {
        for plugin in snapshot.plugins() {
            let shared = Arc::downgrade(&self.shared);
            plugin.on_change(Box::new(move || {
                if let Some(shared) = shared.upgrade() {
                    shared.changes.send_modify(|count| *count += 1);
                }
            }));
        }
    }
}

impl Transformers for Encryption {
    fn of(&self, prefix: &str) -> Arc<dyn Transformer> {
        Arc::new(ResourceTransformer {
            resource: self.shared.names.of(prefix),
            shared: Arc::clone(&self.shared),
        })
    }

    fn prepare(&self, stored: &mut dyn Iterator<Item = &[u8]>) -> Option<Preparation> {
        let current = self.shared.current.load();
        if current.plugins.is_empty() {
            return None;
        }
        let mut missing: BTreeMap<&str, Vec<&[u8]>> = BTreeMap::new();
        for value in stored {
            let Some(named) = value.strip_prefix(PREFIX.as_bytes()) else {
                continue;
            };
            let Some(end) = named.iter().position(|byte| *byte == b':') else {
                continue;
            };
            let name = std::str::from_utf8(&named[..end]).ok();
            let plugin = name.and_then(|name| current.plugins.get_key_value(name));
            if let Some((name, plugin)) = plugin
                && plugin.misses(&named[end + 1..])
            {
                missing.entry(name).or_default().push(&named[end + 1..]);
            }
        }
        // The first status tells the key that writes, with which values are compared.
        let plugins = current.plugins.iter();
        for (name, _) in plugins.filter(|(_, plugin)| plugin.health().at.is_none()) {
            missing.entry(name).or_default();
        }
        if missing.is_empty() {
            return None;
        }
        let (done, preparation) = Preparation::new();
        // Dropped by the last plugin.
        let done = Arc::new(done);
        for (name, values) in missing {
            current.plugins[name].fetch(&values, Arc::clone(&done));
        }
        Some(preparation)
    }
}

impl Transformer for ResourceTransformer {
    fn seal(&self, key: &str, plain: &[u8], reason: Reason) -> Result<Option<Vec<u8>>, TransformError> {
        if is_encrypted(plain) {
            // An object that could not be read stays as it is.
            return Ok(None);
        }
        match self.shared.current.load().chain(&self.resource) {
            Some(chain) => chain.seal(key, plain, reason, &*self.shared.observer),
            None => Ok(None),
        }
    }

    fn open<'s>(&self, key: &str, stored: &'s [u8]) -> Result<PlainValue<'s>, TransformError> {
        match self.shared.current.load().chain(&self.resource) {
            Some(chain) => chain.open(key, stored, &*self.shared.observer),
            None => open_identity(stored),
        }
    }

    fn writer(&self) -> u64 {
        let current = self.shared.current.load();
        current
            .chain(&self.resource)
            .map_or(IDENTITY_WRITER, |chain| chain.writer())
    }
}

impl fmt::Debug for Encryption {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Encryption").finish_non_exhaustive()
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Snapshot");
        shown.field("resources", &self.chains.keys()).finish_non_exhaustive()
    }
}

impl fmt::Debug for ResourceTransformer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("ResourceTransformer");
        shown.field("resource", &self.resource).finish_non_exhaustive()
    }
}
