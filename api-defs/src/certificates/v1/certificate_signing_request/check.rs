//! Validation of certificate signing requests.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::value::Value;

use super::approval::DECISIONS;
use super::{CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestStatus};
use crate::certificates::{pem, signer_name};

/// Former name of the controller manager's signers, which new requests must not use.
const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";

/// Conditions that can only have status True.
const TRUE_ONLY: [&str; 3] = ["Approved", "Denied", "Failed"];

/// Minimum requested validity in seconds.
const MIN_EXPIRATION: i32 = 600;

const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// The part of a request that a write changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The object itself, without decisions and certificates.
    Main,
    /// `/approval`: decisions.
    Approval,
    /// `/status`: certificates.
    Status,
}

impl CertificateSigningRequest {
    /// Reports errors in the request. Errors that the stored request has are tolerated.
    pub(super) fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let spec = &self.spec;
        if let Some(complaint) = pem::request_complaint(&spec.request) {
            match spec.request.is_empty() {
                true => errors.invalid("spec.request", Json("null"), complaint),
                false => errors.invalid("spec.request", &spec.request as &dyn Value, complaint),
            }
        }
        self.check_usages(old, errors);
        let legacy = old.is_some_and(|old| old.spec.signer_name == LEGACY_SIGNER);
        if spec.signer_name == LEGACY_SIGNER && !legacy {
            let detail = "the legacy signerName is not allowed via this API version";
            errors.invalid("spec.signerName", &spec.signer_name, detail);
        } else {
            signer_name::check("spec.signerName", &spec.signer_name, errors);
        }
        if let Some(seconds @ ..MIN_EXPIRATION) = spec.expiration_seconds {
            let detail = "may not specify a duration less than 600 seconds (10 minutes)";
            errors.invalid("spec.expirationSeconds", seconds, detail);
        }
        let old = old.map(|old| &old.status);
        self.status.check_conditions(old, &mut errors.at("status"));
        self.status.check_certificate(old, errors);
    }

    fn check_usages(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        const FIELD: &str = "spec.usages";
        let usages = &self.spec.usages;
        if usages.is_empty() {
            errors.required(FIELD, "");
        }
        let known = |usage: &String| USAGES.contains(&usage.as_str());
        if old.is_none_or(|old| old.spec.usages.iter().all(known)) {
            for (index, usage) in usages.iter().enumerate().filter(|(_, usage)| !known(usage)) {
                errors.at_index(FIELD, index).not_supported("", usage, &USAGES);
            }
        }
        if !old.is_some_and(|old| has_repeated(old.spec.usages.iter().map(String::as_str))) {
            let mut seen = BTreeSet::new();
            for (index, usage) in usages.iter().enumerate() {
                if !seen.insert(usage) {
                    errors.at_index(FIELD, index).duplicate("", usage);
                }
            }
        }
    }
}

impl CertificateSigningRequestStatus {
    fn types(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().map(|condition| condition.type_.as_str())
    }

    fn of_type(&self, type_: &str) -> Vec<&CertificateSigningRequestCondition> {
        self.conditions
            .iter()
            .filter(|condition| condition.type_ == type_)
            .collect()
    }

    fn check_conditions(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        const FIELD: &str = "conditions";
        let both = old.is_some_and(|old| {
            DECISIONS
                .iter()
                .all(|decision| old.types().any(|type_| type_ == *decision))
        });
        let repeated = old.is_some_and(|old| has_repeated(old.types()));
        let unnamed = old.is_some_and(|old| old.types().any(str::is_empty));
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for (index, condition) in self.conditions.iter().enumerate() {
            let type_ = condition.type_.as_str();
            if type_.is_empty() && !unnamed {
                errors.at_index(FIELD, index).required("type", "");
            }
            condition.check_status(&mut errors.at_index(FIELD, index));
            let decided = DECISIONS.contains(&type_);
            let other = DECISIONS.iter().any(|other| *other != type_ && seen.contains(other));
            if decided && other && !both {
                let detail = "Approved and Denied conditions are mutually exclusive";
                errors.invalid(FIELD, type_, detail);
            }
            if !seen.insert(type_) && !repeated {
                errors.at_index(FIELD, index).duplicate("type", type_);
            }
        }
    }

    fn check_certificate(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let tolerated =
            |old: &Self| old.certificate == self.certificate || pem::certificates_complaint(&old.certificate).is_some();
        if old.is_some_and(tolerated) {
            return;
        }
        if let Some(complaint) = pem::certificates_complaint(&self.certificate) {
            errors.invalid("status.certificate", "<certificate data>", complaint);
        }
    }

    /// Reports changes that an update of `part` must not make.
    pub(super) fn check_change(&self, old: &Self, part: Part, errors: &mut FieldErrors) {
        const CONDITIONS: &str = "status.conditions";
        for type_ in TRUE_ONLY {
            if self.of_type(type_).len() < old.of_type(type_).len() {
                let detail = format!("updates may not remove a condition of type \"{type_}\"");
                errors.forbidden(CONDITIONS, detail);
            }
        }
        for type_ in DECISIONS {
            let (new, old) = (self.of_type(type_), old.of_type(type_));
            if part == Part::Approval || new.len() < old.len() {
                continue;
            }
            let change = if new.len() > old.len() { "add" } else { "modify" };
            if new != old {
                errors.forbidden(
                    CONDITIONS,
                    format!("updates may not {change} a condition of type \"{type_}\""),
                );
            }
        }
        if self.certificate != old.certificate {
            if part != Part::Status {
                errors.forbidden("status.certificate", "updates may not set certificate content");
            } else if !old.certificate.is_empty() {
                errors.forbidden(
                    "status.certificate",
                    "updates may not modify existing certificate content",
                );
            }
        }
    }
}

impl CertificateSigningRequestCondition {
    fn check_status(&self, errors: &mut FieldErrors) {
        let allowed: &[&str] = match TRUE_ONLY.contains(&self.type_.as_str()) {
            true => &["True"],
            false => &["False", "True", "Unknown"],
        };
        match self.status.as_str() {
            "" => errors.required("status", ""),
            status if !allowed.contains(&status) => errors.not_supported("status", status, allowed),
            _ => {}
        }
    }
}

fn has_repeated<'a>(mut texts: impl Iterator<Item = &'a str>) -> bool {
    let mut seen = BTreeSet::new();
    texts.any(|text| !seen.insert(text))
}
