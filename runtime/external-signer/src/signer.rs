//! The signer: its keys, which are read again when it says so, and its tokens.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use arc_swap::ArcSwap;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use planesmith_access::authentication::service_account::{ExternalSigner, PublicKey};
use planesmith_control_plane::service_accounts::TokenSigner;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::go_grpc::code_name;
use planesmith_server::metrics::ExternalSignerMetrics;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tonic::Status;

use crate::client::{Client, problem_of};
use crate::protocol::{
    FETCH_KEYS, FetchKeysRequest, FetchKeysResponse, METADATA, MetadataRequest, MetadataResponse, SIGN, SignRequest,
    SignResponse,
};
use crate::token_header::{MAX_KEY_ID, key_id_of};

/// Time in which the signer must return its keys or a token.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Time in which it must return its limits.
const METADATA_TIMEOUT: Duration = Duration::from_secs(10);
/// Time until keys that could not be read are read again.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);
/// The shortest time between two reads that succeed.
const MIN_REFRESH_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time until keys are read again, whatever the signer hints: later instants may not exist.
const MAX_REFRESH_INTERVAL: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// The shortest time between two reads because of unknown keys: any client can name one in a token without a valid signature.
const UNKNOWN_KEY_INTERVAL: Duration = Duration::from_secs(2);
/// Time in which a request with an unknown key waits for the keys.
const UNKNOWN_KEY_TIMEOUT: Duration = Duration::from_secs(5);
/// The shortest lifetime that its tokens must be able to have: that which requests for tokens may ask for.
const MIN_LIFETIME: i64 = 10 * 60;
/// The code of a failure that is not the signer's, in metrics.
const OWN_FAILURE: &str = "unknown-non-grpc";

/// A signer; cheap to clone.
#[derive(Clone)]
pub(crate) struct Signer(Arc<State>);

struct State {
    client: Client,
    metrics: Arc<ExternalSignerMetrics>,
    keys: ArcSwap<VerificationKeys>,
    /// The last read of keys, for all that wait for one.
    last_read: Mutex<Option<Read>>,
    /// The time of the last read because of an unknown key.
    last_unknown: Mutex<Option<Instant>>,
    /// The runtime of the reads. A client that disconnects does not suspend them.
    runtime: Handle,
}

/// A read of keys that has begun.
struct Read {
    task: AbortHandle,
    result: Fetch,
}

type Fetch = Shared<BoxFuture<'static, Result<(), String>>>;

/// The keys as they were read last.
struct VerificationKeys {
    keys: Arc<[PublicKey]>,
    /// The time at which they are to be read again.
    next: Instant,
}

/// The problem of a call of the signer.
struct Problem {
    message: String,
    /// The code for metrics.
    code: &'static str,
}

impl From<Status> for Problem {
    fn from(status: Status) -> Self {
        Self {
            message: problem_of(&status),
            code: code_name(status.code().into()),
        }
    }
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        let code = OWN_FAILURE;
        Self { message, code }
    }
}

impl Read {
    /// The result of a read that has not ended. Its task tells: nobody may have polled the result.
    fn under_way(&self) -> Option<Fetch> {
        (!self.task.is_finished()).then(|| self.result.clone())
    }
}

impl Signer {
    /// Reads the keys and the limits of the signer at `socket`, and follows its keys while it is used. Call it on the runtime that
    /// keeps the connection.
    pub(crate) async fn open(socket: &Path, metrics: Arc<ExternalSignerMetrics>) -> Result<TokenSigner> {
        let signer = Self(Arc::new(State {
            client: Client::new(socket, Arc::clone(&metrics)),
            metrics,
            keys: ArcSwap::from_pointee(VerificationKeys {
                keys: Arc::default(),
                next: Instant::now(),
            }),
            last_read: Mutex::default(),
            last_unknown: Mutex::default(),
            runtime: Handle::current(),
        }));
        let filled = signer.read().await.map_err(|problem| anyhow!(problem));
        filled
            .context("while performing initial cache fill")
            .context("while initially filling key cache")?;
        let limits: Result<MetadataResponse, _> = signer
            .0
            .client
            .call(METADATA, MetadataRequest {}, METADATA_TIMEOUT)
            .await;
        let seconds = limits
            .map_err(|status| anyhow!(problem_of(&status)))?
            .max_token_expiration_seconds;
        ensure!(
            seconds >= MIN_LIFETIME,
            "max token life supported by external-jwt-signer ({seconds}s) is less than acceptable (min {MIN_LIFETIME}s)"
        );
        tokio::spawn(follow(Arc::downgrade(&signer.0)));
        Ok(TokenSigner {
            signer: Arc::new(signer),
            max_lifetime: Duration::from_secs(seconds.unsigned_abs()),
        })
    }

