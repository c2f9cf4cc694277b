//! Kubernetes' built-in signers: the subjects and usages that they accept.

use std::collections::BTreeSet;

use x509_cert::der::flagset::FlagSet;
use x509_cert::der::oid::{ObjectIdentifier, db};
use x509_cert::ext::pkix::KeyUsages;
use x509_cert::ext::pkix::name::GeneralName;

use super::Request;
use planesmith_access::user::{NODE_PREFIX, NODES_GROUP};
use planesmith_control_plane::certificates::issue::Usages;

/// Clients of the server.
pub(crate) const CLIENT: &str = "kubernetes.io/kube-apiserver-client";
/// Nodes as clients of the server.
pub(crate) const NODE_CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
/// Nodes as servers.
const NODE_SERVER: &str = "kubernetes.io/kubelet-serving";
/// Requests from before there were signers.
const LEGACY: &str = "kubernetes.io/legacy-unknown";

/// Checks if a signer would issue the requested certificate; `None` for a signer that is not built in.
pub(crate) fn check(signer: &str, request: &Request, usages: &[String]) -> Option<Result<(), String>> {
    Some(match signer {
        CLIENT => check_client_usages(usages),
        NODE_CLIENT => check_node_client(request, usages),
        NODE_SERVER => check_node_server(request, usages),
        // Anything is accepted, as always.
        LEGACY => Ok(()),
        _ => return None,
    })
}

fn check_client_usages(usages: &[String]) -> Result<(), String> {
    let known = ["digital signature", "key encipherment", "client auth"];
    if let Some(other) = usages.iter().find(|usage| !known.contains(&usage.as_str())) {
        return Err(format!("invalid usage for client certificate: {other}"));
    }
    if !usages.iter().any(|usage| usage == "client auth") {
        return Err("missing required usage for client certificate: client auth".to_owned());
    }
    Ok(())
}

/// Checks the request of a node for its client certificate.
pub(crate) fn check_node_client(request: &Request, usages: &[String]) -> Result<(), String> {
    check_node_group(request)?;
    for (kind, is_kind) in KINDS {
        if request.names.iter().any(is_kind) {
            return Err(not_allowed(kind));
        }
    }
    check_node_name(request)?;
    check_node_usages(usages, "client auth")
}

fn check_node_server(request: &Request, usages: &[String]) -> Result<(), String> {
    check_node_group(request)?;
    let has = |wanted: &str| {
        let mut kinds = KINDS.iter().filter(|(kind, _)| *kind == wanted);
        kinds.any(|(_, is_kind)| request.names.iter().any(is_kind))
    };
    if !has("DNS") && !has("IP") {
        return Err("DNS or IP subjectAltName is required".to_owned());
    }
    for kind in ["Email", "URI"] {
        if has(kind) {
            return Err(not_allowed(kind));
        }
    }
    check_node_usages(usages, "server auth")?;
    check_node_name(request)
}

type IsKind = fn(&GeneralName) -> bool;

/// Kinds of names, in the order in which they are reported.
const KINDS: [(&str, IsKind); 4] = [
    ("DNS", |name| matches!(name, GeneralName::DnsName(_))),
    ("Email", |name| matches!(name, GeneralName::Rfc822Name(_))),
    ("IP", |name| matches!(name, GeneralName::IpAddress(_))),
    ("URI", |name| matches!(name, GeneralName::UniformResourceIdentifier(_))),
];

fn not_allowed(kind: &str) -> String {
    format!("{kind} subjectAltNames are not allowed")
}

fn check_node_group(request: &Request) -> Result<(), String> {
    if request.user.organizations == [NODES_GROUP] {
        return Ok(());
    }
    Err(format!("subject organization is not {NODES_GROUP}"))
}

fn check_node_name(request: &Request) -> Result<(), String> {
    if request.user.common_name.starts_with(NODE_PREFIX) {
        return Ok(());
    }
    Err(format!("subject common name does not begin with {NODE_PREFIX}"))
}

/// Requires exactly these usages; keys that are not RSA cannot encipher others.
fn check_node_usages(usages: &[String], purpose: &str) -> Result<(), String> {
    let requested: BTreeSet<&str> = usages.iter().map(String::as_str).collect();
    let mut wanted = BTreeSet::from([purpose, "digital signature"]);
    if requested == wanted {
        return Ok(());
    }
    wanted.insert("key encipherment");
    if requested == wanted {
        return Ok(());
    }
    let wanted: Vec<&str> = wanted.into_iter().collect();
    Err(format!("usages did not match [{}]", wanted.join(" ")))
}

/// Returns the usages of a request in the form of a certificate; unknown ones are left out.
pub(crate) fn usages(names: &[String]) -> Usages {
    let has = |name: &str| names.iter().any(|own| own == name);
    let key = KEY_USAGES.iter().filter(|(name, _)| has(name));
    let mut extended: Vec<ObjectIdentifier> = Vec::new();
    for (_, oid) in EXTENDED_USAGES.iter().filter(|(name, _)| has(name)) {
        if !extended.contains(oid) {
            extended.push(*oid);
        }
    }
    Usages {
        key: key.fold(FlagSet::default(), |all, (_, usage)| all | *usage),
        extended,
    }
}

