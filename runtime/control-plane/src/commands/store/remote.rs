//! The store of a running server, over its API.

use std::io::{self, Read};
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use bytes::Bytes;
use clap::Args;
use http::header::WARNING;
use http::{Method, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use planesmith_server::proxy::AnswerBody;
use serde_json::Value;
use tokio::sync::mpsc;

use super::report;
use super::work::Work;
use crate::delegation::Host;
use crate::outbound::Outbound;
use crate::resource_client::text;
use crate::running::Running;

/// Chunks of an answer that are received ahead.
const AHEAD: usize = 16;

/// Maximum bytes of an answer that is not a backup.
const SMALL: usize = 1 << 20;

/// The server, or the folder of a stopped one.
#[derive(Args, Debug)]
pub(super) struct ServerFlags {
    /// Folder of the server. If the server runs, the command talks to it as its administrator.
    #[arg(long, default_value = "planesmith-data", value_name = "DIR")]
    pub(super) data_dir: PathBuf,

    /// Kubeconfig of a server elsewhere, which is used instead of the folder.
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,

    /// URL of the server, in place of the one in the kubeconfig.
    #[arg(long, value_name = "URL", requires = "kubeconfig")]
    pub(super) server: Option<String>,
}

impl ServerFlags {
    /// Finds the server: the one of the kubeconfig, or the one that runs on the folder. `None` if none runs there.
    pub(super) fn server(&self) -> Result<Option<Server>> {
        if let Some(kubeconfig) = &self.kubeconfig {
            let host = Host::open_at(kubeconfig, self.server.as_deref(), &Outbound::default())?;
            let description = self
                .server
                .clone()
                .unwrap_or_else(|| format!("the server of {}", kubeconfig.display()));
            return Ok(Some(Server { host, description }));
        }
        let running = Running::read(&self.data_dir)?.filter(Running::is_alive);
        let server = running.map(|running| {
            let host = Host::of_running(&running, &Outbound::default())?;
            anyhow::Ok(Server {
                host,
                description: running.url,
            })
        });
        server.transpose()
    }
}

/// A running server.
pub(super) struct Server {
    host: Host,
    /// For people.
    pub(super) description: String,
}

impl Server {
    /// Sends a request and returns the JSON answer.
    pub(super) fn json(&self, method: Method, path: &str, work: &Work<'_>) -> Result<Value> {
        let answer = work.runtime().block_on(async {
            let response = self.send(method, path).await?;
            let body = Limited::new(response.into_body(), SMALL).collect().await;
            let body = body.map_err(|error| anyhow!("the answer of {} broke off: {error}", self.description))?;
            anyhow::Ok(body.to_bytes())
        })?;
        serde_json::from_slice(&answer).with_context(|| format!("the answer of {} is no JSON", self.description))
    }

    /// Returns the bytes of an answer as they arrive. Prints the warnings of the server before.
    pub(super) fn stream(&self, path: &str, work: &Work<'_>) -> Result<Answer> {
        let response = work.runtime().block_on(self.send(Method::GET, path))?;
        for warning in response.headers().get_all(WARNING) {
            let text = warning.to_str().unwrap_or_default();
            report::warn(text.trim_start_matches("299 - ").trim_matches('"'));
        }
        let (sender, chunks) = mpsc::channel(AHEAD);
        let mut body = response.into_body();
        work.runtime().spawn(async move {
            while let Some(frame) = body.frame().await {
                let chunk = match frame {
                    Ok(frame) => Ok(frame.into_data().unwrap_or_default()),
                    Err(error) => Err(io::Error::new(io::ErrorKind::ConnectionAborted, error)),
                };
                let is_last = chunk.is_err();
                if sender.send(chunk).await.is_err() || is_last {
                    return;
                }
            }
        });
        Ok(Answer {
            chunks,
            rest: Bytes::new(),
        })
    }

    /// Sends a request whose answer is 2xx.
    async fn send(&self, method: Method, path: &str) -> Result<Response<AnswerBody>> {
        let response = self.host.request(method.clone(), path).await;
        let response = response.map_err(|error| anyhow!("{} does not answer: {error}", self.description))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = Limited::new(response.into_body(), SMALL).collect().await;
        let body = body.map(|body| body.to_bytes()).unwrap_or_default();
        let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        let reason = match text(&answer, "/message") {
            "" => status.to_string(),
            message => message.to_owned(),
        };
        match status {
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => bail!(
                "{} refuses: {reason}; the command needs the right to {} the non-resource URL {}",
                self.description,
                if matches!(method, Method::POST) { "post" } else { "get" },
                path.split('?').next().unwrap_or(path),
            ),
            StatusCode::NOT_FOUND => bail!(
                "{} has no {path}: it is another program, or an older version of this one",
                self.description
            ),
            _ => bail!("{} refuses: {reason}", self.description),
        }
    }
}

/// The body of an answer, to be read outside of the runtime.
pub(super) struct Answer {
    chunks: mpsc::Receiver<io::Result<Bytes>>,
    rest: Bytes,
}

impl Read for Answer {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.chunks.blocking_recv() {
                Some(chunk) => self.rest = chunk?,
                None => return Ok(0),
            }
        }
        let length = buffer.len().min(self.rest.len());
        buffer[..length].copy_from_slice(&self.rest.split_to(length));
        Ok(length)
    }
}
