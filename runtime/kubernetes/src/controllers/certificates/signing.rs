//! Issues approved certificates.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use planesmith_control_plane::certificates::Authority;
use planesmith_control_plane::certificates::issue::{Contents, IssueError};
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_control_plane::reconciler::Reconcile;
use planesmith_control_plane::resource_client::{ResourceClient, text};
use planesmith_machinery::time::Time;
use planesmith_server::stores::Stores;
use serde_json::{Value, json};

use super::{add_condition, condition, is_issued, parse_request, requests, usages};
use crate::certificate_requests::{Request, signers};

/// The lifetime of a certificate unless a shorter one is requested: a year, the default of kube-controller-manager.
const MAX_LIFETIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// The shortest lifetime of a certificate.
const MIN_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// The time by which a certificate is backdated, for clients whose clocks are slow.
const BACKDATE: Duration = Duration::from_secs(5 * 60);
/// Certificates with a shorter lifetime are valid for all of it from now on; longer ones lose the time by which they are
/// backdated.
const SHORT: Duration = Duration::from_secs(8 * 60 * 60);

/// Signs approved requests to the signers of Kubernetes with the server's authority.
pub(in crate::controllers) struct Signer {
    requests: ResourceClient,
    authority: Arc<Authority>,
}

impl Signer {
    /// `None` for a server without requests.
    pub(in crate::controllers) fn new(
        stores: &Stores,
        loopback: &Loopback,
        authority: &Arc<Authority>,
    ) -> Option<Self> {
        Some(Self {
            requests: requests(stores, loopback)?,
            authority: Arc::clone(authority),
        })
    }

    fn issue(&self, request: &Request, usages: &[String], seconds: Option<i64>) -> Result<String, IssueError> {
        let (not_before, not_after) = validity(seconds, self.requests.clock().now());
        self.authority.issue(Contents {
            subject: request.subject().clone(),
            public_key: request.public_key().clone(),
            names: request.names.clone(),
            usages: signers::usages(usages),
            not_before,
            not_after,
        })
    }
}

impl Reconcile for Signer {
    const NAME: &'static str = "signing of a certificate";

    fn watched(&self) -> Vec<&ResourceClient> {
        vec![&self.requests]
    }

    async fn reconcile(&self, key: &str) -> Result<(), LoopbackError> {
        let Some(mut stored) = self.requests.get("", key).filter(is_to_be_signed) else {
            return Ok(());
        };
        let request = match parse_request(&stored) {
            Ok(request) if request.is_signed() => request,
            Ok(_) => {
                tracing::warn!(name = key, "a request for a certificate is not signed with its key");
                return Ok(());
            }
            Err(error) => {
                tracing::warn!(name = key, error, "a request for a certificate cannot be read");
                return Ok(());
            }
        };
        let usages = usages(&stored);
        match signers::check(text(&stored, "/spec/signerName"), &request, &usages) {
            None => return Ok(()),
            Some(Err(why)) => add_condition(
                &mut stored,
                json!({
                    "type": "Failed",
                    "status": "True",
                    "reason": "SignerValidationFailure",
                    "message": why,
                    "lastUpdateTime": Time::from(self.requests.clock().now()).to_string(),
                }),
            ),
            Some(Ok(())) => match self.issue(&request, &usages, stored["spec"]["expirationSeconds"].as_i64()) {
                Ok(certificate) => stored["status"]["certificate"] = STANDARD.encode(certificate).into(),
                Err(error) => {
                    tracing::warn!(name = key, %error, "a certificate cannot be issued");
                    return Ok(());
                }
            },
        }
        self.requests.replace_part(&stored, "/status").await
    }
}

fn is_to_be_signed(request: &Value) -> bool {
    let failed = condition(request, "Failed").is_some_and(|failed| failed["status"] == "True");
    let is_approved = condition(request, "Approved").is_some() && condition(request, "Denied").is_none();
    is_approved && !failed && !is_issued(request)
}

/// Returns the validity of a certificate issued now, for the requested number of seconds.
fn validity(seconds: Option<i64>, now: SystemTime) -> (SystemTime, SystemTime) {
    let life = seconds.map_or(MAX_LIFETIME, |seconds| {
        Duration::from_secs(u64::try_from(seconds).unwrap_or_default()).clamp(MIN_LIFETIME, MAX_LIFETIME)
    });
    let end = now + life;
    (now - BACKDATE, if life < SHORT { end } else { end - BACKDATE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_lives_as_long_as_requested_within_limits() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_900_000_000);
        for (requested, lives) in [
            (None, MAX_LIFETIME - BACKDATE),
            (Some(600), MIN_LIFETIME),
            (Some(1), MIN_LIFETIME),
            (Some(3600), Duration::from_secs(3600)),
            (Some(86_400), Duration::from_secs(86_400) - BACKDATE),
            (Some(i64::MAX), MAX_LIFETIME - BACKDATE),
        ] {
            assert_eq!(validity(requested, now), (now - BACKDATE, now + lives), "{requested:?}");
        }
    }

    #[test]
    fn approved_requests_are_signed_once() {
        let request = |conditions: Value| json!({"status": {"conditions": conditions}});
        let approved = json!({"type": "Approved", "status": "True"});
        assert!(is_to_be_signed(&request(json!([approved]))));
        assert!(!is_to_be_signed(&request(json!([]))));
        for other in ["Denied", "Failed"] {
            let other = json!({"type": other, "status": "True"});
            assert!(!is_to_be_signed(&request(json!([approved, other]))));
        }
        let mut issued = request(json!([approved]));
        issued["status"]["certificate"] = "eA==".into();
        assert!(!is_to_be_signed(&issued));
    }
}