    /// Reads the keys, or waits for those that are being read already. The read ends even if the future is dropped.
    fn fetch(&self) -> Fetch {
        let mut last = self.0.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = last.as_ref().and_then(Read::under_way) {
            return result;
        }
        let this = self.clone();
        let read: BoxFuture<'static, Result<(), String>> = Box::pin(async move {
            let read = this.read().await;
            if let Err(problem) = &read {
                tracing::error!(
                    problem,
                    "the keys of the external signer of tokens cannot be read, those read last stay"
                );
            }
            read
        });
        let task = self.0.runtime.spawn(read);
        let abort = task.abort_handle();
        let result: BoxFuture<'static, _> =
            Box::pin(async move { task.await.unwrap_or_else(|error| Err(error.to_string())) });
        let result = result.shared();
        *last = Some(Read {
            task: abort,
            result: result.clone(),
        });
        result
    }

    /// Like `fetch`, for a key that an unverified token names. `None` if such a read began a moment ago and has ended.
    fn fetch_unknown(&self) -> Option<Fetch> {
        let last = self.0.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = last.as_ref().and_then(Read::under_way) {
            return Some(result);
        }
        drop(last);
        let mut last = self.0.last_unknown.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|begin| begin.elapsed() < UNKNOWN_KEY_INTERVAL) {
            return None;
        }
        *last = Some(Instant::now());
        Some(self.fetch())
    }

    /// Reads the keys, and counts this.
    async fn read(&self) -> Result<(), String> {
        let fetched = self.fetched().await;
        let code = fetched
            .as_ref()
            .map_or_else(|problem| problem.code, |()| code_name(tonic::Code::Ok.into()));
        self.0.metrics.fetched(code);
        fetched.map_err(|problem| format!("while fetching token verification keys: {}", problem.message))
    }

    async fn fetched(&self) -> Result<(), Problem> {
        let answer: Result<FetchKeysResponse, _> = self.0.client.call(FETCH_KEYS, FetchKeysRequest {}, TIMEOUT).await;
        let answer = answer.map_err(|status| {
            let problem = Problem::from(status);
            let message = format!(
                "while getting externally supported jwt signing keys: {}",
                problem.message
            );
            Problem { message, ..problem }
        })?;
        let (keys, data_time) = checked(&answer)?;
        let hint = Duration::from_secs(answer.refresh_hint_seconds.unsigned_abs());
        let next = Instant::now() + hint.min(MAX_REFRESH_INTERVAL);
        self.0.keys.store(Arc::new(VerificationKeys { keys, next }));
        self.0.metrics.keys_of(data_time);
        Ok(())
    }

    async fn signed(self, claims: String) -> Result<String, Problem> {
        let request = SignRequest { claims: claims.clone() };
        let answer: Result<SignResponse, _> = self.0.client.call(SIGN, request, TIMEOUT).await;
        let answer = answer.map_err(|status| {
            let problem = Problem::from(status);
            let message = format!("while signing jwt: {}", problem.message);
            Problem { message, ..problem }
        })?;
        let checked = self.check_header(&answer.header).await;
        checked.map_err(|problem| format!("while validating header: {problem}"))?;
        if answer.signature.is_empty() {
            return Err("empty signature returned".to_owned().into());
        }
        Ok(format!("{}.{claims}.{}", answer.header, answer.signature))
    }

    /// Checks the first part of a token, and that clients learn of its key.
    async fn check_header(&self, header: &str) -> Result<(), String> {
        let id = key_id_of(header)?;
        if self.keys().iter().all(|key| key.id() != id) {
            // The signer itself names the key, so that this read needs no limit. It logs its failure.
            let _ = self.fetch().await;
        }
        match self.keys().iter().any(|key| key.id() == id && !key.is_published()) {
            true => Err(format!(
                "key used for signing JWT (kid: {id}) is excluded from OIDC discovery docs"
            )),
            false => Ok(()),
        }
    }
}

