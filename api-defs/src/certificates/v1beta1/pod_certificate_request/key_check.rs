//! Validation of the public key in a request and of its proof of possession.

use planesmith_machinery::field_error::{FieldError, FieldErrorKind, FieldErrors};
use planesmith_machinery::value::Value;

use super::PodCertificateRequestSpec;
use crate::certificates::pod_key::{Flaw, Key, of_request, proven};

/// Maximum size of a key, a proof or a request in bytes.
const MAX: usize = 10 * 1024;

const UNKNOWN_KIND: &str = "unknown public key type; supported types are Ed25519, ECDSA, and RSA";

/// Reports an error without the value.
pub(super) fn omitted(field: &str, detail: &str, errors: &mut FieldErrors) {
    errors.report(FieldError {
        field: field.to_owned(),
        kind: FieldErrorKind::Invalid,
        value: String::new(),
        detail: detail.to_owned(),
    });
}

impl PodCertificateRequestSpec {
    /// Returns the public key of the accepted request.
    pub(super) fn key(&self) -> Option<Key> {
        match self.stub_pkcs10_request.is_empty() {
            true => proven(&self.pkix_public_key, &self.pod_uid, &self.proof_of_possession).ok(),
            false => of_request(&self.stub_pkcs10_request).ok(),
        }
    }

    pub(super) fn check_key(&self, errors: &mut FieldErrors) {
        let given = [
            &self.stub_pkcs10_request,
            &self.pkix_public_key,
            &self.proof_of_possession,
        ]
        .map(|bytes| !bytes.is_empty());
        match given {
            [true, false, false] => self.check_request(errors),
            [false, true, true] => self.check_proof(errors),
            _ => {
                let detail = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
                omitted("", detail, errors);
            }
        }
    }

    fn check_request(&self, errors: &mut FieldErrors) {
        const FIELD: &str = "stubPKCS10Request";
        if self.stub_pkcs10_request.len() > MAX {
            return errors.too_long(FIELD, MAX as u64);
        }
        match of_request(&self.stub_pkcs10_request) {
            Ok(_) => {}
            Err(Flaw::Unreadable) => omitted(FIELD, "must be a valid PKCS#10 CSR", errors),
            Err(Flaw::Curve) => {
                errors.invalid(
                    FIELD,
                    "curve P-224",
                    "elliptic public keys must use curve P256, P384, or P521",
                );
            }
            Err(Flaw::Modulus(bits)) => check_modulus(FIELD, bits, errors),
            Err(Flaw::Kind) => omitted(FIELD, UNKNOWN_KIND, errors),
            Err(Flaw::Proof) => omitted(FIELD, "invalid signature", errors),
        }
    }

    fn check_proof(&self, errors: &mut FieldErrors) {
        const FIELD: &str = "pkixPublicKey";
        const PROOF: &str = "proofOfPossession";
        for (field, bytes) in [(FIELD, &self.pkix_public_key), (PROOF, &self.proof_of_possession)] {
            if bytes.len() > MAX {
                return errors.too_long(field, MAX as u64);
            }
        }
        let key = &self.pkix_public_key as &dyn Value;
        match proven(&self.pkix_public_key, &self.pod_uid, &self.proof_of_possession) {
            Ok(_) => {}
            Err(Flaw::Unreadable) => errors.invalid(FIELD, key, "must be a valid PKIX-serialized public key"),
            Err(Flaw::Curve) => {
                errors.invalid(FIELD, "curve P-224", "elliptic public keys must use curve P256 or P384");
            }
            Err(Flaw::Modulus(bits)) => check_modulus(FIELD, bits, errors),
            Err(Flaw::Kind) => errors.invalid(FIELD, key, UNKNOWN_KIND),
            Err(Flaw::Proof) => omitted(PROOF, "could not verify proof-of-possession signature", errors),
        }
    }
}

fn check_modulus(field: &str, bits: usize, errors: &mut FieldErrors) {
    let shown = format!("{bits}-bit modulus");
    errors.invalid(field, shown, "RSA keys must have modulus size 3072 or 4096");
}
