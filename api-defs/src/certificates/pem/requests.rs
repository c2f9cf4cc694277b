//! Requests for certificates, issued certificates and trust anchors, in PEM.

use planesmith_machinery::go_format::quote;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::error::X509Error;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::{Block, CERTIFICATE, blocks};

const REQUEST: &str = "CERTIFICATE REQUEST";

/// Returns the error in a certificate signing request, in its encoding or its signature; `None` when it is valid.
pub(in crate::certificates) fn request_complaint(pem: &[u8]) -> Option<String> {
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
pub(in crate::certificates) fn certificates_complaint(pem: &[u8]) -> Option<String> {
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

/// Returns the errors in a list of trust anchors; empty when it is valid.
pub(in crate::certificates) fn anchors_complaints(pem: &str) -> Vec<String> {
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
