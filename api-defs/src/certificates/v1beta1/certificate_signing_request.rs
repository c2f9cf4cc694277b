//! Certificate signing requests.

use std::collections::BTreeMap;

use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use crate::certificates::v1;
use crate::certificates::v1::CertificateSigningRequestStatus;

/// Signer of requests that name none.
const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";

/// A request for a certificate. It must be approved before a signer issues the certificate.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "certificates.k8s.io",
    version = "v1beta1",
    short("csr"),
    cluster,
    name_rule = path_segment,
    subresource = "approval",
    status,
    storage_version = v1::CertificateSigningRequest,
    convert,
    unserved,
    strategy
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
    /// Signer that is requested to issue the certificate, as domain/path. Defaults to a signer that matches the
    /// request.
    #[field(proto = 7)]
    pub signer_name: Option<String>,
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

impl Strategy for CertificateSigningRequest {
    fn set_defaults(&mut self) {
        let spec = &mut self.spec;
        if spec.usages.is_empty() {
            spec.usages = ["digital signature", "key encipherment"].map(str::to_owned).to_vec();
        }
        spec.signer_name.get_or_insert_with(|| LEGACY_SIGNER.to_owned());
        for condition in &mut self.status.conditions {
            if condition.status.is_empty() {
                "True".clone_into(&mut condition.status);
            }
        }
    }
}

impl Convert<v1::CertificateSigningRequest> for CertificateSigningRequest {
    fn finish_to_hub(&self, hub: &mut v1::CertificateSigningRequest) {
        hub.spec.signer_name = self.spec.signer_name.clone().unwrap_or_default();
    }

    fn finish_from_hub(&mut self, hub: &v1::CertificateSigningRequest) {
        self.spec.signer_name = Some(hub.spec.signer_name.clone());
    }

    fn can_hold(hub: &v1::CertificateSigningRequest) -> bool {
        let mut conditions = hub.status.conditions.iter();
        !hub.spec.usages.is_empty() && conditions.all(|condition| !condition.status.is_empty())
    }
}
