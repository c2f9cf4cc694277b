//! Commands in containers over WebSocket: clients speak `v5.channel.k8s.io`, kubelets SPDY/3.1, and this server translates, as
//! kube-apiserver does.
//!
//! Reading order: [`translate`], `kubelet` (the connection to the kubelet), `session` (the streams of both sides),
//! `outcome` (the report that the client receives at the end), `idle` (the end of unused connections).

mod idle;
mod kubelet;
mod outcome;
mod session;

use std::time::Duration;

use axum::response::Response;
use http::header::HeaderMap;
use http::request::Parts;
use hyper_util::rt::TokioIo;
use planesmith_machinery::feature::Features;
use planesmith_server::proxy::{Link, Target};
use planesmith_server::task;
use planesmith_server::websocket::offers_protocol;

use self::idle::IdleTimeout;
use crate::channels::ChannelHandshake;
use crate::features::TRANSLATE_STREAM_CLOSE_WEBSOCKET_REQUESTS;

/// The protocol of clients. Version 5 of remote commands can close stdin alone.
const PROTOCOL: &str = "v5.channel.k8s.io";

/// Time without a byte in either direction after which a connection of a client ends; kube-apiserver's value.
const IDLE_LIMIT: Duration = Duration::from_secs(4 * 60 * 60);

/// The streams that a client requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamFlags {
    /// Input of the command.
    pub stdin: bool,
    /// Output of the command.
    pub stdout: bool,
    /// Error output of the command; a terminal has none.
    pub stderr: bool,
    /// The command runs in a terminal.
    pub tty: bool,
}

/// True for requests that [`translate`] answers on a server with `features`; kubelets answer the others themselves.
#[must_use]
pub fn is_translated(headers: &HeaderMap, features: &Features) -> bool {
    features.has(&TRANSLATE_STREAM_CLOSE_WEBSOCKET_REQUESTS) && offers_protocol(headers, |offered| offered == PROTOCOL)
}

/// Upgrades a request's connection to WebSocket, and relays streams to and from the kubelet at `target`. A refusal of
/// the kubelet is reported to the client on the error channel, as the protocol requires.
#[must_use]
pub fn translate(request: &Parts, target: Target, link: Link, flags: StreamFlags) -> Response {
    let (upgrade, response) = match ChannelHandshake::accept(request, PROTOCOL) {
        Ok(accepted) => accepted,
        Err(refused) => return *refused,
    };
    task::spawn(async move {
        match upgrade.await {
            Ok(client) => {
                let client = IdleTimeout::new(TokioIo::new(client), IDLE_LIMIT);
                session::run(client, flags, kubelet::connect(&target, &link)).await;
            }
            Err(error) => tracing::debug!(%error, "a connection was not upgraded"),
        }
    });
    response
}

#[cfg(test)]
mod tests;
