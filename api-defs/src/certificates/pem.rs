//! Certificates in PEM.

#[cfg(feature = "kubernetes")]
mod requests;

#[cfg(feature = "apiextensions")]
use planesmith_machinery::pem::{Block, CERTIFICATE, blocks};
#[cfg(feature = "apiextensions")]
use x509_cert::Certificate;

#[cfg(feature = "apiextensions")]
use planesmith_machinery::der::decode;

#[cfg(feature = "kubernetes")]
pub(super) use requests::{anchors_complaints, certificates_complaint, request_complaint};

/// Returns the error in a bundle of CA certificates; `None` when it is valid or empty. Blocks other than certificates
/// are ignored.
#[cfg(feature = "apiextensions")]
pub(crate) fn authorities_complaint(pem: &[u8]) -> Option<String> {
    let blocks: Vec<Block> = blocks(pem).collect();
    if blocks.is_empty() && !pem.is_empty() {
        return Some("unable to parse bytes as PEM block".to_owned());
    }
    let mut certificates = blocks
        .iter()
        .filter(|block| block.label == CERTIFICATE && !block.has_headers);
    if pem.is_empty()
        || certificates
            .clone()
            .next()
            .is_some_and(|_| certificates.all(is_certificate))
    {
        return None;
    }
    Some("data does not contain any valid RSA or ECDSA certificates".to_owned())
}

#[cfg(feature = "apiextensions")]
fn is_certificate(block: &Block) -> bool {
    decode::<Certificate>(&block.contents).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST_PEM: &[u8] = b"-----BEGIN CERTIFICATE REQUEST-----
MIHRMHgCAQAwFjEUMBIGA1UEAwwLd2ViLmV4YW1wbGUwWTATBgcqhkjOPQIBBggq
hkjOPQMBBwNCAARoyHt56yzwE+ZtNmepgDBMAHldjBs8lRnW0OOyaLhf4bq+Ia7S
bzKmyClE7RU7qLsXnsvY8rSlpl1x1koN2pdcoAAwCgYIKoZIzj0EAwIDSQAwRgIh
ANDhwZWSdxBklhd7HeKSYpr+VAYDXLmQ1I9bp9WKoiyGAiEAtA8rDhUnSYF+RK6i
KgbU7xYv0sexLUlmkXdoVQY/3cg=
-----END CERTIFICATE REQUEST-----
";

    #[test]
    fn requests_prove_that_the_key_is_theirs() {
        assert_eq!(request_complaint(REQUEST_PEM), None);
        let text = String::from_utf8_lossy(REQUEST_PEM).replace("d2ViLmV4YW1wbGU", "d2VjLmV4YW1wbGU");
        assert_eq!(
            request_complaint(text.as_bytes()).as_deref(),
            Some("x509: signature verification failed")
        );
        assert_eq!(
            request_complaint(b"not a csr").as_deref(),
            Some("PEM block type must be CERTIFICATE REQUEST")
        );
    }

    #[test]
    fn requests_are_no_certificates() {
        assert_eq!(
            certificates_complaint(REQUEST_PEM).as_deref(),
            Some("only CERTIFICATE PEM blocks are allowed, found \"CERTIFICATE REQUEST\"")
        );
        assert_eq!(certificates_complaint(b""), None);
        assert!(certificates_complaint(b"not pem").is_some());
        assert_eq!(
            anchors_complaints(&String::from_utf8_lossy(REQUEST_PEM)),
            ["entry 0 has bad block type: CERTIFICATE REQUEST"]
        );
        assert_eq!(anchors_complaints(""), ["at least one trust anchor must be provided"]);
    }
}
