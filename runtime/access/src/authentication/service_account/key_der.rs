//! Keys in their DER encodings.

use pkcs8::der::asn1::{AnyRef, BitStringRef};
use pkcs8::der::{Decode as _, Encode as _};
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use pkcs8::{ObjectIdentifier, PrivateKeyInfo};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    KeyPair as _, RsaKeyPair,
};
use sec1::{EcParameters, EcPrivateKey};

/// The object identifiers of the key types `rsaEncryption` (RFC 8017) and `id-ecPublicKey` (RFC 5480).
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// The first byte of an uncompressed point.
const UNCOMPRESSED: u8 = 4;

/// Size of the modulus of RSA keys that verify signatures, in bytes.
const MODULUS: std::ops::RangeInclusive<usize> = 1024 / 8..=8192 / 8;

/// A supported elliptic curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    P256,
    P384,
}

/// An RSA key pair.
pub(super) struct RsaKey {
    /// The private key (PKCS #1).
    pub(super) private: Vec<u8>,
    pub(super) public: RsaPublic,
}

/// A public RSA key.
pub(super) struct RsaPublic {
    pub(super) modulus: Vec<u8>,
    pub(super) exponent: Vec<u8>,
    /// The key (PKCS #1).
    pub(super) pkcs1: Vec<u8>,
    /// The SubjectPublicKeyInfo of the key.
    pub(super) info: Vec<u8>,
}

/// An ECDSA key pair.
pub(super) struct EcKey {
    pub(super) curve: Curve,
    /// The uncompressed point of the public key.
    pub(super) point: Vec<u8>,
    /// The private key and the public key (PKCS #8).
    pub(super) pkcs8: Vec<u8>,
}

/// A private key of any type.
pub(super) enum Private {
    Rsa(RsaKey),
    Ec(EcKey),
}

/// A public key of any type.
pub(super) enum Public {
    Rsa(RsaPublic),
    /// A curve, and an uncompressed point on it.
    Ec(Curve, Vec<u8>),
}

impl Curve {
    const ALL: [Self; 2] = [Self::P256, Self::P384];

    /// The name in published keys.
    pub(super) fn name(self) -> &'static str {
        match self {
            Curve::P256 => "P-256",
            Curve::P384 => "P-384",
        }
    }

    /// The size of a coordinate and of a private key, in bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Curve::P256 => 32,
            Curve::P384 => 48,
        }
    }

    /// Returns the SubjectPublicKeyInfo of a public key.
    pub(super) fn info(self, point: &[u8]) -> Option<Vec<u8>> {
        info(self.algorithm(), point)
    }

    pub(super) fn signing(self) -> &'static EcdsaSigningAlgorithm {
        match self {
            Curve::P256 => &ECDSA_P256_SHA256_FIXED_SIGNING,
            Curve::P384 => &ECDSA_P384_SHA384_FIXED_SIGNING,
        }
    }

    fn id(self) -> &'static ObjectIdentifier {
        const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
        const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
        match self {
            Curve::P256 => &P256,
            Curve::P384 => &P384,
        }
    }

    fn from_oid(id: ObjectIdentifier) -> Option<Self> {
        Self::ALL.into_iter().find(|curve| *curve.id() == id)
    }

    fn algorithm(self) -> AlgorithmIdentifierRef<'static> {
        AlgorithmIdentifierRef {
            oid: EC,
            parameters: Some(AnyRef::from(self.id())),
        }
    }
}

/// Reads a private RSA key (PKCS #1).
pub(super) fn rsa_private(der: &[u8]) -> Option<RsaKey> {
    let pair = RsaKeyPair::from_der(der).ok()?;
    let public = rsa_public(pair.public_key().as_ref())?;
    let private = der.to_vec();
    Some(RsaKey { private, public })
}

/// Reads a public RSA key (PKCS #1).
pub(super) fn rsa_public(der: &[u8]) -> Option<RsaPublic> {
    let key = pkcs1::RsaPublicKey::from_der(der).ok()?;
    let modulus = key.modulus.as_bytes();
    let algorithm = AlgorithmIdentifierRef {
        oid: RSA,
        parameters: Some(AnyRef::NULL),
    };
    let is_short = modulus.len() == *MODULUS.start() && modulus[0] < 0x80;
    (MODULUS.contains(&modulus.len()) && !is_short).then_some(())?;
    Some(RsaPublic {
        modulus: modulus.to_vec(),
        exponent: key.public_exponent.as_bytes().to_vec(),
        pkcs1: der.to_vec(),
        info: info(algorithm, der)?,
    })
}

