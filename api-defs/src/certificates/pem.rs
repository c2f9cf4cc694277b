//! Certificates and certificate requests in PEM.

use planesmith_machinery::go_format::quote;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::error::X509Error;
use x509_parser::pem::Pem;
use x509_parser::prelude::{FromDer, X509Certificate};

const REQUEST: &str = "CERTIFICATE REQUEST";
pub(super) const CERTIFICATE: &str = "CERTIFICATE";

/// Returns the error in a certificate signing request, in its encoding or its signature; `None` when it is valid.
pub(super) fn request_complaint(pem: &[u8]) -> Option<String> {
    let block = blocks(pem).into_iter().next();
    let Some(block) = block.filter(|block| block.label == REQUEST) else {
        return Some(format!("PEM block type must be {REQUEST}"));
    };
    match X509CertificationRequest::from_der(&block.contents) {
        Err(problem) => Some(format!("asn1: structure error: {problem}")),
        Ok((rest, _)) if !rest.is_empty() => Some("asn1: syntax error: trailing data".to_owned()),
        Ok((_, request)) => match request.verify_signature() {
            Ok(()) => None,
            Err(X509Error::SignatureUnsupportedAlgorithm) => {
                Some("x509: cannot verify signature: algorithm unimplemented".to_owned())
            }
            Err(_) => Some("x509: signature verification failed".to_owned()),
        },
    }
}

/// Returns the error in a chain of issued certificates; `None` when it is valid or empty.
pub(super) fn certificates_complaint(pem: &[u8]) -> Option<String> {
    if pem.is_empty() {
        return None;
    }
    let blocks = blocks(pem);
    if blocks.is_empty() {
        return Some("must contain at least one CERTIFICATE PEM block".to_owned());
    }
    blocks.iter().find_map(|block| {
        if block.label != CERTIFICATE {
            let found = quote(&block.label);
            return Some(format!("only CERTIFICATE PEM blocks are allowed, found {found}"));
        }
        if block.has_headers {
            return Some("no PEM block headers are permitted".to_owned());
        }
        if block.contents.is_empty() {
            return Some("found CERTIFICATE PEM block containing 0 certificates".to_owned());
        }
        let mut rest = block.contents.as_slice();
        while !rest.is_empty() {
            match X509Certificate::from_der(rest) {
                Ok((after, _)) => rest = after,
                Err(_) => return Some("x509: malformed certificate".to_owned()),
            }
        }
        None
    })
}

/// Returns the error in a bundle of CA certificates; `None` when it is valid or empty. Blocks other than certificates
/// are ignored.
pub(crate) fn authorities_complaint(pem: &[u8]) -> Option<String> {
    let blocks = blocks(pem);
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

fn is_certificate(block: &Block) -> bool {
    X509Certificate::from_der(&block.contents).is_ok()
}

/// Returns the errors in a list of trust anchors; empty when it is valid.
pub(super) fn anchors_complaints(pem: &str) -> Vec<String> {
    let blocks = blocks(pem.as_bytes());
    let bad = blocks.iter().enumerate().filter_map(|(index, block)| {
        let complaint = anchor_complaint(block)?;
        Some(format!("entry {index} {complaint}"))
    });
    let bad: Vec<String> = bad.collect();
    if !bad.is_empty() {
        return bad;
    }
    if blocks.is_empty() {
        return vec!["at least one trust anchor must be provided".to_owned()];
    }
    let places = |block: &Block| -> Vec<String> {
        let same = blocks
            .iter()
            .enumerate()
            .filter(|(_, other)| other.contents == block.contents);
        same.map(|(index, _)| index.to_string()).collect()
    };
    let repeated = blocks.iter().enumerate().filter_map(|(index, block)| {
        let places = places(block);
        let first = places.first().is_some_and(|first| *first == index.to_string());
        (first && places.len() > 1).then(|| format!("duplicate trust anchor (indices [{}])", places.join(" ")))
    });
    repeated.collect()
}

fn anchor_complaint(block: &Block) -> Option<String> {
    if block.label != CERTIFICATE {
        return Some(format!("has bad block type: {}", block.label));
    }
    if block.has_headers {
        return Some("has PEM block headers".to_owned());
    }
    let Ok((rest, certificate)) = X509Certificate::from_der(&block.contents) else {
        return Some("does not parse as X.509".to_owned());
    };
    if !rest.is_empty() {
        return Some("does not parse as X.509".to_owned());
    }
    match certificate.basic_constraints() {
        Ok(Some(constraints)) if constraints.value.ca => None,
        Ok(_) => Some("does not have the CA bit set".to_owned()),
        Err(_) => Some("does not parse as X.509".to_owned()),
    }
}

/// A PEM block.
pub(super) struct Block {
    pub(super) label: String,
    pub(super) contents: Vec<u8>,
    has_headers: bool,
}

/// Returns the readable blocks. Text between them is ignored.
pub(super) fn blocks(pem: &[u8]) -> Vec<Block> {
    let readable = Pem::iter_from_buffer(pem).map_while(Result::ok);
    let mut blocks: Vec<Block> = readable
        .map(|block| Block {
            label: block.label,
            contents: block.contents,
            has_headers: false,
        })
        .collect();
    // The PEM parser skips headers, which are lines with a colon; base64 has no colons.
    let text = String::from_utf8_lossy(pem);
    for (block, part) in blocks.iter_mut().zip(text.split("-----BEGIN ").skip(1)) {
        let inner = part.split("-----END ").next().unwrap_or_default();
        block.has_headers = inner.lines().skip(1).any(|line| line.contains(':'));
    }
    blocks
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
