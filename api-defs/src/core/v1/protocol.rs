//! Protocols that have ports.

use planesmith_machinery::field_error::FieldErrors;

/// The protocols that have ports, as messages list them.
pub(crate) const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// Reports that `protocol` is missing or none that has ports.
pub(crate) fn check_protocol(protocol: &str, errors: &mut FieldErrors) {
    if protocol.is_empty() {
        errors.required("protocol", "");
    } else if !PROTOCOLS.contains(&protocol) {
        errors.not_supported("protocol", protocol, &PROTOCOLS);
    }
}
