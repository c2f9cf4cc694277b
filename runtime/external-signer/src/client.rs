//! Calls of the signer over its socket.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Uri;
use http::uri::PathAndQuery;
use hyper_util::rt::TokioIo;
use planesmith_machinery::go_grpc::code_name;
use planesmith_server::metrics::ExternalSignerMetrics;
use prost::Message;
use tokio::net::UnixStream;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

/// Maximum bytes of an answer.
const MAX_ANSWER: usize = 4 << 20;
/// Time between two attempts to reach an unreachable signer.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// A client of one signer; cheap to clone. It connects with the first call, and again after a loss.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    grpc: Grpc<Channel>,
    metrics: Arc<ExternalSignerMetrics>,
}

impl Client {
    /// Returns the client of the signer at `socket`; a name that begins with `@` is an abstract one. Call it on the runtime that keeps
    /// the connection.
    pub(crate) fn new(socket: &Path, metrics: Arc<ExternalSignerMetrics>) -> Self {
        let socket = match socket.to_str().and_then(|name| name.strip_prefix('@')) {
            Some(name) => PathBuf::from(format!("\0{name}")),
            None => socket.to_owned(),
        };
        let connect = move |_: Uri| {
            let socket = socket.clone();
            async move { io::Result::Ok(TokioIo::new(UnixStream::connect(socket).await?)) }
        };
        // A host is needed for the header only.
        let origin = Uri::from_static("http://localhost");
        let channel = Endpoint::from(origin.clone()).connect_with_connector_lazy(tower::service_fn(connect));
        let grpc = Grpc::with_origin(channel, origin).max_decoding_message_size(MAX_ANSWER);
        Self { grpc, metrics }
    }

    /// Calls the method at `path`. While the signer is unreachable, the call is repeated until `timeout`.
    pub(crate) async fn call<Q, A>(&self, path: &'static str, request: Q, timeout: Duration) -> Result<A, Status>
    where
        Q: Message + Clone + Send + Sync + 'static,
        A: Message + Default + Send + Sync + 'static,
    {
        let begin = Instant::now();
        // The problem of the last attempt.
        let mut last = String::new();
        let answered = tokio::time::timeout(timeout, self.retried(path, request, &mut last)).await;
        let answered = answered.unwrap_or_else(|_| {
            let message = format!("context deadline exceeded: {last}");
            Err(Status::deadline_exceeded(message.trim_end_matches(": ")))
        });
        let code = answered.as_ref().map_or_else(Status::code, |_| Code::Ok);
        self.metrics.called(path, code_name(code.into()), begin.elapsed());
        answered
    }

    async fn retried<Q, A>(&self, path: &'static str, request: Q, last: &mut String) -> Result<A, Status>
    where
        Q: Message + Clone + Send + Sync + 'static,
        A: Message + Default + Send + Sync + 'static,
    {
        loop {
            let mut grpc = self.grpc.clone();
            *last = match grpc.ready().await {
                Err(error) => error.to_string(),
                Ok(()) => {
                    let path = PathAndQuery::from_static(path);
                    let request = Request::new(request.clone());
                    match grpc.unary(request, path, ProstCodec::default()).await {
                        Err(status) if status.code() == Code::Unavailable => status.message().to_owned(),
                        answer => return Ok(answer?.into_inner()),
                    }
                }
            };
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }
}

/// The problem of a call, as Go's library has it.
pub(crate) fn problem_of(status: &Status) -> String {
    format!(
        "rpc error: code = {} desc = {}",
        code_name(status.code().into()),
        status.message()
    )
}