const KEY_USAGES: [(&str, KeyUsages); 10] = [
    ("signing", KeyUsages::DigitalSignature),
    ("digital signature", KeyUsages::DigitalSignature),
    ("content commitment", KeyUsages::NonRepudiation),
    ("key encipherment", KeyUsages::KeyEncipherment),
    ("key agreement", KeyUsages::KeyAgreement),
    ("data encipherment", KeyUsages::DataEncipherment),
    ("cert sign", KeyUsages::KeyCertSign),
    ("crl sign", KeyUsages::CRLSign),
    ("encipher only", KeyUsages::EncipherOnly),
    ("decipher only", KeyUsages::DecipherOnly),
];

/// Extended usages by name, in the order in which Go writes them.
const EXTENDED_USAGES: [(&str, ObjectIdentifier); 13] = [
    ("any", db::rfc5280::ANY_EXTENDED_KEY_USAGE),
    ("server auth", db::rfc5280::ID_KP_SERVER_AUTH),
    ("client auth", db::rfc5280::ID_KP_CLIENT_AUTH),
    ("code signing", db::rfc5280::ID_KP_CODE_SIGNING),
    ("email protection", db::rfc5280::ID_KP_EMAIL_PROTECTION),
    ("s/mime", db::rfc5280::ID_KP_EMAIL_PROTECTION),
    ("ipsec end system", ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.5")),
    ("ipsec tunnel", ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.6")),
    ("ipsec user", ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.7")),
    ("timestamping", db::rfc5280::ID_KP_TIME_STAMPING),
    ("ocsp signing", db::rfc5280::ID_KP_OCSP_SIGNING),
    ("microsoft sgc", ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.10.3.3")),
    ("netscape sgc", ObjectIdentifier::new_unwrap("2.16.840.1.113730.4.1")),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a signer's verdict on a request for a subject (common name, organization) with further names.
    fn said(signer: &str, (name, group): (&str, &str), names: &[&str], usages: &[&str]) -> String {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut parameters = rcgen::CertificateParams::new(names).unwrap();
        parameters.distinguished_name = rcgen::DistinguishedName::new();
        parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
        parameters
            .distinguished_name
            .push(rcgen::DnType::OrganizationName, group);
        let key = rcgen::KeyPair::generate().unwrap();
        let pem = parameters.serialize_request(&key).unwrap().pem().unwrap();
        let request = Request::read(pem.as_bytes()).unwrap();
        assert!(request.is_signed());
        let usages: Vec<String> = usages.iter().map(|usage| (*usage).to_owned()).collect();
        match check(signer, &request, &usages) {
            None => "not ours".to_owned(),
            Some(Ok(())) => "fine".to_owned(),
            Some(Err(why)) => why,
        }
    }

    #[test]
    fn clients_ask_for_client_certificates() {
        let jane = ("jane", "people");
        assert_eq!(said(CLIENT, jane, &[], &["client auth"]), "fine");
        assert_eq!(said(CLIENT, jane, &["a.example"], &["client auth"]), "fine");
        let missing = "missing required usage for client certificate: client auth";
        assert_eq!(said(CLIENT, jane, &[], &["digital signature"]), missing);
        let invalid = "invalid usage for client certificate: server auth";
        assert_eq!(said(CLIENT, jane, &[], &["client auth", "server auth"]), invalid);
        assert_eq!(said("example.com/people", jane, &[], &["any"]), "not ours");
    }

    #[test]
    fn nodes_ask_in_their_own_name() {
        let node = ("system:node:a", "system:nodes");
        let usages = ["key encipherment", "digital signature", "client auth"];
        assert_eq!(said(NODE_CLIENT, node, &[], &usages), "fine");
        assert_eq!(said(NODE_CLIENT, node, &[], &usages[1..]), "fine");
        for (subject, names, usages, complaint) in [
            (
                ("system:node:a", "x"),
                &[][..],
                &usages[..],
                "subject organization is not system:nodes",
            ),
            (node, &["a.example"], &usages, "DNS subjectAltNames are not allowed"),
            (node, &["10.0.0.1"], &usages, "IP subjectAltNames are not allowed"),
            (
                ("a", "system:nodes"),
                &[],
                &usages,
                "subject common name does not begin with system:node:",
            ),
            (
                node,
                &[],
                &usages[..2],
                "usages did not match [client auth digital signature key encipherment]",
            ),
        ] {
            assert_eq!(said(NODE_CLIENT, subject, names, usages), complaint);
        }
    }

    #[test]
    fn nodes_serve_under_names() {
        let node = ("system:node:a", "system:nodes");
        let usages = ["digital signature", "server auth"];
        assert_eq!(said(NODE_SERVER, node, &["10.0.0.1"], &usages), "fine");
        let missing = "DNS or IP subjectAltName is required";
        assert_eq!(said(NODE_SERVER, node, &[], &usages), missing);
        let wrong = "usages did not match [digital signature key encipherment server auth]";
        assert_eq!(said(NODE_SERVER, node, &["a.example"], &usages[..1]), wrong);
    }

    #[test]
    fn usages_become_those_of_certificates() {
        let names = ["s/mime", "email protection", "digital signature", "signing", "any"].map(str::to_owned);
        let usages = usages(&names);
        assert_eq!(usages.key, FlagSet::from(KeyUsages::DigitalSignature));
        let extended = [db::rfc5280::ANY_EXTENDED_KEY_USAGE, db::rfc5280::ID_KP_EMAIL_PROTECTION];
        assert_eq!(usages.extended, extended);
    }
}
