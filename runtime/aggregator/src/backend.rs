//! Another API server: request forwarding and availability checks.

mod documents;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use http::header::{HOST, HeaderMap, HeaderName, HeaderValue, LOCATION};
use http::{Request, StatusCode, Uri};
use planesmith_access::upgrade::requests_upgrade;
use planesmith_server::endpoint::Call;
use planesmith_server::proxy::{
    BufferedResponse, Link, LinkError, OutboundRequest, Target, Trust, client_tls_to, decoded_path, escaped_path,
    forward, leave_connection,
};
use planesmith_server::request::{Context, Query};
use planesmith_server::response::{self, TEXT, plain_text};
use planesmith_server::routes::VersionHandler;
use tokio::sync::Notify;

use crate::config::AggregatorConfig;
use crate::identity;
use crate::registration::{Remote, RemoteTrust};
use planesmith_control_plane::service_resolver::{Resolver, ServicePort};

use documents::Documents;

/// The timeout to connect to another server.
const DIAL_TIMEOUT: Duration = Duration::from_secs(30);

/// The timeout of availability checks and of document reads.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of attempts before a server is unavailable: only some of its endpoints may be down.
const ATTEMPTS: usize = 5;

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// A server that serves one group version.
pub struct Backend {
    /// `/apis/GROUP/VERSION`.
    path: String,
    service: ServicePort,
    resolver: Arc<dyn Resolver>,
    rejects_redirects: bool,
    /// The connections for requests and availability checks, or the TLS error that prevents them.
    link: Result<Link, String>,
    is_available: AtomicBool,
    forwarding_failures: Notify,
    documents: Mutex<Documents>,
}

impl Backend {
    /// Creates a backend at `remote` for `group` and `version`, with the resolver and the identity of `config`.
    pub(crate) fn new((group, version): (&str, &str), remote: &Remote, config: &AggregatorConfig) -> Self {
        let trust = match &remote.trust {
            RemoteTrust::Anyone => Trust::Anyone,
            RemoteTrust::Bundle(pem) => Trust::Bundle(pem),
            RemoteTrust::System => Trust::System,
        };
        let link = client_tls_to(trust, config.identity.as_ref()).map(|tls| {
            let link = Link::new(tls, DIAL_TIMEOUT, &config.dialer);
            link.expecting(remote.service.host_name()).pooled()
        });
        let link = link.map_err(|error| {
            let why = error.client_message().to_owned();
            let error = &error as &dyn std::error::Error;
            tracing::error!(
                group,
                version,
                error,
                "TLS to an aggregated API server cannot be configured"
            );
            why
        });
        Self {
            path: match group {
                "" => format!("/api/{version}"),
                _ => format!("/apis/{group}/{version}"),
            },
            service: remote.service.clone(),
            resolver: Arc::clone(&config.resolver),
            rejects_redirects: config.rejects_redirects,
            link,
            is_available: AtomicBool::new(remote.is_available),
            forwarding_failures: Notify::new(),
            documents: Mutex::default(),
        }
    }

    /// Returns the path prefix, `/apis/GROUP/VERSION`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Sets the availability. Requests to an unavailable server are answered with 503.
    pub(crate) fn set_available(&self, is_available: bool) {
        self.is_available.store(is_available, Ordering::Release);
    }

