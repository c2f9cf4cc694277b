//! `certificates.k8s.io`: certificate requests and trust bundles.

mod key_pair;
mod pem;
#[cfg(feature = "kubernetes")]
mod pod_key;
#[cfg(feature = "kubernetes")]
pub mod request_signature;
#[cfg(feature = "kubernetes")]
pub(crate) mod signer_name;
#[cfg(feature = "kubernetes")]
pub(crate) mod user_annotations;
#[cfg(feature = "kubernetes")]
pub mod v1;
#[cfg(feature = "kubernetes")]
pub mod v1alpha1;
#[cfg(feature = "kubernetes")]
pub mod v1beta1;

use planesmith_machinery::der::has_small_sets;
use x509_cert::der::{self, Decode, ErrorKind};

pub(crate) use key_pair::key_pair_complaint;
#[cfg(feature = "apiextensions")]
pub(crate) use pem::authorities_complaint;

/// Decodes a certificate, a request or a key that nobody has verified, in a time that is linear in its size.
///
/// # Errors
///
/// It is malformed, or has sets of more than 64 elements, which decoders sort slowly.
pub fn decode<'a, T: Decode<'a>>(bytes: &'a [u8]) -> der::Result<T> {
    match has_small_sets(bytes) {
        true => T::from_der(bytes),
        false => Err(ErrorKind::Overlength.into()),
    }
}
