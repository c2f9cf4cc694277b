//! The store of a running server over HTTP: non-resource paths, for each of which a user needs the right.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use axum::routing::{MethodRouter, any};
use bytes::Bytes;
use futures_util::stream;
use http::header::WARNING;
use http::request::Parts;
use http::{HeaderValue, Method, Request, StatusCode};
use planesmith_machinery::clock::Clock;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::chain::ApiServer;
use planesmith_server::request::Query;
use planesmith_server::response;
use planesmith_server::stores::{RegistryCodec, Stores};
use planesmith_store::log::{Change, Record};
use planesmith_store::{
    BackupEncoder, BackupHeader, Draft, Revision, Rewritten, Storage, StorageContent, TransformError, is_encrypted,
};
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::options::Options;
use crate::storage::StorePlace;
use planesmith_server::task;

/// The path of a backup: GET.
pub(crate) const BACKUP: &str = "/planesmith/store/backup";
/// The path of the state of the store: GET.
pub(crate) const STATUS: &str = "/planesmith/store/status";
/// The path that forgets history: POST, with the parameter `revision`.
pub(crate) const COMPACT: &str = "/planesmith/store/compact";

/// The path that writes objects anew that are stored in an earlier form: POST, again and again until nothing is left.
pub(crate) const REENCRYPT: &str = "/planesmith/store/reencrypt";

/// Time after which a request answers how much is left.
const REENCRYPT_STEP: Duration = Duration::from_secs(1);

/// Maximum number of backups at the same time. Each keeps the objects that are replaced meanwhile in memory.
const BACKUPS: usize = 2;

/// Time after which a backup ends whose client does not read.
const STALLED: Duration = Duration::from_secs(120);

/// Pieces of a backup that wait for the client, of 256 KiB or one object.
const AHEAD: usize = 2;

/// Maximum number of keys in a warning.
const NAMED: usize = 10;

/// Bytes of a piece.
const CHUNK_SIZE: usize = 256 << 10;

/// The parts of a server that the paths show.
#[derive(Debug)]
struct StoreApi {
    program: &'static str,
    place: String,
    storage: Storage,
    codec: RegistryCodec,
    clock: Arc<dyn Clock>,
    history: Duration,
    backups: Arc<Semaphore>,
}

/// Adds the paths of the store of `stores`, which is at `place`, to `server`.
pub(crate) fn with_store_api(
    server: ApiServer,
    program: &'static str,
    (options, place): (&Options, &StorePlace),
    stores: &Stores,
) -> ApiServer {
    let api = Arc::new(StoreApi {
        program,
        place: place.description.clone(),
        storage: stores.storage().clone(),
        codec: RegistryCodec::new(stores.scheme()),
        clock: Arc::clone(&options.clock),
        history: options.history.store_history_age,
        backups: Arc::new(Semaphore::new(BACKUPS)),
    });
    let (backup, status, reencrypt, compact) = (Arc::clone(&api), Arc::clone(&api), Arc::clone(&api), api);
    server
        .with_unlisted_path(REENCRYPT, route(Method::POST, move |_| reencrypt.clone().reencrypt()))
        .with_unlisted_path(BACKUP, route(Method::GET, move |_| backup.clone().backup()))
        .with_unlisted_path(STATUS, route(Method::GET, move |_| status.clone().status()))
        .with_unlisted_path(
            COMPACT,
            route(Method::POST, move |request| {
                compact.clone().compact(revision_of(&request))
            }),
        )
}

