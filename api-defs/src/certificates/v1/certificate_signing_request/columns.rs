//! Table columns of certificate signing requests.

use planesmith_machinery::age;
use planesmith_machinery::table::Cell;

use super::CertificateSigningRequest;

pub(super) fn duration(request: &CertificateSigningRequest) -> Cell {
    let seconds = request.spec.expiration_seconds;
    Cell::Text(seconds.map_or_else(|| "<none>".to_owned(), |seconds| age::format(seconds.into())))
}

pub(super) fn condition(request: &CertificateSigningRequest) -> Cell {
    let status = &request.status;
    let has = |type_: &str| status.conditions.iter().any(|condition| condition.type_ == type_);
    let mut words = vec![match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (_, true) => "Approved",
        _ => "Pending",
    }];
    if has("Failed") {
        words.push("Failed");
    }
    if !status.certificate.is_empty() {
        words.push("Issued");
    }
    Cell::Text(words.join(","))
}
