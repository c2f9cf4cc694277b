//! `certificates.k8s.io`: certificate requests and trust bundles.

mod key_pair;
mod pem;
mod pod_key;
pub(crate) mod signer_name;
pub(crate) mod user_annotations;
pub mod v1;
pub mod v1alpha1;
pub mod v1beta1;

pub(crate) use key_pair::key_pair_complaint;
pub(crate) use pem::authorities_complaint;
