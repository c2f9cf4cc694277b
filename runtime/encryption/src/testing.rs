//! A plugin for tests, version 2 of the interface, on a socket of its own.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use bytes::{BufMut as _, Bytes, BytesMut};
use futures_util::stream::{self, Iter};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use tokio::net::UnixListener;
use tokio::sync::oneshot;

use crate::kms::protocol::{
    DECRYPT, DecryptRequest, DecryptResponse, ENCRYPT, EncryptRequest, EncryptResponse, STATUS, StatusResponse,
};

/// A running plugin. It "encrypts" by reversing bytes, with the name of its key in an annotation. Dropping it ends it, as a kill
/// does: connections break off.
#[derive(Debug)]
pub struct Plugin {
    socket: PathBuf,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct State {
    key: Mutex<String>,
    healthz: Mutex<String>,
    calls: AtomicUsize,
    /// Number of requests to decrypt that are refused next.
    refusals: AtomicUsize,
}

/// The annotation with the name of the key.
const ANNOTATION: &str = "key.plugin.example.com";

impl Plugin {
    /// Starts a plugin on `socket` whose key is `key`.
    ///
    /// # Panics
    ///
    /// The socket cannot be opened.
    #[must_use]
    pub fn start(socket: &Path, key: &str) -> Self {
        let state = Arc::new(State {
            key: Mutex::new(key.to_owned()),
            healthz: Mutex::new("ok".to_owned()),
            calls: AtomicUsize::default(),
            refusals: AtomicUsize::default(),
        });
        // A plugin that was killed leaves its file.
        let _ = std::fs::remove_file(socket);
        let (stop, stopped) = oneshot::channel();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let (path, served) = (socket.to_owned(), Arc::clone(&state));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime starts").block_on(async move {
                let listener = UnixListener::bind(path).expect("the socket is free");
                ready.send(()).expect("the test waits");
                tokio::select! {
                    () = serve(listener, served) => {}
                    _ = stopped => {}
                }
            });
        });
        is_ready.recv().expect("the plugin starts");
        Self {
            socket: socket.to_owned(),
            state,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// The endpoint in a configuration.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    /// Encrypts with `key` from now on.
    pub fn rotate(&self, key: &str) {
        key.clone_into(&mut self.state.key.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Reports this state from now on.
    pub fn report(&self, healthz: &str) {
        healthz.clone_into(&mut self.state.healthz.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Refuses to decrypt for the next `count` requests.
    pub fn refuse(&self, count: usize) {
        self.state.refusals.store(count, Ordering::Relaxed);
    }

    /// Number of calls that encrypted or decrypted.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.state.calls.load(Ordering::Relaxed)
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the plugin is the test's failure already.
            let _ = thread.join();
        }
    }
}

async fn serve(listener: UnixListener, state: Arc<State>) {
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(request, Arc::clone(&state)));
            let http = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            // The client may break off.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

type Body = StreamBody<Iter<std::vec::IntoIter<Result<Frame<Bytes>, Infallible>>>>;

async fn answer(request: Request<Incoming>, state: Arc<State>) -> Result<Response<Body>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request
        .into_body()
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let message = body.get(5..).unwrap_or_default();
    let answered = match path.as_str() {
        STATUS => Some(status(&state)),
        ENCRYPT => encrypt(&state, message),
        DECRYPT => decrypt(&state, message),
        _ => None,
    };
    let mut trailers = HeaderMap::new();
    let code = if answered.is_some() { "0" } else { "3" };
    trailers.insert("grpc-status", HeaderValue::from_static(code));
    let mut frames = Vec::new();
    if let Some(message) = answered {
        let mut framed = BytesMut::new();
        framed.put_u8(0);
        framed.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
        framed.extend_from_slice(&message);
        frames.push(Ok(Frame::data(framed.freeze())));
    }
    frames.push(Ok(Frame::trailers(trailers)));
    let mut response = Response::new(StreamBody::new(stream::iter(frames)));
    let media_type = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert(http::header::CONTENT_TYPE, media_type);
    Ok(response)
}

fn key_of(state: &State) -> String {
    state.key.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn status(state: &State) -> Vec<u8> {
    let healthz = state.healthz.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let response = StatusResponse {
        version: "v2".to_owned(),
        healthz,
        key_id: key_of(state),
    };
    response.encode_to_vec()
}

fn encrypt(state: &State, message: &[u8]) -> Option<Vec<u8>> {
    state.calls.fetch_add(1, Ordering::Relaxed);
    let request = EncryptRequest::decode(message).ok()?;
    let key = key_of(state);
    let response = EncryptResponse {
        ciphertext: request.plaintext.into_iter().rev().collect(),
        annotations: BTreeMap::from([(ANNOTATION.to_owned(), key.clone().into_bytes())]),
        key_id: key,
    };
    Some(response.encode_to_vec())
}

fn decrypt(state: &State, message: &[u8]) -> Option<Vec<u8>> {
    state.calls.fetch_add(1, Ordering::Relaxed);
    let request = DecryptRequest::decode(message).ok()?;
    let refuse = |left: usize| left.checked_sub(1);
    let refusals = &state.refusals;
    if refusals
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, refuse)
        .is_ok()
    {
        return None;
    }
    let named = request.annotations.get(ANNOTATION)?;
    if *named != request.key_id.into_bytes() {
        return None;
    }
    let response = DecryptResponse {
        plaintext: request.ciphertext.into_iter().rev().collect(),
    };
    Some(response.encode_to_vec())
}
