//! Elliptic curves that keys may be on but that nothing here can work with.

/// The encoded name of the curve P-521 (1.3.132.0.35).
const P521: [u8; 7] = [0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23];

/// What is said of a key on the curve P-521, behind what it is the key of.
pub const P521_COMPLAINT: &str = "is on the curve P-521, which is not supported; use P-256, P-384, or RSA";

/// Whether a key, or the key of a certificate, in DER is on the curve P-521.
#[must_use]
pub fn is_p521(der: &[u8]) -> bool {
    der.windows(P521.len()).any(|part| part == P521)
}