/// Reads the keys again whenever their time has come, while the signer is used.
async fn follow(state: std::sync::Weak<State>) {
    loop {
        let Some(signer) = state.upgrade().map(Signer) else {
            return;
        };
        let next = signer.0.keys.load().next;
        drop(signer);
        tokio::time::sleep_until(next.into()).await;
        let Some(signer) = state.upgrade().map(Signer) else {
            return;
        };
        let pause = match signer.fetch().await {
            Ok(()) => MIN_REFRESH_INTERVAL,
            Err(_) => RETRY_INTERVAL,
        };
        drop(signer);
        tokio::time::sleep(pause).await;
    }
}

/// Checks an answer with keys. Returns the keys, and the time at which the signer read them, in Unix seconds.
fn checked(answer: &FetchKeysResponse) -> Result<(Arc<[PublicKey]>, f64), String> {
    if answer.refresh_hint_seconds <= 0 {
        return Err(format!("found invalid refresh hint ({}s)", answer.refresh_hint_seconds));
    }
    if answer.keys.is_empty() {
        return Err("found no keys".to_owned());
    }
    let read_at = answer
        .data_timestamp
        .ok_or("invalid data timestamp: proto: invalid nil Timestamp")?;
    if !(0..1_000_000_000).contains(&read_at.nanos) {
        return Err("invalid data timestamp: its nanoseconds are out of range".to_owned());
    }
    let keys = answer.keys.iter().map(|key| {
        if key.key_id.is_empty() || key.key_id.len() > MAX_KEY_ID {
            return Err(format!("found invalid public key id {}", quote(&key.key_id)));
        }
        if key.key.is_empty() {
            return Err("found empty public key".to_owned());
        }
        PublicKey::named(&key.key, &key.key_id, !key.exclude_from_oidc_discovery)
            .map_err(|error| format!("while parsing external public keys: {error}"))
    });
    let keys: Vec<PublicKey> = keys.collect::<Result<_, String>>()?;
    #[expect(clippy::cast_precision_loss, reason = "a metric")]
    let seconds = read_at.seconds as f64;
    Ok((keys.into(), seconds + f64::from(read_at.nanos) / 1e9))
}

impl ExternalSigner for Signer {
    fn sign(&self, claims: String) -> BoxFuture<'static, Result<String, String>> {
        let this = self.clone();
        Box::pin(async move {
            let metrics = Arc::clone(&this.0.metrics);
            let signed = this.signed(claims).await;
            metrics.signed(
                signed
                    .as_ref()
                    .map_or_else(|problem| problem.code, |_| code_name(tonic::Code::Ok.into())),
            );
            signed.map_err(|problem| problem.message)
        })
    }

    fn keys(&self) -> Arc<[PublicKey]> {
        Arc::clone(&self.0.keys.load().keys)
    }

    fn refresh(&self) -> BoxFuture<'static, ()> {
        let fetch = self.fetch_unknown();
        Box::pin(async move {
            if let Some(fetch) = fetch {
                // The read logs its failure, once for all that wait for it.
                let _ = tokio::time::timeout(UNKNOWN_KEY_TIMEOUT, fetch).await;
            }
        })
    }

    fn max_age(&self) -> Duration {
        self.0.keys.load().next.saturating_duration_since(Instant::now())
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer")
            .field("keys", &self.keys())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
