//! Certificate signing requests.

mod approval;
mod check;
mod columns;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use check::Part;

/// A request for a certificate. It must be approved before a signer issues the certificate.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "certificates.k8s.io",
    version = "v1",
    short("csr"),
    cluster,
    name_rule = path_segment,
    subresource = "approval",
    status,
    resets("spec"),
    status_resets("status.conditions"),
    selectable("spec.signerName"),
    strategy, strategy_extensions
)]
#[resource(
    column(name),
    column(age),
    column(name = "SignerName", type = "string", doc = "The signer.", path = "spec.signerName"),
    column(name = "Requestor", type = "string", doc = "The requester.", path = "spec.username"),
    column(name = "RequestedDuration", type = "string", doc = "Requested validity of the certificate.", with = columns::duration),
    column(name = "Condition", type = "string", doc = "State of the request.", with = columns::condition)
)]
pub struct CertificateSigningRequest {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The certificate request and its requester. Immutable.
    #[field(proto = 2, keep)]
    pub spec: CertificateSigningRequestSpec,
    /// State of the request.
    #[field(proto = 3)]
    pub status: CertificateSigningRequestStatus,
}

/// The certificate request and its requester.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CertificateSigningRequestSpec {
    /// Certificate signing request in PEM, signed with the key of the requested certificate.
    #[field(proto = 1, keep)]
    pub request: ByteString,
    /// Signer that is requested to issue the certificate, as domain/path.
    #[field(proto = 7, keep)]
    pub signer_name: String,
    /// Requested validity of the certificate in seconds, at least 600. The signer may issue another validity.
    #[field(proto = 8)]
    pub expiration_seconds: Option<i32>,
    /// Intended usages of the key, such as "client auth".
    #[field(
        proto = 5,
        list_type = atomic,
        known(
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
            "timestamping"
        ), go_type = "[]KeyUsage")]
    pub usages: Vec<String>,
    /// Name of the user who created the object, set by the server.
    #[field(proto = 2)]
    pub username: String,
    /// UID of the user who created the object, set by the server.
    #[field(proto = 3)]
    pub uid: String,
    /// Groups of the user who created the object, set by the server.
    #[field(proto = 4, list_type = atomic)]
    pub groups: Vec<String>,
    /// Further information about the user who created the object, set by the server.
    #[field(proto = 6, go_type = "map[string]ExtraValue")]
    pub extra: BTreeMap<String, Vec<String>>,
}

/// State of a request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CertificateSigningRequestStatus {
    /// Conditions: Approved, Denied and Failed report the decision and the result of the signer.
    #[field(proto = 1, list_type = map, list_map_keys("type"))]
    pub conditions: Vec<CertificateSigningRequestCondition>,
    /// Issued certificate in PEM, followed by its chain to the signer. Immutable once set.
    #[field(proto = 2)]
    pub certificate: ByteString,
}

/// A condition of a request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CertificateSigningRequestCondition {
    /// Type of the condition: Approved, Denied, Failed or another.
    #[field(name = "type", proto = 1, keep, go_type = "RequestConditionType")]
    pub type_: String,
    /// Status of the condition: True, False or Unknown. Approved, Denied and Failed can only be True.
    #[field(proto = 6, keep, go_type = "v1.ConditionStatus")]
    pub status: String,
    /// CamelCase reason of the condition, for programs.
    #[field(proto = 2)]
    pub reason: String,
    /// Human-readable explanation of the state.
    #[field(proto = 3)]
    pub message: String,
    /// Time of the last update of the condition.
    #[field(proto = 4)]
    pub last_update_time: Time,
    /// Time of the last change of status.
    #[field(proto = 5)]
    pub last_transition_time: Time,
}

impl Strategy for CertificateSigningRequest {
    fn prepare_for_create(&mut self, context: &Context<'_>) {
        if let Some(user) = &context.user {
            let spec = &mut self.spec;
            user.name.clone_into(&mut spec.username);
            user.uid.clone_into(&mut spec.uid);
            user.groups.clone_into(&mut spec.groups);
            spec.extra.clone_from(user.extra);
        }
    }

    fn prepare_for_update(&mut self, _: &Context<'_>, old: &Self) {
        self.spec.clone_from(&old.spec);
    }

    fn prepare_for_status_update(&mut self, context: &Context<'_>, old: &Self) {
        self.status.keep_decision(&old.status);
        self.status.fill_times(&old.status, context.now);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.check(None, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.status.check_change(&old.status, Part::Main, errors);
    }

    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.check(Some(old), errors);
        self.status.check_change(&old.status, Part::Status, errors);
    }
}

impl StrategyExtensions for CertificateSigningRequest {
    const UPDATE_ORDER: &'static [UpdateStep] = &[
        UpdateStep::Metadata,
        UpdateStep::Object,
        UpdateStep::Change,
        UpdateStep::MetadataChange,
    ];

    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        self.check(Some(old), errors);
    }
}
