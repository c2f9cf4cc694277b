//! A minimal server that sends the same bytes: the cost of the machine, TLS and HTTP/2 alone.
//!
//! It stores no objects, validates nothing and knows no kinds. A read returns preset bytes. A write is appended to a file, made
//! durable together with all other waiting writes, and sent to all watchers.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio_rustls::TlsAcceptor;

/// The path prefix under which a PUT sets the response to a GET of the remaining path.
pub(crate) const MIRROR: &str = "/-/mirror";

/// The maximum number of undelivered events per watcher.
const BACKLOG: usize = 4096;

/// The maximum number of writes that become durable together.
const GROUP: usize = 1024;

/// Serves preset bytes on a free port until the parent process ends.
#[derive(Debug, clap::Args)]
pub(crate) struct LimitServer {
    /// The port; 0 selects a free one.
    #[arg(long, default_value_t = 0)]
    secure_port: u16,
    /// The address to listen on.
    #[arg(long, default_value = "127.0.0.1")]
    bind_address: String,
    /// The folder for the file of writes.
    #[arg(long)]
    data_dir: PathBuf,
    /// Accepted for compatibility with other servers, and ignored: all requests are allowed.
    #[arg(long)]
    token_auth_file: Option<PathBuf>,
}

#[derive(Clone, Debug)]
struct Limit {
    answers: Arc<RwLock<HashMap<String, Bytes>>>,
    writes: mpsc::Sender<(Bytes, oneshot::Sender<()>)>,
    events: broadcast::Sender<Bytes>,
}

impl LimitServer {
    pub(crate) fn run(&self) -> Result<()> {
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(self.serve())
    }

    async fn serve(&self) -> Result<()> {
        std::fs::create_dir_all(&self.data_dir)?;
        let file = File::create(self.data_dir.join("writes"))?;
        let (writes, queue) = mpsc::channel(GROUP);
        let (events, _) = broadcast::channel(BACKLOG);
        std::thread::spawn(move || commit(file, queue));
        let limit = Limit {
            answers: Arc::default(),
            writes,
            events,
        };
        let service = TowerToHyperService::new(Router::new().fallback(answer).with_state(limit));

        let acceptor = acceptor()?;
        let listener = TcpListener::bind((self.bind_address.as_str(), self.secure_port)).await?;
        // The same format as the measured server, from which the address is read.
        println!("serving\n  at     https://{}", listener.local_addr()?);
        let parent = std::os::unix::process::parent_id();
        let mut orphaned = tokio::time::interval(Duration::from_secs(1));
        loop {
            let (stream, _) = tokio::select! {
                accepted = listener.accept() => accepted?,
                _ = orphaned.tick() => {
                    if std::os::unix::process::parent_id() == parent {
                        continue;
                    }
                    return Ok(());
                }
            };
            stream.set_nodelay(true)?;
            let (acceptor, service) = (acceptor.clone(), service.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let builder = auto::Builder::new(TokioExecutor::new());
                // A disconnecting client is not an error for a server without state.
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }
}

fn acceptor() -> Result<TlsAcceptor> {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let mut tls = rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)?;
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(tls)))
}

async fn answer(State(limit): State<Limit>, request: Request) -> Response {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    if request.method() == Method::GET {
        if path.contains("watch=1") {
            return json(StatusCode::OK, Body::from_stream(watch(limit.events.subscribe())));
        }
        let known = limit.answers.read().expect("no holder panics").get(path).cloned();
        return json(
            StatusCode::OK,
            Body::from(known.unwrap_or_else(|| Bytes::from_static(NONE))),
        );
    }
    let mirrored = path.strip_prefix(MIRROR).map(str::to_owned);
    let created = request.method() == Method::POST;
    let Ok(body) = request.into_body().collect().await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let body = body.to_bytes();
    if let Some(path) = mirrored {
        limit.answers.write().expect("no holder panics").insert(path, body);
        return StatusCode::OK.into_response();
    }
    match limit.write(&body).await {
        Ok(()) if created => json(StatusCode::CREATED, Body::from(body)),
        Ok(()) => json(StatusCode::OK, Body::from(body)),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The response for a path without preset bytes: sufficient to start a watch.
const NONE: &[u8] = br#"{"metadata":{"resourceVersion":"1"}}"#;

impl Limit {
    async fn write(&self, body: &Bytes) -> Result<()> {
        let (done, durable) = oneshot::channel();
        self.writes
            .send((body.clone(), done))
            .await
            .context("the writer has ended")?;
        durable.await?;
        if self.events.receiver_count() > 0 {
            let event = [b"{\"type\":\"ADDED\",\"object\":", &body[..], b"}\n"].concat();
            // Sending fails only if the last watcher has just disconnected.
            let _ = self.events.send(event.into());
        }
        Ok(())
    }
}

/// Appends the waiting writes, makes them durable in one step, and notifies all writers.
fn commit(mut file: File, mut queue: mpsc::Receiver<(Bytes, oneshot::Sender<()>)>) {
    let (mut group, mut bytes) = (Vec::new(), Vec::new());
    while queue.blocking_recv_many(&mut group, GROUP) > 0 {
        bytes.clear();
        group.iter().for_each(|(body, _)| bytes.extend_from_slice(body));
        if file.write_all(&bytes).and_then(|()| file.sync_data()).is_err() {
            // Dropping the channels notifies the writers.
            group.clear();
        }
        for (_, done) in group.drain(..) {
            let _ = done.send(());
        }
    }
}

fn watch(events: broadcast::Receiver<Bytes>) -> impl stream::Stream<Item = Result<Bytes, std::convert::Infallible>> {
    stream::unfold(events, async |mut events| {
        let event = events.recv().await.ok()?;
        Some((Ok(event), events))
    })
}

fn json(status: StatusCode, body: Body) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}
