//! Keys of a plugin, version 2 of its interface: the plugin encrypts one seed, from which the key of each value is derived.
//!
//! Reading order: `protocol` (the plugin's messages), `client`, `envelope` (stored values), `data_key`, `seeds` (those that are
//! decrypted already), `retries` (those that are not), `worker` (calls the plugin, in a thread of its own). Values are
//! transformed without waiting for the plugin.

mod client;
mod data_key;
mod envelope;
pub(crate) mod protocol;
mod retries;
mod seeds;
mod worker;

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use planesmith_machinery::hex;
use planesmith_store::{Reason, TransformError};
use ring::digest::{SHA256, digest};
use tokio::sync::{mpsc, oneshot};

use self::data_key::DataKey;
use self::envelope::{Envelope, SeedId};
use self::seeds::Seeds;
use self::worker::{Request, Worker};
use crate::observer::{EncryptionEvent, Observer};
use crate::validation::KmsSettings;

/// The beginning of the values of all plugins.
pub(crate) const PREFIX: &str = "k8s:enc:kms:v2:";

/// Time after the last good status for which the plugin's seed encrypts new values.
const TRUST: Duration = Duration::from_secs(180);

/// A plugin.
pub struct KmsProvider {
    settings: KmsSettings,
    prefix: String,
    shared: Arc<Shared>,
    /// The worker ends with it.
    requests: mpsc::UnboundedSender<Request>,
}

/// The state that the worker changes.
struct Shared {
    name: String,
    /// The key that writes; `None` before the plugin has encrypted one.
    writer: ArcSwapOption<WriteKey>,
    seeds: Mutex<Seeds>,
    health: Mutex<KmsHealth>,
    on_change: Mutex<Option<Box<dyn Fn() + Send>>>,
    observer: Arc<dyn Observer>,
}

/// The last status of a plugin.
#[derive(Clone, Debug)]
pub struct KmsHealth {
    /// The problem; `None` if the plugin works.
    pub problem: Option<Arc<str>>,
    /// The time of the status; `None` before the first.
    pub at: Option<Instant>,
}

/// A seed that encrypts values.
#[derive(Clone)]
struct WriteKey {
    key: Arc<DataKey>,
    envelope: Envelope,
    seed_id: SeedId,
    /// The time of the last good status.
    confirmed: Instant,
    /// Identifies the key.
    id: u64,
    key_id_hash: String,
}

impl KmsProvider {
    /// Starts to ask the plugin.
    pub(crate) fn start(settings: KmsSettings, observer: Arc<dyn Observer>) -> std::io::Result<Arc<Self>> {
        let shared = Arc::new(Shared {
            name: settings.name.clone(),
            writer: ArcSwapOption::empty(),
            seeds: Mutex::default(),
            health: Mutex::new(KmsHealth {
                problem: Some("the plugin was not asked yet".into()),
                at: None,
            }),
            on_change: Mutex::default(),
            observer,
        });
        let (requests, received) = mpsc::unbounded_channel();
        Worker::start(&settings, Arc::clone(&shared), received)?;
        Ok(Arc::new(Self {
            prefix: format!("{PREFIX}{}:", settings.name),
            settings,
            shared,
            requests,
        }))
    }

    /// The name in the configuration.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// The settings in the configuration.
    pub(crate) fn settings(&self) -> &KmsSettings {
        &self.settings
    }

