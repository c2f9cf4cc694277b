//! How many requests are served at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::header::{HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode};
use planesmith_access::user::PRIVILEGED_GROUP;

use super::{Exchange, Filter, Step};
use crate::failure;
use crate::request::{RequestInfo, Verb};

/// How many requests are served at once; 0 is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlightLimits {
    /// Reading ones (`--max-requests-inflight`).
    pub reading: usize,
    /// Writing ones (`--max-mutating-requests-inflight`).
    pub writing: usize,
}

impl Default for InFlightLimits {
    /// kube-apiserver's defaults.
    fn default() -> Self {
        Self {
            reading: 400,
            writing: 200,
        }
    }
}

/// Counts the requests that are being handled, and answers 429 when there are too many. A request counts until the last byte of
/// its answer is sent (`sending`).
///
/// Long-running requests do not count. Members of `system:masters` are served in any case, so that an administrator
/// gets through to an overloaded server; so are health checks. Heartbeats of nodes and servers have a share of their own:
/// nothing that others do makes a node look dead.
#[derive(Clone, Debug)]
pub struct InFlight {
    limits: InFlightLimits,
    reading: Arc<AtomicUsize>,
    writing: Arc<AtomicUsize>,
    heartbeats: Arc<AtomicUsize>,
}

/// Health checks, which kube-apiserver's flow control exempts too.
const HEALTH: [&str; 3] = ["/healthz", "/livez", "/readyz"];

/// Namespaces of leases that nodes, servers and controllers renew.
const HEARTBEATS: [&str; 2] = ["kube-node-lease", "kube-system"];

/// The right to be in flight; dropping it makes room for the next request.
#[derive(Debug)]
pub struct Permit {
    counter: Arc<AtomicUsize>,
}

impl InFlight {
    /// Nobody is in flight.
    #[must_use]
    pub fn new(limits: InFlightLimits) -> Self {
        Self {
            limits,
            reading: Arc::default(),
            writing: Arc::default(),
            heartbeats: Arc::default(),
        }
    }

    /// Returns the counter of a request and its limit; `None` for a request that is served in any case.
    fn share(&self, info: &RequestInfo) -> Option<(&Arc<AtomicUsize>, usize)> {
        if info.is_long_running() || is_health_check(info) {
            return None;
        }
        if is_heartbeat(info) {
            return Some((&self.heartbeats, self.limits.writing));
        }
        Some(match *info.method() {
            Method::GET | Method::HEAD | Method::OPTIONS => (&self.reading, self.limits.reading),
            _ => (&self.writing, self.limits.writing),
        })
    }

    /// Reading and writing requests being handled now.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (
            self.reading.load(Ordering::Relaxed),
            self.writing.load(Ordering::Relaxed),
        )
    }
}

impl Permit {
    /// One more, unless `limit` are there already.
    fn take(counter: &Arc<AtomicUsize>, limit: usize, in_any_case: bool) -> Option<Self> {
        let before = counter.fetch_add(1, Ordering::Relaxed);
        let permit = Permit {
            counter: Arc::clone(counter),
        };
        (limit == 0 || before < limit || in_any_case).then_some(permit)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.counter.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Filter for InFlight {
    fn name(&self) -> &'static str {
        "in-flight"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let ctx = &exchange.ctx;
        let Some((counter, limit)) = self.share(&ctx.info) else {
            return Step::Continue;
        };
        exchange.permit = Permit::take(counter, limit, ctx.user.is_in(PRIVILEGED_GROUP));
        if exchange.permit.is_some() {
            return Step::Continue;
        }
        let words = "Too many requests, please try again later.\n";
        let mut response = failure::text(StatusCode::TOO_MANY_REQUESTS, words);
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from_static("1"));
        Step::Answer(response)
    }
}

fn is_health_check(info: &RequestInfo) -> bool {
    let is_below = |root: &str| {
        let rest = info.path().strip_prefix(root);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !info.is_resource() && HEALTH.into_iter().any(is_below)
}

fn is_heartbeat(info: &RequestInfo) -> bool {
    info.resource() == "leases"
        && info.group() == "coordination.k8s.io"
        && info.subresource().is_empty()
        && HEARTBEATS.contains(&info.namespace())
        && matches!(info.verb(), Verb::Get | Verb::Create | Verb::Update | Verb::Patch)
}

#[cfg(test)]
mod tests {
    use http::Uri;

    use super::*;

    #[test]
    fn health_checks_and_heartbeats_are_served_whatever_else_is_in_flight() {
        let in_flight = InFlight::new(InFlightLimits { reading: 1, writing: 1 });
        let enter = |method: Method, path: &'static str| {
            let info = RequestInfo::new(&method, &Uri::from_static(path));
            let share = in_flight.share(&info);
            share.map(|(counter, limit)| Permit::take(counter, limit, false))
        };
        let pods = "/api/v1/namespaces/a/pods";
        let held = [enter(Method::GET, pods), enter(Method::POST, pods)];
        assert!(held.iter().all(|held| matches!(held, Some(Some(_)))));
        assert!(matches!(enter(Method::GET, pods), Some(None)));
        for path in ["/healthz", "/livez", "/readyz", "/readyz/ping", "/livez?verbose"] {
            assert!(enter(Method::GET, path).is_none(), "{path}");
        }
        let lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node";
        let renewed = enter(Method::PUT, lease);
        assert!(matches!(renewed, Some(Some(_))));
        assert!(matches!(enter(Method::PUT, lease), Some(None)), "they are bounded, too");
        for path in [
            "/readyzz",
            "/api/v1/namespaces/kube-node-lease/leases/node",
            "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
            "/apis/coordination.k8s.io/v1/namespaces/default/leases/node",
        ] {
            assert!(matches!(enter(Method::GET, path), Some(None)), "{path}");
        }
    }
}