/// Serves one method.
fn route<F>(method: Method, answer: impl Fn(Parts) -> F + Clone + Send + Sync + 'static) -> MethodRouter
where
    F: Future<Output = ApiResult<Response>> + Send + 'static,
{
    any(move |request: Request<Body>| {
        let (request, _) = request.into_parts();
        let (method, answer) = (method.clone(), answer.clone());
        async move {
            if request.method != method {
                return response::failure(&request, &ApiError::method_not_allowed());
            }
            let answered = answer(request.clone()).await;
            answered.unwrap_or_else(|error| response::failure(&request, &error))
        }
    })
}

/// The parameter `revision`.
fn revision_of(request: &Parts) -> ApiResult<Option<Revision>> {
    let query = Query::new(request.uri.query().unwrap_or_default());
    let Some(text) = query.first("revision") else {
        return Ok(None);
    };
    let revision = text.parse().map(Some);
    revision.map_err(|_| ApiError::bad_request(format!("the parameter revision is {text:?}; expected a number")))
}

impl StoreApi {
    async fn status(self: Arc<Self>) -> ApiResult<Response> {
        let api = Arc::clone(&self);
        let amount = blocking(move || api.storage.amount()).await?;
        let storage = &self.storage;
        let alarms = storage.alarms().into_iter().map(|alarm| {
            let since = alarm.since.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            json!({"kind": alarm.kind.name(), "reason": alarm.reason, "sinceSeconds": since.as_secs()})
        });
        Ok(answer(&json!({
            "running": true,
            "program": self.program,
            "place": self.place,
            "revision": storage.revision().0,
            "oldestRevision": storage.oldest().0,
            "historySeconds": self.history.as_secs(),
            "objects": amount.objects,
            "bytes": amount.bytes,
            "diskBytes": storage.stats().disk_bytes,
            "alarms": alarms.collect::<Vec<_>>(),
        })))
    }

    async fn compact(self: Arc<Self>, revision: ApiResult<Option<Revision>>) -> ApiResult<Response> {
        let storage = &self.storage;
        let before = storage.stats().disk_bytes;
        let newest = storage.revision();
        let revision = revision?.unwrap_or(newest);
        if revision > newest {
            return Err(ApiError::bad_request(format!(
                "the parameter revision is {revision}; expected {newest} at most, the newest revision"
            )));
        }
        if !storage.compact_fully(revision).await {
            let alarms: Vec<String> = storage.alarms().iter().map(ToString::to_string).collect();
            return Err(ApiError::internal(format!(
                "the store was not compacted: {}",
                alarms.join("; ")
            )));
        }
        Ok(answer(&json!({
            "revision": storage.revision().0,
            "oldestRevision": storage.oldest().0,
            "diskBytesBefore": before,
            "diskBytes": storage.stats().disk_bytes,
        })))
    }

    async fn reencrypt(self: Arc<Self>) -> ApiResult<Response> {
        let storage = self.storage.clone();
        let mut stale = blocking(move || storage.stale_objects()).await?;
        let begin = Instant::now();
        let mut done = Rewritten::default();
        while begin.elapsed() < REENCRYPT_STEP {
            let step = stale.step().await;
            match step.map_err(|error| ApiError::internal(error.to_string()))? {
                Some(step) => {
                    done.objects += step.objects;
                    done.bytes += step.bytes;
                }
                None => break,
            }
        }
        Ok(answer(&json!({
            "objects": done.objects,
            "bytes": done.bytes,
            "left": stale.left(),
            "unreadable": stale.unreadable(),
        })))
    }

    async fn backup(self: Arc<Self>) -> ApiResult<Response> {
        let permit = Arc::clone(&self.backups).try_acquire_owned();
        let permit = permit.map_err(|_| ApiError::overloaded())?;
        let api = Arc::clone(&self);
        let (content, undecrypted) = blocking(move || api.content()).await??;
        let pieces = Pieces::new(self, content);
        let (sender, receiver) = mpsc::channel(AHEAD);
        let is_complete = Arc::new(AtomicBool::new(false));
        task::spawn(pieces.send(sender, Arc::clone(&is_complete), permit));
        let body = Body::from_stream(stream::unfold(
            (receiver, is_complete),
            |(mut receiver, is_complete)| async move {
                match receiver.recv().await {
                    Some(piece) => Some((Ok(piece), (receiver, is_complete))),
                    None if is_complete.load(Ordering::Acquire) => None,
                    // Without its end no reader takes it for a backup; the connection breaks off, too.
                    None => Some((
                        Err(io::Error::other("the backup was not read in time")),
                        (receiver, is_complete),
                    )),
                }
            },
        ));
        let media_type = "application/vnd.planesmith.backup";
        let mut response = response::stream(StatusCode::OK, media_type, body);
        if let Some(warning) = warning_of(&undecrypted) {
            response.headers_mut().insert(WARNING, warning);
        }
        Ok(response)
    }

    /// The whole content in canonical bytes, encrypted where the store has encrypted objects, and the keys of objects that cannot be
    /// decrypted: these are as they are stored. Takes milliseconds for each ten thousand objects.
    fn content(&self) -> ApiResult<(StorageContent, Vec<Arc<str>>)> {
        let refused = |error: TransformError| ApiError::internal(format!("a backup needs encrypted objects: {error}"));
        let content = self.storage.content();
        let content = content.map_err(|error| ApiError::service_unavailable(error.to_string()))?;
        let mut undecrypted: Vec<_> = content.undecrypted().map(Arc::from).collect();
        let mut failure = None;
        let content = match self.storage.is_shared() {
            true => content.with_unopened(|record| match self.canonical(&record) {
                Ok(Some(canonical)) => canonical,
                Ok(None) => {
                    undecrypted.push(Arc::clone(&record.key));
                    record
                }
                Err(error) => {
                    failure = Some(error);
                    record
                }
            }),
            false => content,
        };
        let content = match failure {
            Some(error) => Err(error),
            None => self.storage.sealed(content),
        };
        Ok((content.map_err(refused)?, undecrypted))
    }

    /// The object of `record`, which a store in which others write has in its own encoding, in canonical bytes; encrypted if a write
    /// would encrypt it. `None` if it cannot be decrypted.
    fn canonical(&self, record: &Record) -> Result<Option<Record>, TransformError> {
        let Ok(plain) = self.storage.open_value(&record.key, &record.bytes) else {
            return Ok(None);
        };
        // Not every cipher notices that its key is a wrong one.
        if is_encrypted(&record.bytes) && !self.codec.is_object(&record.key, &plain) {
            return Ok(None);
        }
        let canonical = self.codec.decode(&record.key, &plain);
        let sealed = self.storage.seal_value(&record.key, &canonical.bytes)?;
        let draft = match canonical.gap {
            Some(gap) => Draft::new(canonical.bytes, gap),
            None => Draft::gapless(canonical.bytes),
        };
        let record = record.clone().with_object(draft);
        Ok(Some(match sealed {
            Some(bytes) => Record { bytes, ..record },
            None => record,
        }))
    }
}

/// The header for a backup with objects that cannot be decrypted; logs all of them.
fn warning_of(undecrypted: &[Arc<str>]) -> Option<HeaderValue> {
    for key in undecrypted {
        tracing::warn!(
            key = &**key,
            "a backup has an object that cannot be decrypted, as it is stored"
        );
    }
    let named: Vec<&str> = undecrypted.iter().take(NAMED).map(|key| &**key).collect();
    let more = match undecrypted.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more, which the server's log names"),
    };
    let text = format!(
        "{} objects cannot be decrypted and are in the backup as they are stored: {}{more}",
        undecrypted.len(),
        named.join(", ")
    );
    // A key with characters that a header cannot have is in the log.
    let header = HeaderValue::try_from(format!("299 - \"{text}\"")).ok()?;
    (!undecrypted.is_empty()).then_some(header)
}

