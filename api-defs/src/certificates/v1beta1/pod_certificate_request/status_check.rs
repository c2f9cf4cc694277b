//! Validation of the status of pod certificate requests.

use planesmith_machinery::der::decode;
use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::pem::{Block, CERTIFICATE, blocks};
use planesmith_machinery::time::Time;
use planesmith_machinery::validation::check_conditions;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::time::Time as CertificateTime;
use x509_cert::{Certificate, TbsCertificate};

use super::key_check::omitted;
use super::{PodCertificateRequest, PodCertificateRequestStatus};
use crate::certificates::pod_key::Key;

/// Final conditions.
const ENDS: [&str; 3] = ["Issued", "Denied", "Failed"];

/// Maximum size of a certificate chain in bytes.
const MAX_CHAIN: usize = 100 * 1024;

/// Maximum difference between the start of a certificate's validity and the present, in seconds.
const SKEW: i64 = 5 * 60;

/// Minimum validity of a certificate in seconds.
const MIN_LIFETIME: i64 = 60 * 60;

/// Minimum distance of a certificate's refresh from the start and the end of its validity, in seconds.
const MIN_REFRESH_DISTANCE: i64 = 10 * 60;

const CHAIN: &str = "certificateChain";

impl PodCertificateRequest {
    /// Reports errors in the status that replaces the one of `old`, at the time `now`.
    pub(super) fn check_answer(&self, old: &Self, now: Time, errors: &mut FieldErrors) {
        let before = errors.count();
        let (new, old_status) = (&self.status, &old.status);
        new.check_ends(errors);
        check_conditions(errors, "status.conditions", &new.conditions);
        if errors.count() > before {
            return;
        }
        let changed = new != old_status;
        if old_status.has_ended() {
            if changed {
                omitted(
                    "status",
                    "immutable after PodCertificateRequest is issued, denied, or failed",
                    errors,
                );
            }
        } else if new.is("Denied") || new.is("Failed") {
            let conditions_only = PodCertificateRequestStatus {
                conditions: new.conditions.clone(),
                ..PodCertificateRequestStatus::default()
            };
            if *new != conditions_only {
                let detail =
                    "non-condition status fields must be empty when denying or failing the PodCertificateRequest";
                omitted("status", detail, errors);
            }
        } else if new.is("Issued") {
            self.check_chain(old, now, &mut errors.at("status"));
        } else if changed {
            let detail = "status is immutable unless transitioning to \"Issued\", \"Denied\", or \"Failed\"";
            omitted("status", detail, errors);
        }
    }

    fn check_chain(&self, old: &Self, now: Time, errors: &mut FieldErrors) {
        let chain = self.status.certificate_chain.as_str();
        if chain.len() > MAX_CHAIN {
            return errors.too_long(CHAIN, MAX_CHAIN as u64);
        }
        let blocks: Vec<Block> = blocks(chain.as_bytes()).collect();
        let Some((first, others)) = blocks.split_first() else {
            return errors.invalid(
                CHAIN,
                chain,
                "issued certificate chain must contain at least one certificate",
            );
        };
        if first.label != CERTIFICATE {
            let detail = "issued certificate chain must consist entirely of CERTIFICATE PEM blocks";
            return errors.invalid(CHAIN, chain, detail);
        }
        let Some(leaf) = certificate(&first.contents) else {
            return errors.invalid(CHAIN, chain, "leaf certificate does not parse as valid X.509");
        };
        let before = errors.count();
        check_names(&leaf, errors);
        if old.spec.key() != Key::from_info(&leaf.subject_public_key_info).ok() {
            return errors.invalid(
                CHAIN,
                chain,
                "leaf certificate was not issued to the requested public key",
            );
        }
        self.check_times(&leaf, now, before, errors);
        if errors.count() > before {
            return;
        }
        for block in others {
            // The message has the spelling error of kube-apiserver.
            let detail = match block.label == CERTIFICATE {
                false => "issued certificate chain must consist entirely of CERTFICATE PEM blocks",
                true if certificate(&block.contents).is_none() => {
                    "intermediate certificate does not parse as valid X.509"
                }
                true => continue,
            };
            return errors.invalid(CHAIN, chain, detail);
        }
    }

