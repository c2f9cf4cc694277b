//! Detection of elliptic curves that are valid but unsupported.

/// The DER-encoded object identifier of the curve P-521 (1.3.132.0.35).
const P521: [u8; 7] = [0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23];

/// The error message for a key on the curve P-521, after the name of the key.
pub const P521_COMPLAINT: &str = "is on the curve P-521, which is not supported; use P-256, P-384, or RSA";

/// True if a DER-encoded key, or the key of a certificate, is on the curve P-521.
#[must_use]
pub fn is_p521(der: &[u8]) -> bool {
    der.windows(P521.len()).any(|part| part == P521)
}