    /// The time that the plugin has for an answer.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.settings.timeout
    }

    /// The last status.
    #[must_use]
    pub fn health(&self) -> KmsHealth {
        lock(&self.shared.health).clone()
    }

    /// Asks the plugin for its status, unless that is very recent, and returns it. If the plugin does not answer in time, the last
    /// status counts.
    pub async fn probe(&self) -> KmsHealth {
        let (done, is_done) = oneshot::channel();
        // A worker that has ended drops the request, which ends the wait.
        let _ = self.requests.send(Request::Status(done));
        let _ = tokio::time::timeout(2 * self.timeout(), is_done).await;
        self.health()
    }

    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Identifies the key that writes.
    pub(crate) fn writer(&self) -> u64 {
        match &*self.shared.writer.load() {
            Some(writer) => writer.id,
            None => id_of(self.name(), None),
        }
    }

    /// Calls `on_change` in place of the one before whenever the key that writes changes, or the plugin works again.
    pub(crate) fn on_change(&self, on_change: Box<dyn Fn() + Send>) {
        *lock(&self.shared.on_change) = Some(on_change);
    }

    /// The value to store for `plain`.
    pub(crate) fn seal(&self, context: &str, plain: &[u8], reason: Reason) -> Result<Vec<u8>, TransformError> {
        let writer = self.shared.writer.load();
        let Some(writer) = &*writer else {
            // The worker has logged the plugin's answer, which is not for clients.
            return Err(TransformError::new(format!(
                "the KMS provider {} has no key yet",
                self.name()
            )));
        };
        let since = writer.confirmed.elapsed();
        if reason == Reason::Update && since > TRUST {
            return Err(TransformError::new(format!(
                "encryptedDEKSource with keyID hash {:?} expired: the KMS provider {} was healthy {} seconds ago for the last time, \
                 at most {} are allowed",
                writer.key_id_hash,
                self.name(),
                since.as_secs(),
                TRUST.as_secs()
            )));
        }
        let mut data = Vec::new();
        writer.key.seal(context.as_bytes(), plain, &mut data)?;
        let mut out = self.prefix.clone().into_bytes();
        writer.envelope.append_with(&data, &mut out);
        self.count_use("to_storage", &writer.key_id_hash);
        Ok(out)
    }

    /// The plain bytes of `stored` without its prefix, and true if another key has written it than the one that writes now.
    pub(crate) fn open(&self, context: &str, stored: &[u8]) -> Result<(Vec<u8>, bool), TransformError> {
        let (envelope, data) = Envelope::decode(stored)?;
        let known = lock(&self.shared.seeds).get(&envelope.seed_id());
        let Some(key) = known else {
            // As above.
            return Err(TransformError::new(format!(
                "failed to decrypt DEK, error: the KMS provider {} did not decrypt the key",
                self.name()
            )));
        };
        let plain = key.open(context.as_bytes(), data);
        let plain =
            plain.ok_or_else(|| TransformError::new("the value was encrypted with another key, or was changed"))?;
        let writer = self.shared.writer.load();
        let of_writer = writer.as_ref().filter(|writer| writer.envelope.has_key_of(&envelope));
        match of_writer {
            Some(writer) => self.count_use("from_storage", &writer.key_id_hash),
            None => self.count_use("from_storage", &key_id_hash(envelope.key_id())),
        }
        Ok((plain, writer.is_some() && of_writer.is_none()))
    }

    fn count_use(&self, operation: &'static str, key_id_hash: &str) {
        self.shared.observer.observe(&EncryptionEvent::KeyUsed {
            operation,
            provider: self.name(),
            key_id_hash,
        });
    }

    /// True if the key of `stored`, a value without its prefix, has to be decrypted by the plugin first.
    pub(crate) fn misses(&self, stored: &[u8]) -> bool {
        Envelope::decode(stored).is_ok_and(|(envelope, _)| !lock(&self.shared.seeds).has(&envelope.seed_id()))
    }

    /// Lets the plugin decrypt the keys of `stored` values, and drops `done` afterwards.
    pub(crate) fn fetch(&self, stored: &[&[u8]], done: Arc<oneshot::Sender<()>>) {
        let envelopes = stored.iter().filter_map(|value| Envelope::decode(value).ok());
        let mut seeds: Vec<Envelope> = envelopes.map(|(envelope, _)| envelope).collect();
        seeds.sort_unstable_by_key(Envelope::seed_id);
        seeds.dedup_by_key(|envelope| envelope.seed_id());
        // A worker that has ended drops the request.
        let _ = self.requests.send(Request::Decrypt { seeds, done });
    }
}

impl Shared {
    /// Uses `key`, whose encrypted form `envelope` has. The plugin was healthy at `confirmed`.
    fn use_key(&self, key: Arc<DataKey>, envelope: Envelope, confirmed: Instant) {
        let seed_id = envelope.seed_id();
        lock(&self.seeds).insert(seed_id, Arc::clone(&key));
        let id = id_of(&self.name, Some(&envelope));
        let key_id_hash = key_id_hash(envelope.key_id());
        self.writer.store(Some(Arc::new(WriteKey {
            key,
            envelope,
            seed_id,
            confirmed,
            id,
            key_id_hash,
        })));
    }

    /// Trusts the key that writes for longer, if it is `key_id`; false otherwise. The plugin was healthy at `confirmed`.
    fn confirm(&self, key_id: &str, confirmed: Instant) -> bool {
        let Some(current) = self
            .writer
            .load_full()
            .filter(|writer| writer.envelope.key_id() == key_id)
        else {
            return false;
        };
        self.writer.store(Some(Arc::new(WriteKey {
            confirmed,
            ..(*current).clone()
        })));
        true
    }

    fn notify(&self) {
        if let Some(on_change) = &*lock(&self.on_change) {
            on_change();
        }
    }
}

/// The name of a key for logs and metrics.
fn key_id_hash(key_id: &str) -> String {
    format!("sha256:{}", hex::encode(digest(&SHA256, key_id.as_bytes()).as_ref()))
}

/// Identifies the key of `envelope`.
fn id_of(name: &str, envelope: Option<&Envelope>) -> u64 {
    let mut id = DefaultHasher::new();
    (name, envelope.map(Envelope::key)).hash(&mut id);
    id.finish()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic cannot interrupt a change half way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for KmsProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("KmsProvider")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
