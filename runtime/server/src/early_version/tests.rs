use std::sync::LazyLock;
use std::time::Duration;

use planesmith_machinery::der::{SEQUENCE, content, elements};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, NameConstraints, SigningKey, date_time_ymd,
};
use rustls::crypto::ring;

use super::*;

/// 2026-01-01, a time at which the certificates of these tests are valid.
const NOW: UnixTime = UnixTime::since_unix_epoch(Duration::from_secs(1_767_225_600));

/// A DER value.
fn encoded(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match u8::try_from(content.len()) {
        Ok(length @ ..=127) => out.push(length),
        Ok(length) => out.extend([0x81, length]),
        Err(_) => {
            let length = u32::try_from(content.len()).expect("a certificate").to_be_bytes();
            let leading = length.iter().take_while(|digit| **digit == 0).count();
            out.push(0x84 - leading as u8);
            out.extend(&length[leading..]);
        }
    }
    out.extend(content);
    out
}

/// The same certificate in version 1, without version and extensions, signed by `issuer`.
pub(crate) fn as_version_one(certificate: &CertificateDer<'_>, issuer: &impl SigningKey) -> CertificateDer<'static> {
    let parts = |whole| {
        let elements = elements(content(whole, SEQUENCE).unwrap()).unwrap();
        elements.iter().map(|part| part.whole).collect::<Vec<&[u8]>>()
    };
    let (signed, parts) = (parts(parts(certificate)[0]), parts(certificate));
    let signed: Vec<u8> = signed
        .into_iter()
        .filter(|part| ![0xa0, 0xa3].contains(&part[0]))
        .flatten()
        .copied()
        .collect();
    let signed = encoded(0x30, &signed);
    let signature = [&[0][..], &issuer.sign(&signed).unwrap()].concat();
    let whole = [&signed[..], parts[1], &encoded(3, &signature)].concat();
    encoded(0x30, &whole).into()
}

struct Authority {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

fn authority_params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(2025, 1, 1);
    params.not_after = date_time_ymd(2027, 1, 1);
    params
}

impl Authority {
    fn root(params: CertificateParams) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        let issuer = Issuer::new(params, key);
        Self { certificate, issuer }
    }

    fn below(&self, params: CertificateParams) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().der().clone();
        let issuer = Issuer::new(params, key);
        Self { certificate, issuer }
    }

    fn client(&self) -> CertificateDer<'static> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "carol");
        params.not_before = date_time_ymd(2025, 1, 1);
        params.not_after = date_time_ymd(2027, 1, 1);
        let certificate = params.signed_by(&KeyPair::generate().unwrap(), &self.issuer).unwrap();
        as_version_one(certificate.der(), self.issuer.key())
    }
}

static ROOT: LazyLock<Authority> = LazyLock::new(|| Authority::root(authority_params("root")));