    /// True if requests are forwarded.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.is_available.load(Ordering::Acquire)
    }

    /// Waits until forwarding a request fails.
    pub async fn forwarding_failed(&self) {
        self.forwarding_failures.notified().await;
    }

    /// Checks if the server responds, over the connections for requests: a server whose certificate is not trusted is
    /// unavailable. Returns `None` without TLS, because then there is nothing to say about the server.
    ///
    /// # Errors
    ///
    /// The reason for a failure, worded as kube-apiserver words it.
    pub async fn probe(&self) -> Option<Result<(), String>> {
        let link = self.link.as_ref().ok()?;
        Some(self.probe_over(link).await)
    }

    async fn probe_over(&self, link: &Link) -> Result<(), String> {
        if self.attempt(link).await.is_ok() {
            return Ok(());
        }
        let mut others: FuturesUnordered<_> = (1..ATTEMPTS).map(|_| self.attempt(link)).collect();
        let mut last = Ok(());
        while let Some(outcome) = others.next().await {
            last = outcome;
            if last.is_ok() {
                break;
            }
        }
        last
    }

    async fn attempt(&self, link: &Link) -> Result<(), String> {
        let target = self.target(&self.path, "")?;
        let url = format!("https://{}{}", target.authority(), target.path);
        let failed = |why: String| format!("failing or missing response from {url}: {why}");
        let reply = put(&target, link, HeaderMap::new()).await;
        let reply = reply.map_err(|error| failed(format!("Get \"{url}\": {error}")))?;
        match reply.status.is_success() {
            true => Ok(()),
            false => Err(failed(format!("bad status from {url}: {}", reply.status.as_u16()))),
        }
    }

    /// Reads a path as the aggregator's own user.
    pub(crate) async fn read(&self, path: &str, headers: HeaderMap) -> Result<BufferedResponse, String> {
        let link = self.link.as_ref().map_err(Clone::clone)?;
        let target = self.target(path, "")?;
        put(&target, link, headers).await.map_err(|error| error.to_string())
    }

    fn target(&self, path: &str, query: &str) -> Result<Target, String> {
        Ok(Target {
            secure: true,
            destination: self.resolver.resolve(&self.service)?,
            path: path.to_owned(),
            query: query.to_owned(),
        })
    }

    /// Returns the target of a request for `uri`.
    fn target_of(&self, uri: &Uri) -> Result<Target, String> {
        let query = Query::new(uri.query().unwrap_or_default()).reencoded();
        // The path is decoded before a request is dispatched, so that a slash in a name separates segments.
        let path = escaped_path(&decoded_path(uri.path()));
        self.target(&path, &query)
    }

    async fn pass_on(&self, ctx: Context, request: Request<Body>) -> Response {
        if !self.is_available() {
            return unavailable();
        }
        let link = match &self.link {
            Ok(link) => link,
            Err(why) => return plain_text(StatusCode::INTERNAL_SERVER_ERROR, format!("{why}\n")),
        };
        let (mut parts, body) = request.into_parts();
        let target = match self.target_of(&parts.uri) {
            Ok(target) => target,
            Err(why) => {
                tracing::warn!(
                    path = self.path,
                    why,
                    "the service of an aggregated API server cannot be resolved"
                );
                self.forwarding_failures.notify_one();
                return unavailable();
            }
        };
        set_proxy_headers(&ctx, &target, &mut parts.headers);
        let call = Call::new(ctx, parts);
        match forward(&call, body, &target, link).await {
            Ok(answer) if self.rejects_redirects => without_redirect(answer),
            Ok(answer) => answer,
            Err(error) => {
                self.forwarding_failures.notify_one();
                plain_text(StatusCode::SERVICE_UNAVAILABLE, format!("{}\n", error.message()))
            }
        }
    }
}

/// Sets the headers for another server: the user, the host and the audit ID. As in kube-apiserver, whose upgrades use another
/// transport, requests without upgrade tell that they were forwarded.
fn set_proxy_headers(ctx: &Context, target: &Target, headers: &mut HeaderMap) {
    let upgrades = requests_upgrade(headers);
    leave_connection(headers);
    identity::announce(&ctx.user, headers);
    let own = [(HOST, target.authority()), (AUDIT_ID, ctx.id.to_string())];
    let forwarded = [
        (FORWARDED_HOST, target.authority()),
        (FORWARDED_PROTO, "https".to_owned()),
    ];
    let forwarded = forwarded.into_iter().filter(|_| !upgrades);
    let all: Vec<_> = own.into_iter().chain(forwarded).collect();
    for (name, value) in all {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}

/// Reads as the aggregator's own user.
async fn put(target: &Target, link: &Link, mut headers: HeaderMap) -> Result<BufferedResponse, LinkError> {
    identity::announce(&identity::aggregator(), &mut headers);
    OutboundRequest::get(headers).send(target, link, PROBE_TIMEOUT).await
}

/// Returns the response, or 502 for a redirect: only this server decides about the destination of requests.
fn without_redirect(answer: Response) -> Response {
    let place = answer.headers().get(LOCATION);
    if !answer.status().is_redirection() || place.is_none_or(HeaderValue::is_empty) {
        return answer;
    }
    let why = "the backend attempted to redirect this request, which is not permitted";
    response::bytes(StatusCode::BAD_GATEWAY, TEXT, why)
}

fn unavailable() -> Response {
    plain_text(StatusCode::SERVICE_UNAVAILABLE, "service unavailable\n")
}

impl VersionHandler for Backend {
    fn serve(self: Arc<Self>, ctx: Context, request: Request<Body>) -> BoxFuture<'static, Response> {
        Box::pin(async move { self.pass_on(ctx, request).await })
    }
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backend")
            .field("path", &self.path)
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
