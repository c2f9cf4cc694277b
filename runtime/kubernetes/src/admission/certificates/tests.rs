use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use planesmith_access::authorization::{self, AuthorizationOutcome};
use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{Resource, Struct};

use super::*;
use crate::admission::testing::Request;

/// A request for a certificate, with the fields that these tests need.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "certificates.k8s.io",
    version = "v1",
    kind = "CertificateSigningRequest",
    cluster,
    status
)]
struct Certificate {
    /// Metadata.
    #[field(proto = 1)]
    metadata: ObjectMeta,
    /// The requested certificate.
    #[field(proto = 2)]
    spec: CertificateSpec,
    /// The issued certificate.
    #[field(proto = 3)]
    status: CertificateStatus,
}

/// The requested certificate.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct CertificateSpec {
    /// PEM.
    #[field(proto = 1)]
    request: ByteString,
    /// The signer.
    #[field(proto = 2)]
    signer_name: String,
}

/// The issued certificate.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct CertificateStatus {
    /// PEM.
    #[field(proto = 1)]
    certificate: ByteString,
}

/// A trust bundle, with the fields that these tests need.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "certificates.k8s.io",
    version = "v1beta1",
    kind = "ClusterTrustBundle",
    cluster
)]
struct Bundle {
    /// Metadata.
    #[field(proto = 1)]
    metadata: ObjectMeta,
    /// The bundle.
    #[field(proto = 2)]
    spec: BundleSpec,
}

/// The bundle.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct BundleSpec {
    /// The signer of the certificate.
    #[field(proto = 1)]
    signer_name: String,
}

/// Allows one verb for one signer.
#[derive(Debug)]
struct One(&'static str, &'static str);

impl Authorizer for One {
    fn authorize(&self, attributes: &authorization::Attributes<'_>) -> AuthorizationOutcome {
        match attributes.target {
            Target::Resource {
                resource: "signers",
                name,
                ..
            } if (attributes.verb, name) == (self.0, self.1) => AuthorizationOutcome::ALLOW,
            _ => AuthorizationOutcome::NO_OPINION,
        }
    }
}

fn certificate(request: &str) -> Certificate {
    let mut certificate = Certificate::default();
    certificate.metadata.name = "c".to_owned();
    certificate.spec.signer_name = "example.com/a".to_owned();
    certificate.spec.request = ByteString::from(request.as_bytes().to_vec());
    certificate
}

#[test]
fn approving_needs_the_permission_of_the_signer() {
    let approve = |allowed: &'static str, subresource| {
        let plugin = CertificateApproval {
            authorizer: Arc::new(One("approve", allowed)),
        };
        let request = Request::update::<Certificate>().below(subresource);
        request.updated(&plugin, &certificate(""), certificate("")).map(drop)
    };
    assert_eq!(approve("example.com/a", "approval"), Ok(()));
    assert_eq!(approve("example.com/*", "approval"), Ok(()));
    assert_eq!(approve("example.com/b", "status"), Ok(()));
    assert_eq!(
        approve("example.com/b", "approval").unwrap_err(),
        "certificatesigningrequests.certificates.k8s.io \"c\" is forbidden: user not permitted to approve requests with \
         signerName \"example.com/a\""
    );
}

#[test]
fn signing_needs_the_permission_of_the_signer() {
    let sign = |allowed: &'static str, issued: &str| {
        let plugin = CertificateSigning {
            authorizer: Arc::new(One("sign", allowed)),
        };
        let mut new = certificate("");
        new.status.certificate = ByteString::from(issued.as_bytes().to_vec());
        let request = Request::update::<Certificate>().below("status");
        request.updated(&plugin, &certificate(""), new).map(drop)
    };
    assert_eq!(sign("example.com/a", "x"), Ok(()));
    assert_eq!(sign("none", ""), Ok(()));
    let refused = sign("none", "x").unwrap_err();
    assert!(
        refused.ends_with("user not permitted to sign requests with signerName \"example.com/a\""),
        "{refused}"
    );
}

#[test]
fn trust_bundles_of_a_signer_need_its_permission() {
    let plugin = ClusterTrustBundleAttest {
        authorizer: Arc::new(One("attest", "example.com/a")),
    };
    let bundle = |signer: &str| {
        let mut bundle = Bundle::default();
        bundle.spec.signer_name = signer.to_owned();
        bundle
    };
    let create = |signer: &str| Request::create::<Bundle>().created(&plugin, bundle(signer)).map(drop);
    assert_eq!(create(""), Ok(()));
    assert_eq!(create("example.com/a"), Ok(()));
    assert!(create("example.com/b").is_err());
    let mut cleaned = bundle("example.com/b");
    cleaned.metadata.finalizers.push("x".to_owned());
    let update = Request::update::<Bundle>();
    assert!(update.updated(&plugin, &cleaned, bundle("example.com/b")).is_ok());
}

#[test]
fn requests_for_the_privileged_group_are_refused() {
    let admit = |group: &str, tag: u8| {
        let mut parameters = rcgen::CertificateParams::default();
        parameters
            .distinguished_name
            .push(rcgen::DnType::OrganizationName, group);
        let key = rcgen::KeyPair::generate().unwrap();
        let mut der = parameters.serialize_request(&key).unwrap().der().to_vec();
        let name = der.windows(group.len()).position(|part| part == group.as_bytes());
        der[name.unwrap() - 2] = tag;
        let text = STANDARD.encode(der);
        let lines = text.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap());
        let lines = lines.collect::<Vec<_>>().join("\n");
        let mut certificate = certificate(&format!(
            "-----BEGIN CERTIFICATE REQUEST-----\n{lines}\n-----END CERTIFICATE REQUEST-----\n"
        ));
        certificate.spec.signer_name = "kubernetes.io/kube-apiserver-client".to_owned();
        Request::create::<Certificate>()
            .created(&CertificateSubjectRestriction, certificate)
            .map(drop)
    };
    const UTF8: u8 = 0x0c;
    const NUMERIC: u8 = 0x12;
    const LATIN: u8 = 0x14;
    assert_eq!(admit("developers", UTF8), Ok(()));
    for tag in [UTF8, LATIN] {
        assert_eq!(
            admit("system:masters", tag).unwrap_err(),
            "certificatesigningrequests.certificates.k8s.io \"c\" is forbidden: use of \
             kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"
        );
    }
    let refused = admit("system:masters", NUMERIC).unwrap_err();
    assert!(
        refused.contains("failed to parse CSR: x509: invalid RDNSequence"),
        "{refused}"
    );
}
