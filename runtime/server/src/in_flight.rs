//! The limits on requests in flight, and the permits of those that are handled.

mod heartbeats;
mod places;
mod watch_start;

use std::sync::Arc;

use planesmith_access::user::{UNAUTHENTICATED_GROUP, UserInfo};

pub use self::heartbeats::Heartbeats;
use self::places::Places;
pub use self::places::{Permit, Seats};
pub(crate) use self::watch_start::{TimedStart, WatchStart};
use crate::request::RequestInfo;

/// Maximum numbers of requests in flight; 0 is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlightLimits {
    /// Limit of reading requests (`--max-requests-inflight`).
    pub reading: usize,
    /// Limit of writing requests (`--max-mutating-requests-inflight`).
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

/// Counts the requests that are being handled, and answers 429 when there are too many. A large answer counts until its last
/// byte is sent (`sending`).
///
/// Long-running requests do not count. Members of `system:masters` are always served, so that an administrator reaches
/// an overloaded server; so are health checks. [`Heartbeats`] have a share of their own, so that load from others does not make
/// their senders appear dead. Clients without credentials cannot use that share.
#[derive(Clone, Debug)]
pub struct InFlight {
    reading: Arc<Places>,
    writing: Arc<Places>,
    heartbeats: Arc<Places>,
    is_heartbeat: Heartbeats,
}

/// Health checks, which kube-apiserver's flow control exempts too.
const HEALTH: [&str; 3] = ["/healthz", "/livez", "/readyz"];

impl InFlight {
    /// Starts with no requests in flight.
    #[must_use]
    pub fn new(limits: InFlightLimits, is_heartbeat: Heartbeats) -> Self {
        Self {
            reading: Places::new(limits.reading),
            writing: Places::new(limits.writing),
            heartbeats: Places::new(limits.writing),
            is_heartbeat,
        }
    }

    /// Counts without a limit: flow control decides which requests are served.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(InFlightLimits { reading: 0, writing: 0 }, Heartbeats::default())
    }

    /// Counts a request that flow control gave `seats`. Returns them if the request is long-running, and does not count.
    pub(crate) fn count(&self, info: &RequestInfo, seats: Box<dyn Seats>) -> Result<Permit, Box<dyn Seats>> {
        match info.is_long_running() {
            true => Err(seats),
            false => Ok(self.of_method(info).take_with(seats)),
        }
    }

    /// Returns the places that a request takes one of; `None` for a request that is always served.
    pub(crate) fn share(&self, user: &UserInfo, info: &RequestInfo) -> Option<&Arc<Places>> {
        if info.is_long_running() || is_health_check(info) {
            return None;
        }
        if self.is_heartbeat.contains(info) && !user.is_in(UNAUTHENTICATED_GROUP) {
            return Some(&self.heartbeats);
        }
        Some(self.of_method(info))
    }

    fn of_method(&self, info: &RequestInfo) -> &Arc<Places> {
        match info.is_mutating() {
            true => &self.writing,
            false => &self.reading,
        }
    }

    /// Numbers of reading and writing requests in flight.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.reading.taken(), self.writing.taken())
    }
}

fn is_health_check(info: &RequestInfo) -> bool {
    let is_below = |root: &str| {
        let rest = info.path().strip_prefix(root);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !info.is_resource() && HEALTH.into_iter().any(is_below)
}

#[cfg(test)]
mod tests {
    use http::{Method, Uri};

    use super::*;

    #[test]
    fn health_checks_and_heartbeats_are_served_whatever_else_is_in_flight() {
        let is_heartbeat = Heartbeats::new(|info| info.resource() == "beats" && !info.name().is_empty());
        let in_flight = InFlight::new(InFlightLimits { reading: 1, writing: 1 }, is_heartbeat);
        let enter_as = |user: &UserInfo, method: Method, path: &'static str| {
            let info = RequestInfo::new(&method, &Uri::from_static(path));
            in_flight.share(user, &info).map(|places| places.take(user))
        };
        let node = UserInfo::default();
        let enter = |method, path| enter_as(&node, method, path);
        let pods = "/api/v1/namespaces/a/pods";
        let held = [enter(Method::GET, pods), enter(Method::POST, pods)];
        assert!(held.iter().all(|held| matches!(held, Some(Some(_)))));
        assert!(matches!(enter(Method::GET, pods), Some(None)));
        for path in ["/healthz", "/livez", "/readyz", "/readyz/ping", "/livez?verbose"] {
            assert!(enter(Method::GET, path).is_none(), "{path}");
        }
        let beat = "/apis/test.example.com/v1/namespaces/a/beats/node";
        let without_credentials = enter_as(&UserInfo::anonymous(), Method::PUT, beat);
        assert!(matches!(without_credentials, Some(None)), "that is no node");
        let renewed = enter(Method::PUT, beat);
        assert!(matches!(renewed, Some(Some(_))));
        assert!(matches!(enter(Method::PUT, beat), Some(None)), "they are bounded, too");
        for path in ["/readyzz", "/apis/test.example.com/v1/namespaces/a/beats"] {
            assert!(matches!(enter(Method::GET, path), Some(None)), "{path}");
        }
    }
}
