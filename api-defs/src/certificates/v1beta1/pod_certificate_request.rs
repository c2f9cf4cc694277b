//! Certificate requests of pods.

mod columns;
mod key_check;
mod status_check;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::meta::{Condition, ObjectMeta};
use planesmith_machinery::names;
use planesmith_machinery::selector::FieldLabels;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use crate::certificates::{signer_name, user_annotations};

/// Maximum length of a UID.
const MAX_UID: usize = 128;

/// Returns the minimum and maximum validity of a certificate of `signer` in seconds: one hour to 91 days, or one day
/// for Kubernetes' own signers.
pub(crate) fn expiration_bounds(signer: &str) -> (i32, i32) {
    match signer_name::is_of_kubernetes(signer) {
        true => (3600, 86400),
        false => (3600, 7_862_400),
    }
}

/// A request for a certificate that a node creates for one of its pods. Its spec is immutable.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "certificates.k8s.io",
    version = "v1beta1",
    feature = crate::features::POD_CERTIFICATE_REQUEST,
    status,
    status_resets("metadata"),
    conditional_update,
    selectable("spec.signerName", "spec.podName", "spec.nodeName"),
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(
        name = "PodName",
        type = "string",
        doc = "The pod that the certificate is for.",
        path = "spec.podName"
    ),
    column(
        name = "ServiceAccountName",
        type = "string",
        doc = "The service account of the pod.",
        path = "spec.serviceAccountName"
    ),
    column(
        name = "NodeName",
        type = "string",
        doc = "The node of the pod.",
        path = "spec.nodeName"
    ),
    column(
        name = "SignerName",
        type = "string",
        doc = "The signer.",
        path = "spec.signerName"
    ),
    column(name = "State", type = "string", doc = "State of the request.", with = columns::state),
    column(
        name = "UnverifiedUserAnnotations",
        type = "string",
        doc = "Annotations for the signer.",
        with = columns::user_annotations
    )
)]
pub struct PodCertificateRequest {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The certificate request and its pod.
    #[field(proto = 2, keep)]
    pub spec: PodCertificateRequestSpec,
    /// State of the request.
    #[field(proto = 3)]
    pub status: PodCertificateRequestStatus,
}

/// The certificate request and its pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodCertificateRequestSpec {
    /// Signer that is requested to issue the certificate, as domain/path.
    #[field(proto = 1, keep)]
    pub signer_name: String,
    /// Name of the pod.
    #[field(proto = 2, keep)]
    pub pod_name: String,
    /// UID of the pod.
    #[field(name = "podUID", proto = 3, keep, go_type = "types.UID")]
    pub pod_uid: String,
    /// Service account of the pod.
    #[field(proto = 4, keep)]
    pub service_account_name: String,
    /// UID of the service account.
    #[field(name = "serviceAccountUID", proto = 5, keep, go_type = "types.UID")]
    pub service_account_uid: String,
    /// Node of the pod.
    #[field(proto = 6, keep, go_type = "types.NodeName")]
    pub node_name: String,
    /// UID of the node.
    #[field(name = "nodeUID", proto = 7, keep, go_type = "types.UID")]
    pub node_uid: String,
    /// Maximum validity of the certificate in seconds, from one hour to 91 days. Default: one day.
    #[field(proto = 8, default = 86400)]
    pub max_expiration_seconds: Option<i32>,
    /// Public key of the certificate in PKIX encoding. Replaced by stubPKCS10Request.
    #[field(proto = 9, keep, optional)]
    pub pkix_public_key: ByteString,
    /// Signature that proves the pod's possession of the private key. Replaced by stubPKCS10Request.
    #[field(proto = 10, keep, optional)]
    pub proof_of_possession: ByteString,
    /// PKCS #10 request that contains only the public key and is signed with the private key.
    #[field(name = "stubPKCS10Request", proto = 12, keep)]
    pub stub_pkcs10_request: ByteString,
    /// Annotations that the author of the pod passes to the signer, not verified by the server.
    #[field(proto = 11)]
    pub unverified_user_annotations: BTreeMap<String, String>,
}

/// State of a request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodCertificateRequestStatus {
    /// Conditions: exactly one of Issued, Denied and Failed.
    #[field(proto = 1, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<Condition>,
    /// Issued certificate in PEM, followed by its chain to the signer. Immutable once set.
    #[field(proto = 2)]
    pub certificate_chain: String,
    /// Start of the certificate's validity.
    #[field(proto = 4)]
    pub not_before: Option<Time>,
    /// Time from which a new certificate should be requested.
    #[field(proto = 5)]
    pub begin_refresh_at: Option<Time>,
    /// End of the certificate's validity.
    #[field(proto = 6)]
    pub not_after: Option<Time>,
}

impl Strategy for PodCertificateRequest {
    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.keep_for_status(&old.metadata);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(&mut errors.at("spec"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.spec != old.spec {
            errors.invalid("spec", GoValue(&self.spec), "field is immutable");
        }
    }

    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        if errors.is_empty() {
            self.check_answer(old, errors.now(), errors);
        }
    }
}

impl StrategyExtensions for PodCertificateRequest {
    const FIELD_LABELS: FieldLabels = FieldLabels {
        namespace: false,
        ..FieldLabels::NONE
    };

    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;
}

impl PodCertificateRequestSpec {
    fn check(&self, errors: &mut FieldErrors) {
        signer_name::check("signerName", &self.signer_name, errors);
        user_annotations::check("unverifiedUserAnnotations", &self.unverified_user_annotations, errors);
        for (field, name, uid_field, uid) in [
            ("podName", &self.pod_name, "podUID", &self.pod_uid),
            (
                "serviceAccountName",
                &self.service_account_name,
                "serviceAccountUID",
                &self.service_account_uid,
            ),
            ("nodeName", &self.node_name, "nodeUID", &self.node_uid),
        ] {
            for complaint in names::dns_subdomain(name) {
                errors.invalid(field, name, complaint);
            }
            if uid.is_empty() {
                errors.invalid(uid_field, "", "must not be empty");
            }
            if uid.len() > MAX_UID {
                errors.too_long(uid_field, MAX_UID as u64);
            }
        }
        let (least, most) = expiration_bounds(&self.signer_name);
        match self.max_expiration_seconds {
            None => return errors.required("maxExpirationSeconds", "must be set"),
            Some(seconds) if !(least..=most).contains(&seconds) => {
                let detail = format!("must be in the range [{least}, {most}]");
                errors.invalid("maxExpirationSeconds", seconds, detail);
            }
            Some(_) => {}
        }
        self.check_key(errors);
    }
}
