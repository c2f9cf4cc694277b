//! Writes of roles and bindings that would give away more than their user has.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use planesmith_access::authorization::rbac::{self, Binding, Rule};
use planesmith_access::authorization::{Authorizer, Target};
use planesmith_access::user::PRIVILEGED_GROUP;
use planesmith_api_defs::rbac::v1::{self, ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::endpoint::{Call, WriteCheck};
use planesmith_server::stores::{Stores, check_name};

use crate::stored_policy::StoredPolicy;
use crate::{GROUP, policy_kinds};

/// The refusal of an aggregation rule, which can collect any rules.
const AGGREGATION: &str = "must have cluster-admin privileges to use the aggregationRule";

/// Checks that no user writes a role with permissions that it does not have, or binds such a role, unless it may `escalate` or
/// `bind`.
pub(crate) struct EscalationCheck {
    policy: Arc<StoredPolicy>,
    authorizer: Arc<dyn Authorizer>,
}

impl EscalationCheck {
    pub(crate) fn new(policy: Arc<StoredPolicy>, authorizer: Arc<dyn Authorizer>) -> Self {
        Self { policy, authorizer }
    }

    /// Checks all writes of roles and bindings from now on.
    pub(crate) fn handle(self, stores: &Stores) {
        let check: Arc<dyn WriteCheck> = Arc::new(self);
        for resource in ["clusterroles", "clusterrolebindings", "roles", "rolebindings"] {
            stores.check_writes(GROUP, resource, Arc::clone(&check));
        }
    }

    async fn check_object(&self, call: &Call, new: &dyn Object, old: Option<&dyn Object>) -> ApiResult<()> {
        if call.ctx.user.is_in(PRIVILEGED_GROUP) || old.is_some_and(|old| is_for_garbage_collection(new, old)) {
            return Ok(());
        }
        if let Some(role) = new.downcast_ref::<ClusterRole>() {
            let before = old.and_then(|old| old.downcast_ref::<ClusterRole>());
            let aggregates = aggregates(role) || before.is_some_and(aggregates);
            self.check_role(
                call,
                "clusterroles",
                &role.metadata,
                (role.rules.as_slice(), aggregates),
            )
            .await
        } else if let Some(role) = new.downcast_ref::<Role>() {
            self.check_role(call, "roles", &role.metadata, (role.rules.as_slice(), false))
                .await
        } else if let Some(binding) = new.downcast_ref::<ClusterRoleBinding>() {
            let role = &binding.role_ref;
            self.check_binding(call, "clusterrolebindings", &binding.metadata, role)
                .await
        } else if let Some(binding) = new.downcast_ref::<RoleBinding>() {
            let role = &binding.role_ref;
            self.check_binding(call, "rolebindings", &binding.metadata, role).await
        } else {
            Ok(())
        }
    }

    /// Checks a role with these rules, which aggregates others or did so before.
    async fn check_role(
        &self,
        call: &Call,
        resource: &'static str,
        metadata: &ObjectMeta,
        (rules, aggregates): (&[v1::PolicyRule], bool),
    ) -> ApiResult<()> {
        let info = &call.ctx.info;
        let target = Target::Resource {
            group: info.group(),
            version: info.version(),
            resource: info.resource(),
            subresource: "",
            namespace: info.namespace(),
            name: info.name(),
        };
        if self
            .authorizer
            .permits(&call.ctx.user, "escalate", target)
            .await
            .is_ok()
        {
            return Ok(());
        }
        let refuse = |why: String| ApiError::forbidden(&GroupResource::new(GROUP, resource), &metadata.name, why);
        self.check_rules(call, &policy_kinds::rules(rules)).map_err(refuse)?;
        if aggregates {
            let everything = [full_authority_on_resources(), full_authority_on_paths()];
            self.check_rules(call, &everything)
                .map_err(|_| refuse(AGGREGATION.to_owned()))?;
        }
        Ok(())
    }

    /// Checks a binding of this role.
    async fn check_binding(
        &self,
        call: &Call,
        resource: &'static str,
        metadata: &ObjectMeta,
        role: &v1::RoleRef,
    ) -> ApiResult<()> {
        let namespace = call.ctx.info.namespace();
        let plural = match role.kind.as_str() {
            "ClusterRole" => Some("clusterroles"),
            "Role" => Some("roles"),
            _ => None,
        };
        if let Some(plural) = plural {
            let target = Target::Resource {
                group: &role.api_group,
                version: "*",
                resource: plural,
                subresource: "",
                namespace,
                name: &role.name,
            };
            if self.authorizer.permits(&call.ctx.user, "bind", target).await.is_ok() {
                return Ok(());
            }
        }
        let resource = GroupResource::new(GROUP, resource);
        let wanted = self.rules_of(&policy_kinds::binding(namespace, "", role, &[]));
        let wanted = wanted.map_err(|missing| missing.into_error(&resource, namespace, role))?;
        let refuse = |why: String| ApiError::forbidden(&resource, &metadata.name, why);
        self.check_rules(call, &wanted).map_err(refuse)
    }

    /// Checks that the user has all of the rules, in the namespace of the request.
    fn check_rules(&self, call: &Call, wanted: &[Rule]) -> Result<(), String> {
        let (user, namespace) = (&call.ctx.user, call.ctx.info.namespace());
        let current = self.policy.current();
        let have = current.policy().rules(user, namespace);
        let problems = current.policy().problems(user, namespace);
        rbac::escalation(user, &have, wanted, &problems)
    }

    /// Returns the rules of the role of a binding.
    fn rules_of(&self, binding: &Binding) -> Result<Vec<Rule>, MissingRole> {
        let current = self.policy.current();
        let role = current.policy().role_of(binding).map_err(MissingRole)?;
        Ok(role.rules().to_vec())
    }
}

/// A binding refers to a role that does not exist, or to a kind that does not.
struct MissingRole(String);

impl MissingRole {
    /// The error for the client. kube-apiserver names the resource of the request with the name of the role, which it looks up
    /// in the store.
    fn into_error(self, resource: &GroupResource, namespace: &str, role: &v1::RoleRef) -> ApiError {
        match role.kind.as_str() {
            "Role" if namespace.is_empty() => ApiError::bad_request("Namespace parameter required."),
            "Role" | "ClusterRole" => match check_name(&role.name) {
                Ok(()) => ApiError::not_found(resource, &role.name),
                Err(error) => error,
            },
            _ => ApiError::unnamed(500, self.0),
        }
    }
}

impl WriteCheck for EscalationCheck {
    fn check<'a>(
        &'a self,
        call: &'a Call,
        new: &'a dyn Object,
        old: Option<&'a dyn Object>,
    ) -> BoxFuture<'a, ApiResult<()>> {
        Box::pin(self.check_object(call, new, old))
    }
}

