//! Requests to the plugin over its socket.

use std::cell::Cell;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Uri;
use http::uri::PathAndQuery;
use hyper_util::rt::TokioIo;
use planesmith_machinery::go_grpc::code_name;
use prost::Message;
use tokio::net::UnixStream;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

use crate::observer::{EncryptionEvent, Observer};
use crate::validation::KmsSettings;

/// Maximum bytes of an answer: seeds and annotations have limits of their own.
const LIMIT: usize = 1 << 20;

/// A client of one plugin. It connects with the first request, and again after a loss.
pub(super) struct Client {
    name: String,
    grpc: Grpc<Channel>,
    timeout: Duration,
    observer: Arc<dyn Observer>,
    /// The time of the last call, if the plugin did not answer it.
    unanswered: Cell<Option<Instant>>,
}

impl Client {
    /// Returns the client of a plugin. Call it on the runtime that performs the requests.
    pub(super) fn new(settings: &KmsSettings, observer: Arc<dyn Observer>) -> Self {
        let socket = settings.socket.clone();
        let connect = move |_: Uri| {
            let socket: PathBuf = socket.clone();
            async move { io::Result::Ok(TokioIo::new(UnixStream::connect(socket).await?)) }
        };
        // A host is needed for the header only.
        let origin = Uri::from_static("http://localhost");
        let channel = Endpoint::from(origin.clone()).connect_with_connector_lazy(tower::service_fn(connect));
        Self {
            name: settings.name.clone(),
            grpc: Grpc::with_origin(channel, origin).max_decoding_message_size(LIMIT),
            timeout: settings.timeout,
            observer,
            unanswered: Cell::default(),
        }
    }

    /// Calls the method at `path`.
    pub(super) async fn call<Q, A>(&self, path: &'static str, request: Q) -> Result<A, Status>
    where
        Q: Message + Send + Sync + 'static,
        A: Message + Default + Send + Sync + 'static,
    {
        let begin = Instant::now();
        let answered = tokio::time::timeout(self.timeout, self.unary(path, request)).await;
        let answered = answered.unwrap_or_else(|_| {
            Err(Status::deadline_exceeded(format!(
                "the plugin did not answer within {:?}",
                self.timeout
            )))
        });
        let code = match &answered {
            Ok(_) => Code::Ok,
            Err(status) => status.code(),
        };
        let is_unanswered = matches!(code, Code::Unavailable | Code::DeadlineExceeded);
        self.unanswered.set(is_unanswered.then(Instant::now));
        self.observer.observe(&EncryptionEvent::PluginCalled {
            provider: &self.name,
            method: path,
            code: code_name(code.into()),
            took: begin.elapsed(),
        });
        answered
    }

    /// Time since the last call, if the plugin did not answer it.
    pub(super) fn unanswered(&self) -> Option<Duration> {
        self.unanswered.get().map(|at| at.elapsed())
    }

    async fn unary<Q, A>(&self, path: &'static str, request: Q) -> Result<A, Status>
    where
        Q: Message + Send + Sync + 'static,
        A: Message + Default + Send + Sync + 'static,
    {
        let mut grpc = self.grpc.clone();
        let ready = grpc.ready().await;
        ready.map_err(|error| Status::unavailable(reason_of(&error)))?;
        let path = PathAndQuery::from_static(path);
        let answer = grpc.unary(Request::new(request), path, ProstCodec::default()).await?;
        Ok(answer.into_inner())
    }
}

/// The error with its causes.
fn reason_of(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    let causes = causes.map(|cause| format!(": {cause}"));
    format!("{error}{}", causes.collect::<String>())
}

/// The problem of an answer, for people.
pub(super) fn problem_of(status: &Status) -> String {
    let source = std::error::Error::source(status).map(reason_of);
    let message = match status.message() {
        "" => code_name(status.code().into()).to_owned(),
        message => message.to_owned(),
    };
    match source.filter(|source| !message.contains(source.as_str())) {
        Some(source) => format!("{message}: {source}"),
        None => message,
    }
}
