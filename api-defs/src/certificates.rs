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

pub(crate) use key_pair::key_pair_complaint;
#[cfg(feature = "apiextensions")]
pub(crate) use pem::authorities_complaint;
