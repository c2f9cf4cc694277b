//! Requests for certificates, issued certificates and trust anchors, in PEM.

use planesmith_machinery::der::{decode, elements};
use planesmith_machinery::go_format::quote;
use planesmith_machinery::pem::{Block, CERTIFICATE, blocks};
use x509_cert::Certificate;
use x509_cert::der::ErrorKind;
use x509_cert::ext::pkix::BasicConstraints;
use x509_cert::request::CertReq;

use crate::certificates::request_signature::{SignatureFlaw, verify};

const REQUEST: &str = "CERTIFICATE REQUEST";

/// Returns the error in a certificate signing request, in its encoding or its signature; `None` when it is valid.
pub(in crate::certificates) fn request_complaint(pem: &[u8]) -> Option<String> {
    let block = blocks(pem).next();
    let Some(block) = block.filter(|block| block.label == REQUEST) else {
        return Some(format!("PEM block type must be {REQUEST}"));
    };
    match decode::<CertReq>(&block.contents) {
        Err(problem) if matches!(problem.kind(), ErrorKind::TrailingData { .. }) => {
            Some("asn1: syntax error: trailing data".to_owned())
        }
        Err(problem) => Some(format!("asn1: structure error: {problem}")),
        Ok(request) => match verify(&request, &block.contents) {
            Ok(()) => None,
            Err(SignatureFlaw::Algorithm) => Some("x509: cannot verify signature: algorithm unimplemented".to_owned()),
            Err(SignatureFlaw::Signature) => Some("x509: signature verification failed".to_owned()),
        },
    }
}

/// Returns the error in a chain of issued certificates; `None` when it is valid or empty.
pub(in crate::certificates) fn certificates_complaint(pem: &[u8]) -> Option<String> {
    if pem.is_empty() {
        return None;
    }
    let blocks: Vec<Block> = blocks(pem).collect();
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
        (!are_certificates(&block.contents)).then(|| "x509: malformed certificate".to_owned())
    })
}

/// True if there are certificates in `der`, one behind the other, and nothing else.
fn are_certificates(der: &[u8]) -> bool {
    let all = elements(der);
    all.is_some_and(|all| all.iter().all(|element| decode::<Certificate>(element.whole).is_ok()))
}

/// Returns the errors in a list of trust anchors; empty when it is valid.
pub(in crate::certificates) fn anchors_complaints(pem: &str) -> Vec<String> {
    let blocks: Vec<Block> = blocks(pem.as_bytes()).collect();
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
    let constraints = decode::<Certificate>(&block.contents)
        .and_then(|certificate| certificate.tbs_certificate.get::<BasicConstraints>());
    match constraints {
        Ok(Some((_, constraints))) if constraints.ca => None,
        Ok(_) => Some("does not have the CA bit set".to_owned()),
        Err(_) => Some("does not parse as X.509".to_owned()),
    }
}