/// A backup that is encoded piece by piece.
struct Pieces {
    api: Arc<StoreApi>,
    content: StorageContent,
    encoder: BackupEncoder,
    /// The next object.
    next: usize,
    /// The time of the backup, in milliseconds since 1970.
    at: u64,
}

impl Pieces {
    fn new(api: Arc<StoreApi>, content: StorageContent) -> Self {
        let at = api.clock.unix_millis();
        let encoder = BackupEncoder::new(&BackupHeader {
            revision: content.revision(),
            at,
            program: api.program.to_owned(),
            objects: content.len() as u64,
            bytes: content.bytes(),
            has_encrypted: content.has_encrypted(),
        });
        Self {
            api,
            content,
            encoder,
            next: 0,
            at,
        }
    }

    /// Passes on all pieces, unless the client does not read or is gone. Then the objects are freed.
    async fn send(mut self, sender: mpsc::Sender<Bytes>, is_complete: Arc<AtomicBool>, permit: OwnedSemaphorePermit) {
        let _permit = permit;
        while self.next < self.content.len() {
            let piece = self.piece();
            let sent = tokio::time::timeout(STALLED, sender.send(piece)).await;
            match sent {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return,
                Err(_) => {
                    tracing::warn!(
                        objects = self.next,
                        of = self.content.len(),
                        "a backup was given up: its client does not read"
                    );
                    return;
                }
            }
        }
        let end = self.encoder.finish();
        if let Ok(Ok(())) = tokio::time::timeout(STALLED, sender.send(end.into())).await {
            is_complete.store(true, Ordering::Release);
        }
    }

    fn piece(&mut self) -> Bytes {
        while self.encoder.pending() < CHUNK_SIZE
            && let Some(record) = self.content.get(self.next)
        {
            self.next += 1;
            self.encoder.push(&self.with_expiry(record));
        }
        self.encoder.take().into()
    }

    /// In a store in which others write, the time at which an object expires is not known here: it is the longest possible one.
    fn with_expiry(&self, record: Record) -> Record {
        let ttl = self.api.codec.ttl(&record.key).filter(|_| self.api.storage.is_shared());
        let Some(ttl) = ttl else {
            return record;
        };
        let expires = self
            .at
            .saturating_add(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
        Record {
            change: Change::Put { expires },
            ..record
        }
    }
}

/// Runs `work`, which takes milliseconds for each ten thousand objects, outside of the runtime's workers.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> ApiResult<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ApiError::internal(error.to_string()))
}

fn answer(document: &serde_json::Value) -> Response {
    response::bytes(StatusCode::OK, "application/json", format!("{document}\n"))
}