/// True if an update changes nothing but owners and finalizers: a user that may update the object may let it be deleted.
fn is_for_garbage_collection(new: &dyn Object, old: &dyn Object) -> bool {
    let mut copy = new.boxed();
    let meta = copy.meta_mut();
    meta.owner_references.clone_from(&old.meta().owner_references);
    meta.finalizers.clone_from(&old.meta().finalizers);
    meta.managed_fields.clone_from(&old.meta().managed_fields);
    fn same<T: planesmith_machinery::object::Resource + PartialEq>(one: &dyn Object, other: &dyn Object) -> bool {
        let (one, other) = (one.downcast_ref::<T>(), other.downcast_ref::<T>());
        one.is_some() && one == other
    }
    let copy = &*copy;
    same::<ClusterRole>(copy, old)
        || same::<Role>(copy, old)
        || same::<ClusterRoleBinding>(copy, old)
        || same::<RoleBinding>(copy, old)
}

/// True if the role collects rules; validation refuses an aggregation rule without selectors.
fn aggregates(role: &ClusterRole) -> bool {
    let rule = role.aggregation_rule.as_ref();
    rule.is_some_and(|rule| !rule.cluster_role_selectors.is_empty())
}

fn full_authority_on_resources() -> Rule {
    let all = || vec!["*".to_owned()];
    Rule {
        verbs: all(),
        groups: all(),
        resources: all(),
        ..Rule::default()
    }
}

fn full_authority_on_paths() -> Rule {
    let all = || vec!["*".to_owned()];
    Rule {
        verbs: all(),
        paths: all(),
        ..Rule::default()
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::meta::LabelSelector;

    use super::*;

    #[test]
    fn an_aggregation_rule_without_selectors_collects_nothing() {
        let role = |cluster_role_selectors: Vec<LabelSelector>| ClusterRole {
            aggregation_rule: Some(v1::AggregationRule { cluster_role_selectors }),
            ..ClusterRole::default()
        };
        assert!(aggregates(&role(vec![LabelSelector::default()])));
        assert!(!aggregates(&role(Vec::new())));
        assert!(!aggregates(&ClusterRole::default()));
    }

    #[test]
    fn roles_that_no_key_can_name_are_bad_requests() {
        let error = |namespace: &str, kind: &str, name: &str| {
            let role = v1::RoleRef {
                kind: kind.to_owned(),
                name: name.to_owned(),
                ..v1::RoleRef::default()
            };
            let error = MissingRole("unknown kind".to_owned()).into_error(
                &GroupResource::new(GROUP, "clusterrolebindings"),
                namespace,
                &role,
            );
            (error.code(), error.message().to_owned())
        };
        assert_eq!(
            error("", "Role", "r"),
            (400, "Namespace parameter required.".to_owned())
        );
        assert_eq!(error("n", "Role", ""), (400, "Name parameter required.".to_owned()));
        assert_eq!(
            error("", "ClusterRole", "a/b"),
            (400, "Name parameter invalid: \"a/b\": may not contain '/'".to_owned())
        );
        assert_eq!(error("n", "Role", "r").0, 404);
        assert_eq!(error("n", "Foo", ""), (500, "unknown kind".to_owned()));
    }
}
