//! Commands in containers over WebSocket: clients speak `v5.channel.k8s.io`, kubelets SPDY/3.1, and this server translates, as
//! kube-apiserver does.
//!
//! Reading order: [`translate`], `kubelet` (the connection to the other side), `session` (the streams of both), `outcome`
//! (what the client is told at the end), `idle` (the end of forgotten connections).

mod idle;
mod kubelet;
mod outcome;
mod session;

use std::time::Duration;

use axum::response::Response;
use http::header::HeaderMap;
use http::request::Parts;
use hyper_util::rt::TokioIo;

use self::idle::IdleTimeout;
use crate::features::TRANSLATE_STREAM_CLOSE_WEBSOCKET_REQUESTS;
use crate::proxy::{Link, Target};
use crate::websocket::{ChannelHandshake, offers_protocol};

/// The protocol of clients. Version 5 of remote commands can end the input alone.
const PROTOCOL: &str = "v5.channel.k8s.io";

/// Time without a byte in either direction after which a connection of a client ends; kube-apiserver's value.
const IDLE_LIMIT: Duration = Duration::from_secs(4 * 60 * 60);

/// The streams that a client wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamFlags {
    /// To the command.
    pub stdin: bool,
    /// From the command.
    pub stdout: bool,
    /// From the command; with a terminal there is none.
    pub stderr: bool,
    /// The command runs in a terminal.
    pub tty: bool,
}

/// True for requests that [`translate`] answers; kubelets answer the others themselves.
#[must_use]
pub fn is_translated(headers: &HeaderMap) -> bool {
    TRANSLATE_STREAM_CLOSE_WEBSOCKET_REQUESTS.is_on() && offers_protocol(headers, |offered| offered == PROTOCOL)
}

/// Changes the protocol of a request's connection to WebSocket, and passes streams on to the kubelet at `target`. A kubelet
/// that refuses is told to the client on the error channel, as the protocol has it.
#[must_use]
pub fn translate(request: &Parts, target: Target, link: Link, flags: StreamFlags) -> Response {
    let (upgrade, response) = match ChannelHandshake::accept(request, PROTOCOL) {
        Ok(accepted) => accepted,
        Err(refused) => return *refused,
    };
    tokio::spawn(async move {
        match upgrade.await {
            Ok(client) => {
                let client = IdleTimeout::new(TokioIo::new(client), IDLE_LIMIT);
                session::run(client, flags, kubelet::connect(&target, &link)).await;
            }
            Err(error) => tracing::debug!(%error, "a connection did not change its protocol"),
        }
    });
    response
}

#[cfg(test)]
mod tests;
