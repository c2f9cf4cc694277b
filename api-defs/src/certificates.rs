//! `certificates.k8s.io`: who is trusted, and whom others ask to be.

mod pem;
mod signer_name;
pub mod v1;
pub mod v1alpha1;
pub mod v1beta1;

pub(crate) use pem::authorities_complaint;
