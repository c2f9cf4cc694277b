//! Calls the plugin: for its status again and again, and for decrypted seeds on request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use planesmith_machinery::{go_format, hex};
use tokio::sync::{mpsc, oneshot};

use super::client::{Client, problem_of};
use super::data_key::{DataKey, SEED};
use super::envelope::{Envelope, KEY_ID_LIMIT};
use super::protocol::{
    DECRYPT, DecryptRequest, DecryptResponse, ENCRYPT, EncryptRequest, EncryptResponse, STATUS, StatusRequest,
    StatusResponse,
};
use super::retries::Retries;
use super::{KmsHealth, Shared, key_id_hash, lock};
use crate::observer::EncryptionEvent;
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
    retries: Retries,
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
                let worker = Self {
                    client,
                    shared,
                    retries: Retries::default(),
                };
                worker.run(requests).await;
            });
        })?;
        Ok(())
    }

    async fn run(mut self, mut requests: mpsc::UnboundedReceiver<Request>) {
        // First of all, so that values are compared with the key that writes.
        self.status().await;
        loop {
            let next_status = next_status(&lock(&self.shared.health));
            let due = self.retries.next().map_or(next_status, |retry| retry.min(next_status));
            tokio::select! {
                // The status comes first: requests never end while the server is busy.
                biased;
                () = tokio::time::sleep_until(due.into()) => {
                    if Instant::now() >= next_status {
                        self.status().await;
                    }
                    let seeds = self.retries.due(Instant::now());
                    if self.decrypt(seeds).await {
                        // Values that could not be read are read again.
                        self.shared.notify();
                    }
                }
                request = requests.recv() => match request {
                    None => return,
                    Some(Request::Status(done)) => {
                        let last = lock(&self.shared.health).at;
                        if last.is_none_or(|at| at.elapsed() > RECENT) {
                            self.status().await;
                        }
                        // The caller may have given up.
                        let _ = done.send(());
                    }
                    Some(Request::Decrypt { seeds, done }) => {
                        self.decrypt(seeds).await;
                        drop(done);
                    }
                }
            }
            let writer = self.shared.writer.load();
            let writer = writer.as_ref().map(|writer| &writer.seed_id);
            lock(&self.shared.seeds).expire(writer, Instant::now());
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
        // As in kube-apiserver: before the request for a key, whose time is not added.
        let confirmed = Instant::now();
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
            observer.observe(&EncryptionEvent::KeyRefused {
                provider: &self.shared.name,
                reason,
            });
            problems.push(format!(
                "found invalid KMSv2 key ID: it is {}",
                reason.replace('_', " ")
            ));
        }
        if !problems.is_empty() {
            return Err(self.unhealthy(&go_format::aggregate(&problems)));
        }
        observer.observe(&EncryptionEvent::KeyReported {
            provider: &self.shared.name,
            key_id_hash: &key_id_hash(&status.key_id),
        });
        if self.shared.confirm(&status.key_id, confirmed) {
            return Ok(());
        }
        let envelope = self
            .new_key(&status.key_id, confirmed)
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

    /// Lets the plugin, which was healthy at `confirmed`, encrypt a new seed with its key `key_id`, and uses it.
    async fn new_key(&self, key_id: &str, confirmed: Instant) -> Result<Envelope, String> {
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
        self.shared.use_key(Arc::new(key), envelope.clone(), confirmed);
        Ok(envelope)
    }

    /// Decrypts the seeds that are not known yet, and returns true if there was one. Those that the plugin does not decrypt are
    /// requested again later. While it does not answer they are left for later at once, since callers wait for the result.
    async fn decrypt(&mut self, seeds: Vec<Envelope>) -> bool {
        let mut has_decrypted = false;
        for envelope in seeds {
            let last = lock(&self.shared.health).at;
            if last.is_none_or(|at| at.elapsed() > HEALTHY) {
                self.status().await;
            }
            let id = envelope.seed_id();
            if lock(&self.shared.seeds).has(&id) {
                self.retries.remove(&id);
                continue;
            }
            if self.client.unanswered().is_some_and(|since| since < FAILING) {
                self.retries.postponed(id, envelope, Instant::now(), FAILING);
                continue;
            }
            match self.decrypted(&envelope).await {
                Ok(key) => {
                    lock(&self.shared.seeds).insert(id, Arc::new(key));
                    self.retries.remove(&id);
                    has_decrypted = true;
                }
                Err(problem) => {
                    tracing::error!(
                        provider = self.shared.name,
                        key_id_hash = key_id_hash(envelope.key_id()),
                        problem,
                        "the KMS provider did not decrypt a key; values that were encrypted with it cannot be read until it does"
                    );
                    if self.client.unanswered().is_some() {
                        lock(&self.shared.health).problem = Some(problem.into());
                    }
                    self.retries.failed(id, envelope, Instant::now());
                }
            }
        }
        has_decrypted
    }

    /// Lets the plugin decrypt the seed of `envelope`.
    async fn decrypted(&self, envelope: &Envelope) -> Result<DataKey, String> {
        self.shared.observer.observe(&EncryptionEvent::KeyMissed);
        let (source, annotations) = envelope.source();
        let request = DecryptRequest {
            ciphertext: source.to_vec(),
            uid: uid(),
            key_id: envelope.key_id().to_owned(),
            annotations: annotations.clone(),
        };
        let answer: Result<DecryptResponse, _> = self.client.call(DECRYPT, request).await;
        let answer = answer.map_err(|status| problem_of(&status))?;
        let key = DataKey::new(&answer.plaintext, envelope.has_seed());
        key.ok_or_else(|| "the decrypted key has an unexpected length".to_owned())
    }
}

/// The time of the next request for the status, which does not depend on other requests.
fn next_status(health: &KmsHealth) -> Instant {
    let interval = match health.problem {
        None => HEALTHY,
        Some(_) => FAILING,
    };
    health.at.map_or_else(Instant::now, |at| at + interval)
}

/// Identifies a request in the logs of the plugin.
fn uid() -> String {
    random::bytes::<16>()
        .map(|bytes| hex::encode(&bytes))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_status_depends_on_the_last_one_alone() {
        let at = Instant::now();
        let mut health = KmsHealth {
            problem: None,
            at: Some(at),
        };
        assert_eq!(next_status(&health), at + HEALTHY);
        health.problem = Some("it is sealed".into());
        assert_eq!(next_status(&health), at + FAILING);
        health.at = None;
        assert!(next_status(&health) <= Instant::now());
    }
}
