//! Protocols with ports.

use planesmith_machinery::field_error::FieldErrors;

/// Protocols with ports, in the order of error messages.
pub(crate) const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// Reports a missing or unsupported protocol.
pub(crate) fn check_protocol(protocol: &str, errors: &mut FieldErrors) {
    if protocol.is_empty() {
        errors.required("protocol", "");
    } else if !PROTOCOLS.contains(&protocol) {
        errors.not_supported("protocol", protocol, &PROTOCOLS);
    }
}
