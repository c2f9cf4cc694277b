//! Asks the plugin: for its status again and again, and for decrypted seeds on request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use planesmith_machinery::hex;
use tokio::sync::{mpsc, oneshot};

use super::client::{Client, problem_of};
use super::data_key::{DataKey, SEED};
use super::envelope::{Envelope, KEY_ID_LIMIT};
use super::protocol::{
    DECRYPT, DecryptRequest, DecryptResponse, ENCRYPT, EncryptRequest, EncryptResponse, STATUS, StatusRequest,
    StatusResponse,
};
use super::{KmsHealth, Shared, key_id_hash, lock};
use crate::random;
use crate::validation::KmsSettings;

/// Time between two requests for the status of a plugin that works.
const HEALTHY: Duration = Duration::from_secs(60);
/// The same for one that does not.
const FAILING: Duration = Duration::from_secs(10);

/// Time for which a status answers all who ask for it.
const RECENT: Duration = Duration::from_millis(200);

/// Versions of the interface that a plugin may report.
const VERSIONS: [&str; 2] = ["v2", "v2beta1"];

/// Work for the worker.
pub(super) enum Request {
    /// Asks for the status, and answers afterwards.
    Status(oneshot::Sender<()>),
    /// Decrypts the seeds of envelopes, and drops `done` afterwards.
    Decrypt {
        seeds: Vec<Envelope>,
        done: Arc<oneshot::Sender<()>>,
    },
}

pub(super) struct Worker {
    client: Client,
    shared: Arc<Shared>,
}