/// Reads a private ECDSA key (SEC 1), which contains its public key. Without a curve of its own it is on `curve`.
pub(super) fn ec_private(der: &[u8], curve: Option<Curve>) -> Option<EcKey> {
    let (curve, key) = ec_fields(der, curve)?;
    let point = key.public_key?;
    // Some programs leave out leading zeros.
    let missing = curve.size().checked_sub(key.private_key.len())?;
    let private = [&vec![0; missing][..], key.private_key].concat();
    let random = SystemRandom::new();
    EcdsaKeyPair::from_private_key_and_public_key(curve.signing(), &private, point, &random).ok()?;
    let key = EcPrivateKey {
        private_key: &private,
        parameters: None,
        public_key: Some(point),
    };
    let key = key.to_der().ok()?;
    Some(EcKey {
        curve,
        point: point.to_vec(),
        pkcs8: PrivateKeyInfo::new(curve.algorithm(), &key).to_der().ok()?,
    })
}

/// Reads the curve and the fields of a private ECDSA key (SEC 1). Without a curve of its own it is on `curve`.
fn ec_fields(der: &[u8], curve: Option<Curve>) -> Option<(Curve, EcPrivateKey<'_>)> {
    let key = EcPrivateKey::from_der(der).ok()?;
    let curve = match key.parameters {
        Some(EcParameters::NamedCurve(id)) => Curve::from_oid(id)?,
        None => curve?,
    };
    Some((curve, key))
}

/// The key inside a PKCS #8 document, by its type.
enum Inner<'a> {
    /// PKCS #1.
    Rsa(&'a [u8]),
    /// SEC 1, and the curve of the key.
    Ec(&'a [u8], Option<Curve>),
}

/// Reads the outer layer of a private key (PKCS #8).
fn inner(der: &[u8]) -> Option<Inner<'_>> {
    let key = PrivateKeyInfo::from_der(der).ok()?;
    match key.algorithm.oid {
        RSA => Some(Inner::Rsa(key.private_key)),
        EC => {
            let curve = key.algorithm.parameters_oid().ok().and_then(Curve::from_oid);
            Some(Inner::Ec(key.private_key, curve))
        }
        _ => None,
    }
}

/// Reads a private key (PKCS #8).
pub(super) fn pkcs8(der: &[u8]) -> Option<Private> {
    match inner(der)? {
        Inner::Rsa(der) => rsa_private(der).map(Private::Rsa),
        // The curve of the document is required.
        Inner::Ec(der, curve) => ec_private(der, Some(curve?)).map(Private::Ec),
    }
}

/// Reads the public half of a private key, which need not be fit for signing; `None` if the DER block is not a private key,
/// `Some(None)` if it is unusable.
pub(super) fn public_half(label: &str, der: &[u8]) -> Option<Option<Public>> {
    let inner = match label {
        "RSA PRIVATE KEY" => Some(Inner::Rsa(der)),
        "EC PRIVATE KEY" => Some(Inner::Ec(der, None)),
        "PRIVATE KEY" => inner(der),
        _ => return None,
    };
    Some(inner.and_then(|inner| match inner {
        Inner::Rsa(der) => {
            let key = pkcs1::RsaPrivateKey::from_der(der).ok()?;
            rsa_public(&key.public_key().to_der().ok()?).map(Public::Rsa)
        }
        Inner::Ec(der, curve) => {
            let (curve, key) = ec_fields(der, curve)?;
            point(curve, key.public_key?)
        }
    }))
}

/// Returns the key of an uncompressed point.
fn point(curve: Curve, bytes: &[u8]) -> Option<Public> {
    let is_point = bytes.first() == Some(&UNCOMPRESSED) && bytes.len() == 1 + 2 * curve.size();
    is_point.then(|| Public::Ec(curve, bytes.to_vec()))
}

/// Reads a SubjectPublicKeyInfo.
pub(super) fn public(der: &[u8]) -> Option<Public> {
    let info = SubjectPublicKeyInfoRef::from_der(der).ok()?;
    let key = info.subject_public_key.as_bytes()?;
    match info.algorithm.oid {
        RSA => rsa_public(key).map(Public::Rsa),
        EC => {
            let curve = info.algorithm.parameters_oid().ok().and_then(Curve::from_oid)?;
            point(curve, key)
        }
        _ => None,
    }
}

/// Returns a SubjectPublicKeyInfo.
fn info(algorithm: AlgorithmIdentifierRef<'_>, key: &[u8]) -> Option<Vec<u8>> {
    let subject_public_key = BitStringRef::from_bytes(key).ok()?;
    let info = SubjectPublicKeyInfoRef {
        algorithm,
        subject_public_key,
    };
    info.to_der().ok()
}
