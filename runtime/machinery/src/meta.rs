//! Metadata types shared by all kinds (`meta.k8s.io/v1`).

mod object_meta;
mod type_meta;

pub use object_meta::ObjectMeta;
pub use type_meta::TypeMeta;