impl Worker {
    /// Starts a worker in a thread of its own, which ends with the senders of `requests`: opening a store blocks threads of the
    /// server's runtime.
    pub(super) fn start(
        settings: &KmsSettings,
        shared: Arc<Shared>,
        requests: mpsc::UnboundedReceiver<Request>,
    ) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let settings = settings.clone();
        let thread = std::thread::Builder::new().name("kms".to_owned());
        thread.spawn(move || {
            runtime.block_on(async {
                let client = Client::new(&settings, Arc::clone(&shared.observer));
                Self { client, shared }.run(requests).await;
            });
        })?;
        Ok(())
    }

    async fn run(self, mut requests: mpsc::UnboundedReceiver<Request>) {
        // First of all, so that values are compared with the key that writes.
        self.status().await;
        loop {
            let pause = match lock(&self.shared.health).problem {
                None => HEALTHY,
                Some(_) => FAILING,
            };
            match tokio::time::timeout(pause, requests.recv()).await {
                Err(_) => self.status().await,
                Ok(None) => return,
                Ok(Some(Request::Status(done))) => {
                    let last = lock(&self.shared.health).at;
                    if last.is_none_or(|at| at.elapsed() > RECENT) {
                        self.status().await;
                    }
                    // The caller may have given up.
                    let _ = done.send(());
                }
                Ok(Some(Request::Decrypt { seeds, done })) => {
                    self.decrypt(seeds).await;
                    drop(done);
                }
            }
            lock(&self.shared.seeds).expire();
        }
    }

    async fn status(&self) {
        let before = self.shared.writer.load().as_ref().map(|writer| writer.id);
        let problem = self.checked_status().await.err();
        if let Some(problem) = &problem {
            tracing::warn!(provider = self.shared.name, problem, "the KMS provider is not healthy");
        }
        let is_healthy = problem.is_none();
        let was_healthy = {
            let mut health = lock(&self.shared.health);
            let before = std::mem::replace(
                &mut *health,
                KmsHealth {
                    problem: problem.map(Into::into),
                    at: Some(Instant::now()),
                },
            );
            before.problem.is_none()
        };
        let after = self.shared.writer.load().as_ref().map(|writer| writer.id);
        if before != after || (is_healthy && !was_healthy) {
            self.shared.notify();
        }
    }

    /// Asks for the status, and for a new encrypted seed if the plugin has another key.
    async fn checked_status(&self) -> Result<(), String> {
        let status: StatusResponse = self.client.call(STATUS, StatusRequest {}).await.map_err(|status| {
            format!(
                "failed to perform status section of the healthz check for KMS Provider {}, error: {}",
                self.shared.name,
                problem_of(&status)
            )
        })?;
        let mut problems = Vec::new();
        if status.healthz != "ok" {
            problems.push(format!("got unexpected healthz status: {}", status.healthz));
        }
        if !VERSIONS.contains(&status.version.as_str()) {
            problems.push(format!("expected KMSv2 API version v2, got {}", status.version));
        }
        let observer = &self.shared.observer;
        let refused = match status.key_id.len() {
            0 => Some("empty"),
            1..=KEY_ID_LIMIT => None,
            _ => Some("too_long"),
        };
        if let Some(reason) = refused {
            observer.key_refused(&self.shared.name, reason);
            problems.push(format!(
                "found invalid KMSv2 key ID: it is {}",
                reason.replace('_', " ")
            ));
        }
        match problems.len() {
            0 => {}
            1 => return Err(self.unhealthy(&problems[0])),
            _ => return Err(self.unhealthy(&format!("[{}]", problems.join(", ")))),
        }
        observer.key_reported(&self.shared.name, &key_id_hash(&status.key_id));
        if self.shared.confirm(&status.key_id) {
            return Ok(());
        }
        let envelope = self
            .new_key(&status.key_id)
            .await
            .map_err(|problem| self.unhealthy(&problem))?;
        tracing::info!(
            provider = self.shared.name,
            key_id_hash = key_id_hash(envelope.key_id()),
            "values are encrypted with a new key of the KMS provider"
        );
        Ok(())
    }

    fn unhealthy(&self, problem: &str) -> String {
        format!("kmsv2 Provider {} is not healthy, error: {problem}", self.shared.name)
    }

    /// Lets the plugin encrypt a new seed with its key `key_id`, and uses it.
    async fn new_key(&self, key_id: &str) -> Result<Envelope, String> {
        let seed = random::bytes::<SEED>().map_err(|error| error.to_string())?;
        let request = EncryptRequest {
            plaintext: seed.to_vec(),
            uid: uid(),
        };
        let answer: EncryptResponse = self
            .client
            .call(ENCRYPT, request)
            .await
            .map_err(|status| format!("failed to encrypt DEK, error: {}", problem_of(&status)))?;
        let envelope = Envelope::of_seed(answer.key_id, answer.ciphertext, answer.annotations);
        let envelope = envelope.map_err(|error| error.to_string())?;
        if envelope.key_id() != key_id {
            return Err(format!(
                "the plugin encrypts with the key {}, but reports {}",
                key_id_hash(envelope.key_id()),
                key_id_hash(key_id)
            ));
        }
        let key = DataKey::new(&seed, true).ok_or("the seed is too short")?;
        self.shared.use_key(Arc::new(key), envelope.clone());
        Ok(envelope)
    }

    /// Decrypts the seeds that are not known yet. They are left while the plugin does not answer: callers wait for the result, and
    /// try again when it answers its status.
    async fn decrypt(&self, seeds: Vec<Envelope>) {
        for envelope in seeds {
            if self.client.unanswered().is_some_and(|since| since < FAILING) {
                return;
            }
            let id = envelope.seed_id();
            if lock(&self.shared.seeds).has(&id) {
                continue;
            }
            self.shared.observer.key_missed();
            let (source, annotations) = envelope.source();
            let request = DecryptRequest {
                ciphertext: source.to_vec(),
                uid: uid(),
                key_id: envelope.key_id().to_owned(),
                annotations: annotations.clone(),
            };
            let answer: Result<DecryptResponse, _> = self.client.call(DECRYPT, request).await;
            match answer {
                Ok(answer) => match DataKey::new(&answer.plaintext, envelope.has_seed()) {
                    Some(key) => lock(&self.shared.seeds).insert(id, Arc::new(key)),
                    None => tracing::error!(
                        provider = self.shared.name,
                        key_id_hash = key_id_hash(envelope.key_id()),
                        "the KMS provider has decrypted a key of an unexpected length"
                    ),
                },
                Err(status) => {
                    let problem = problem_of(&status);
                    tracing::error!(
                        provider = self.shared.name,
                        key_id_hash = key_id_hash(envelope.key_id()),
                        problem,
                        "the KMS provider did not decrypt a key; values that were encrypted with it cannot be read"
                    );
                    if self.client.unanswered().is_some() {
                        lock(&self.shared.health).problem = Some(problem.into());
                    }
                }
            }
        }
    }
}

/// Identifies a request in the logs of the plugin.
fn uid() -> String {
    random::bytes::<16>()
        .map(|bytes| hex::encode(&bytes))
        .unwrap_or_default()
}
