//! Default roles, which a server makes at start.

/// Roles and bindings that a program needs from its first start on, as tables in YAML.
///
/// They exist before the server is ready, in a program with role-based access control. An empty table has none. A
/// server does not start with a table that cannot be read, or with a name that two components use.
///
/// A rule or a subject with a member `gate` is there only while that feature is on, and a role or a binding that has others alone is
/// left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultRoles {
    /// ClusterRoles: the key `roles` has a row for each name, with `rules`, `aggregationRule` and `labels`. Labels such as
    /// `rbac.authorization.k8s.io/aggregate-to-edit: "true"` add the rules to the roles for people.
    pub cluster_roles: &'static str,
    /// ClusterRoleBindings: a row for each ClusterRole has the list of its subjects.
    pub cluster_role_bindings: &'static str,
    /// ClusterRoles of controllers: the key `roles` has the rules for each name. The ClusterRole `system:controller:NAME` is bound
    /// to the service account NAME in `kube-system`.
    pub controller_roles: &'static str,
    /// Roles and RoleBindings: the key `roles` has rules by namespace and name, the key `bindings` has `role` and `subjects` by
    /// namespace and name.
    pub namespaced_roles: &'static str,
}