    /// Reports the first time that is missing or wrong, unless there are errors `before`.
    fn check_times(&self, leaf: &TbsCertificate, now: Time, before: usize, errors: &mut FieldErrors) {
        const CONSISTENT: &str = "must be present and consistent with the issued certificate";
        let status = &self.status;
        for (field, time, detail) in [
            ("notBefore", status.not_before, CONSISTENT),
            ("notAfter", status.not_after, CONSISTENT),
            (
                "beginRefreshAt",
                status.begin_refresh_at,
                "must be present and in the range [notbefore+10min, notafter-10min]",
            ),
        ] {
            if time.is_none() {
                errors.required(field, detail);
            }
        }
        let (Some(start), Some(end), Some(refresh)) = (status.not_before, status.not_after, status.begin_refresh_at)
        else {
            return;
        };
        if errors.count() > before {
            return;
        }
        let seconds = |time: CertificateTime| i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX);
        let (from, to) = (seconds(leaf.validity.not_before), seconds(leaf.validity.not_after));
        let mut wrong = |field: &str, time: Time, detail: &str| errors.invalid(field, time.to_string(), detail);
        if start.as_second() != from {
            return wrong(
                "notBefore",
                start,
                "must be set to the NotBefore time encoded in the leaf certificate",
            );
        }
        if (from - now.as_second()).abs() >= SKEW {
            return wrong(
                "notBefore",
                start,
                "must be set to within 5 minutes of kube-apiserver's current time",
            );
        }
        if end.as_second() != to {
            return wrong(
                "notAfter",
                end,
                "must be set to the NotAfter time encoded in the leaf certificate",
            );
        }
        let most = self.spec.max_expiration_seconds.unwrap_or_default();
        let lifetime = to.saturating_sub(from);
        let shown = Json(&lifetime.saturating_mul(1_000_000_000).to_string());
        if lifetime < MIN_LIFETIME {
            return errors.invalid(CHAIN, shown, "leaf certificate lifetime must be >= 1 hour");
        }
        if lifetime > i64::from(most) {
            let detail = format!("leaf certificate lifetime must be <= spec.maxExpirationSeconds ({most})");
            return errors.invalid(CHAIN, shown, detail);
        }
        if refresh.as_second() < from.saturating_add(MIN_REFRESH_DISTANCE) {
            return wrong(
                "beginRefreshAt",
                refresh,
                "must be at least 10 minutes after status.notBefore",
            );
        }
        if refresh.as_second() > to.saturating_sub(MIN_REFRESH_DISTANCE) {
            wrong(
                "beginRefreshAt",
                refresh,
                "must be at least 10 minutes before status.notAfter",
            );
        }
    }
}

impl PodCertificateRequestStatus {
    fn is(&self, end: &str) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.any(|condition| condition.r#type == end && condition.status == "True")
    }

    fn has_ended(&self) -> bool {
        ENDS.iter().any(|end| self.is(end))
    }

    /// Reports conditions that are not final, and several final conditions.
    fn check_ends(&self, errors: &mut FieldErrors) {
        let mut ends = 0;
        for (index, condition) in self.conditions.iter().enumerate() {
            // As in kube-apiserver, the path has a dot in front of the index.
            let errors = &mut *errors.at(&format!("status.conditions.[{index}]"));
            let type_ = condition.r#type.as_str();
            if !ENDS.contains(&type_) {
                errors.not_supported_in_order("type", type_, &ENDS);
                continue;
            }
            ends += 1;
            if ends > 1 {
                let detail = "There may be at most one condition with type \"Issued\", \"Denied\", or \"Failed\"";
                errors.invalid("type", type_, detail);
            }
            if condition.status != "True" {
                errors.not_supported("status", &condition.status, &["True"]);
            }
        }
    }
}

fn certificate(der: &[u8]) -> Option<TbsCertificate> {
    Some(decode::<Certificate>(der).ok()?.tbs_certificate)
}

/// Reports subject alternative names that certificate parsers reject.
fn check_names(leaf: &TbsCertificate, errors: &mut FieldErrors) {
    let names = leaf.get::<SubjectAltName>().ok().flatten();
    for name in names.iter().flat_map(|(_, names)| &names.0) {
        match name {
            GeneralName::DnsName(name) => {
                let name = name.as_str();
                if name.is_empty() {
                    errors.invalid(CHAIN, name, "leaf certificate should not contain empty DNSName");
                }
                if name.contains("..") {
                    errors.invalid(CHAIN, name, "leaf certificate's DNSName should not contain '..'");
                }
                if name.starts_with('.') || name.ends_with('.') {
                    errors.invalid(
                        CHAIN,
                        name,
                        "leaf certificate's DNSName should not start or end with '.'",
                    );
                }
            }
            GeneralName::Rfc822Name(address) if !is_mail_address(address.as_str()) => {
                errors.invalid(
                    CHAIN,
                    address.as_str(),
                    "leaf certificate should not contain invalid EmailAddress",
                );
            }
            _ => {}
        }
    }
}

fn is_mail_address(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_graphic() && !b"()<>[]:;,\\\"".contains(&byte);
    text.rsplit_once('@').is_some_and(|(local, domain)| {
        !local.is_empty() && !domain.is_empty() && !local.contains('@') && text.bytes().all(legal)
    })
}