fn check(
    own: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    roots: &[CertificateDer<'_>],
) -> Result<(), CertificateError> {
    let algorithms = ring::default_provider().signature_verification_algorithms;
    verify(own, intermediates, roots, algorithms, NOW)
}

#[test]
fn certificates_of_version_one_are_accepted_by_their_authority() {
    let own = ROOT.client();
    assert!(is_early(&own) && !is_early(&ROOT.certificate));
    let other = Authority::root(authority_params("root"));
    let roots = [other.certificate.clone(), ROOT.certificate.clone()];
    assert_eq!(check(&own, &[], &roots), Ok(()));
    assert_eq!(
        check(&own, &[], &[other.certificate]),
        Err(CertificateError::BadSignature)
    );
    let stranger = Authority::root(authority_params("stranger")).certificate;
    assert_eq!(check(&own, &[], &[stranger]), Err(CertificateError::UnknownIssuer));
    assert_eq!(check(&own, &[], &[]), Err(CertificateError::UnknownIssuer));
    let early = as_version_one(&ROOT.certificate, ROOT.issuer.key());
    assert_eq!(
        check(&own, &[], &[early]),
        Ok(()),
        "an authority of version 1 that is listed"
    );
}

#[test]
fn certificates_count_while_they_are_valid() {
    let own = ROOT.client();
    let algorithms = ring::default_provider().signature_verification_algorithms;
    let at = |seconds| {
        let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        verify(&own, &[], std::slice::from_ref(&ROOT.certificate), algorithms, now)
    };
    assert_eq!(at(1_600_000_000), Err(CertificateError::NotValidYet));
    assert_eq!(at(1_800_000_000), Err(CertificateError::Expired));
    assert!(at(u64::MAX).is_err());
    let mut params = authority_params("short");
    params.not_after = date_time_ymd(2025, 6, 1);
    let short = Authority::root(params);
    assert_eq!(
        check(&short.client(), &[], &[short.certificate]),
        Err(CertificateError::Expired)
    );
}

#[test]
fn intermediate_certificates_must_be_authorities() {
    let roots = std::slice::from_ref(&ROOT.certificate);
    let middle = ROOT.below(authority_params("middle"));
    let own = middle.client();
    assert_eq!(check(&own, &[], roots), Err(CertificateError::UnknownIssuer));
    assert_eq!(check(&own, std::slice::from_ref(&middle.certificate), roots), Ok(()));
    let early = as_version_one(&middle.certificate, ROOT.issuer.key());
    assert_eq!(check(&own, &[early], roots), Err(CertificateError::InvalidPurpose));

    type Spoil = fn(&mut CertificateParams);
    let spoils: [Spoil; 5] = [
        |params| params.is_ca = IsCa::NoCa,
        |params| params.is_ca = IsCa::ExplicitNoCa,
        |params| params.key_usages = vec![KeyUsagePurpose::CrlSign],
        |params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth],
        |params| params.not_after = date_time_ymd(2025, 6, 1),
    ];
    for (index, spoil) in spoils.into_iter().enumerate() {
        let mut params = authority_params("spoiled");
        spoil(&mut params);
        let spoiled = ROOT.below(params);
        assert!(
            check(&spoiled.client(), &[spoiled.certificate], roots).is_err(),
            "{index}"
        );
    }
    let mut params = authority_params("limited");
    params.name_constraints = Some(NameConstraints {
        permitted_subtrees: vec![GeneralSubtree::DirectoryName(rcgen::DistinguishedName::new())],
        excluded_subtrees: vec![],
    });
    let limited = ROOT.below(params);
    let refused = check(&limited.client(), &[limited.certificate], roots);
    assert_eq!(refused, Err(CertificateError::UnhandledCriticalExtension));
}

#[test]
fn chains_are_no_longer_than_their_authorities_allow() {
    let mut params = authority_params("near");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let near = Authority::root(params);
    let roots = std::slice::from_ref(&near.certificate);
    assert_eq!(check(&near.client(), &[], roots), Ok(()));
    let middle = near.below(authority_params("middle"));
    let refused = check(&middle.client(), &[middle.certificate], roots);
    assert_eq!(refused, Err(CertificateError::InvalidPurpose));

    // Authorities that signed each other, none of which is trusted.
    let first = Authority::root(authority_params("first"));
    let second = Authority::root(authority_params("second"));
    let around = [
        first.below(authority_params("second")).certificate,
        second.below(authority_params("first")).certificate,
        first.certificate.clone(),
        second.certificate.clone(),
    ];
    assert!(check(&first.client(), &around, std::slice::from_ref(&ROOT.certificate)).is_err());
}

#[test]
fn names_with_many_parts_are_not_decoded() {
    let own = ROOT.client();
    let fields = |whole: &[u8]| -> Vec<Vec<u8>> {
        let elements = elements(content(whole, SEQUENCE).unwrap()).unwrap();
        elements.iter().map(|part| part.whole.to_vec()).collect()
    };
    let mut all = fields(&own);
    let mut signed = fields(&all[0]);
    // In an order that a decoder sorts most slowly.
    let parts = (0..5000_u16).rev().flat_map(|number| {
        let value = encoded(0x04, &number.to_be_bytes());
        encoded(SEQUENCE, &[encoded(0x06, &[0x55, 4, 3]), value].concat())
    });
    let name = encoded(0x31, &parts.collect::<Vec<u8>>());
    let subject = signed.len() - 2;
    signed[subject] = encoded(SEQUENCE, &name);
    all[0] = encoded(SEQUENCE, &signed.concat());
    let own: CertificateDer<'_> = encoded(SEQUENCE, &all.concat()).into();
    assert!(is_early(&own) && Link::parse(&own).is_none());
}

#[test]
fn no_changed_certificate_is_accepted() {
    let own = ROOT.client();
    let roots = std::slice::from_ref(&ROOT.certificate);
    for index in 0..own.len() {
        for bit in [0x01, 0x20, 0x80] {
            let mut changed = own.to_vec();
            changed[index] ^= bit;
            assert!(check(&changed.into(), &[], roots).is_err(), "byte {index}");
        }
        assert!(
            check(&own[..index].to_vec().into(), &[], roots).is_err(),
            "{index} bytes"
        );
    }
    let longer = [&own[..], &[0]].concat();
    assert!(check(&longer.into(), &[], roots).is_err());
    // Version 3 is left to the usual verification.
    assert_eq!(check(&ROOT.certificate, &[], roots), Err(CertificateError::BadEncoding));
}
