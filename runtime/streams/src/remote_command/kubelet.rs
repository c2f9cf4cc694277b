//! The connection to a kubelet.

use std::time::Duration;

use axum::body::Body;
use http::header::{CONNECTION, HOST, HeaderName, LOCATION, UPGRADE};
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use planesmith_server::proxy::{Link, Target, is_switched_to};
use serde::Deserialize;

use crate::spdy;

/// Time a kubelet has to answer once it is connected.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);

/// Bytes of a refusal that are reported to the client.
const REFUSAL_LIMIT: usize = 64 << 10;

const STREAM_PROTOCOL: HeaderName = HeaderName::from_static("x-stream-protocol-version");

/// Versions of the protocol of remote commands over SPDY, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    /// Errors are text; the version of kubelets that choose none.
    Text,
    /// Terminals have a stream for their size.
    Resize,
    /// Errors are Statuses.
    Status,
}

const VERSIONS: [(&str, Version); 5] = [
    ("v5.channel.k8s.io", Version::Status),
    ("v4.channel.k8s.io", Version::Status),
    ("v3.channel.k8s.io", Version::Resize),
    ("v2.channel.k8s.io", Version::Text),
    ("channel.k8s.io", Version::Text),
];

/// Opens a connection for streams to the kubelet at `target`.
///
/// # Errors
///
/// The kubelet cannot be reached or refuses, in the words of kube-apiserver.
pub(super) async fn connect(target: &Target, link: &Link) -> Result<(TokioIo<Upgraded>, Version), String> {
    let failed = |why: &dyn std::fmt::Display| format!("error sending request: Post \"{}\": {why}", target.url());
    let request = request(target).map_err(|error| failed(&error))?;
    let answer = tokio::time::timeout(ANSWER_WITHIN, link.send_alone(target, request)).await;
    let answer = answer.map_err(|_| failed(&"context deadline exceeded"))?;
    let mut answer = answer.map_err(|error| failed(&error))?;
    if answer.status().is_redirection() && answer.headers().contains_key(LOCATION) {
        return Err(failed(&"redirect not allowed"));
    }
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS || !is_switched_to(spdy::PROTOCOL, answer.headers()) {
        let body = Limited::new(answer.into_body(), REFUSAL_LIMIT).collect();
        let body = tokio::time::timeout(ANSWER_WITHIN, body).await;
        let Ok(Ok(body)) = body else {
            return Err("unable to upgrade connection: unable to read error from server response".to_owned());
        };
        return Err(format!("unable to upgrade connection: {}", refusal(&body.to_bytes())));
    }
    let chosen = answer
        .headers()
        .get(STREAM_PROTOCOL)
        .map(|chosen| chosen.to_str().unwrap_or_default());
    let version = match chosen.unwrap_or_default().trim() {
        "" => Version::Text,
        chosen => {
            let known = VERSIONS.iter().find(|(name, _)| *name == chosen);
            known
                .ok_or_else(|| format!("the kubelet chose an unknown protocol {chosen:?}"))?
                .1
        }
    };
    let upgraded = hyper::upgrade::on(&mut answer).await.map_err(|error| failed(&error))?;
    Ok((TokioIo::new(upgraded), version))
}

fn request(target: &Target) -> Result<Request<Body>, http::Error> {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(target.uri()?)
        .header(HOST, target.authority())
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, spdy::PROTOCOL);
    for (name, _) in VERSIONS {
        request = request.header(STREAM_PROTOCOL, HeaderValue::from_static(name));
    }
    request.body(Body::empty())
}

/// The reason that a kubelet gives when it refuses: the message of a Status, or its text.
fn refusal(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct StatusLike {
        #[serde(default)]
        message: String,
        #[serde(default)]
        error: String,
    }
    if let Ok(status) = serde_json::from_slice::<StatusLike>(body) {
        let text = [status.message, status.error];
        if let Some(text) = text.iter().map(|text| text.trim()).find(|text| !text.is_empty()) {
            return text.to_owned();
        }
    }
    match String::from_utf8_lossy(body).trim() {
        "" => "empty server response".to_owned(),
        text => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_statuses_or_text() {
        for (body, expected) in [
            (r#"{"message": " no such container "}"#, "no such container"),
            (r#"{"error": "e"}"#, "e"),
            (r#"{"message": 1}"#, r#"{"message": 1}"#),
            ("container not found (\"c\")\n", "container not found (\"c\")"),
            (" ", "empty server response"),
        ] {
            assert_eq!(refusal(body.as_bytes()), expected);
        }
    }
}
