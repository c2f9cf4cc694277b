//! `v1beta1`, which is no longer served. Its structure is that of `v1`.

mod cluster_role;
mod cluster_role_binding;
mod role;
mod role_binding;
mod role_ref;
mod subject;

pub use cluster_role::ClusterRole;
pub use cluster_role_binding::ClusterRoleBinding;
pub use role::Role;
pub use role_binding::RoleBinding;
pub use role_ref::RoleRef;
pub use subject::Subject;
