//! Deletes finished and expired requests.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_control_plane::periodic::Periodic;
use planesmith_control_plane::resource_client::{ResourceClient, text};
use planesmith_machinery::time::Time;
use planesmith_machinery::{der, pem};
use planesmith_server::stores::Stores;
use serde_json::Value;
use x509_cert::Certificate;

use super::{condition, is_issued, requests};

const HOUR: i64 = 60 * 60;
/// The number of seconds until a request is deleted after it was issued or denied.
const DECIDED: i64 = HOUR;
/// The number of seconds until a request without a decision is deleted.
const UNDECIDED: i64 = 24 * HOUR;

/// Deletes requests that were issued or denied a while ago, that have no decision, or whose certificate has expired.
pub(in crate::controllers) struct Cleaner {
    requests: ResourceClient,
}

impl Cleaner {
    /// `None` for a server without requests.
    pub(in crate::controllers) fn new(stores: &Stores, loopback: &Loopback) -> Option<Self> {
        let requests = requests(stores, loopback)?;
        Some(Self { requests })
    }
}

impl Periodic for Cleaner {
    const NAME: &'static str = "cleaning of requests for certificates";
    const INTERVAL: Duration = Duration::from_secs(60 * 60);

    async fn work(&self) -> Result<(), LoopbackError> {
        let now = Time::from(self.requests.clock().now()).as_second();
        for request in self.requests.all("") {
            if is_over(&request, now) {
                self.requests.delete("", text(&request, "/metadata/name")).await?;
            }
        }
        Ok(())
    }
}

fn is_over(request: &Value, now: i64) -> bool {
    let older = |time: &str, seconds| {
        let time: Option<Time> = time.parse().ok();
        time.is_some_and(|time| now - time.as_second() > seconds)
    };
    let decided = |type_| {
        let updated = condition(request, type_).map(|condition| text(condition, "/lastUpdateTime"));
        updated.is_some_and(|time| older(time, DECIDED))
    };
    let conditions = request.pointer("/status/conditions").and_then(Value::as_array);
    let is_pending = conditions.is_none_or(Vec::is_empty);
    decided("Denied")
        || is_issued(request) && decided("Approved")
        || is_pending && older(text(request, "/metadata/creationTimestamp"), UNDECIDED)
        || condition(request, "Approved").is_some() && end_of_certificate(request).is_some_and(|end| end < now)
}

/// Returns the time at which the issued certificate expires, in seconds since 1970.
fn end_of_certificate(request: &Value) -> Option<i64> {
    let text = STANDARD.decode(text(request, "/status/certificate")).ok()?;
    let certificate: Certificate = der::decode(&pem::first(&text, pem::CERTIFICATE)?).ok()?;
    let end = certificate.tbs_certificate.validity.not_after.to_unix_duration();
    i64::try_from(end.as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(conditions: &Value, certificate: &str) -> Value {
        json!({
            "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"},
            "status": {"conditions": conditions, "certificate": STANDARD.encode(certificate)},
        })
    }

    fn is_over_after(request: &Value, seconds: i64) -> bool {
        let made: Time = "2026-01-01T00:00:00Z".parse().unwrap();
        is_over(request, made.as_second() + seconds)
    }

    #[test]
    fn requests_go_when_they_are_done_with() {
        let decided = |type_: &str| json!([{"type": type_, "lastUpdateTime": "2026-01-01T00:00:00Z"}]);
        for (request, stays) in [
            (request(&json!([]), ""), UNDECIDED),
            (request(&decided("Denied"), ""), DECIDED),
            (request(&decided("Approved"), "issued"), DECIDED),
        ] {
            assert!(!is_over_after(&request, stays), "{request}");
            assert!(is_over_after(&request, stays + 1), "{request}");
        }
        let waiting = request(&decided("Approved"), "");
        assert!(!is_over_after(&waiting, 30 * UNDECIDED));
    }

    #[test]
    fn requests_go_with_their_certificate() {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::default();
        parameters.not_after = rcgen::date_time_ymd(2026, 1, 2);
        let certificate = parameters.self_signed(&key).unwrap().pem();
        let request = request(&json!([{"type": "Approved"}]), &certificate);
        assert!(!is_over_after(&request, 24 * HOUR));
        assert!(is_over_after(&request, 24 * HOUR + 1));
    }
}
