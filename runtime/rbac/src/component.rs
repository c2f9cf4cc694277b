//! The contribution of this crate to a server.

use std::sync::Arc;

use anyhow::Result;
use planesmith_access::authorization::Authorizer;
use planesmith_api_defs::authentication::v1::{SelfSubjectReview, TokenReview};
use planesmith_api_defs::authorization::v1::{
    LocalSubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview, SubjectAccessReview,
};
use planesmith_api_defs::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use planesmith_control_plane::bootstrap::system_namespaces;
use planesmith_control_plane::component::{AuthorizerInitializer, Contribution, ServerContext};
use planesmith_control_plane::controllers::Controller;
use planesmith_control_plane::default_roles::DefaultRoles;
use planesmith_control_plane::options::{AuthorizationMode, ControllerName};
use planesmith_control_plane::{Component, GroupVersion};
use planesmith_machinery::scheme::Scheme;
use planesmith_server::routes::Routes;
use planesmith_server::stores::Stores;

use crate::authorizer::RoleAuthorizer;
use crate::cluster_role_aggregation::ClusterRoleAggregation;
use crate::escalation::EscalationCheck;
use crate::reviews::Reviewers;
use crate::stored_policy::StoredPolicy;
use crate::{GROUP, default_roles};

/// The component of a program with role-based access control: roles and their bindings, the authorization mode RBAC, which is on
/// by default, and reviews of users and of their access.
pub const COMPONENT: &dyn Component = &RbacComponent;

/// The group versions of a program that does not bring them itself.
const GROUPS: [GroupVersion; 3] = [
    GroupVersion {
        group: "authentication.k8s.io",
        version: "v1",
        on_by_default: true,
        priority: planesmith_api_defs::authentication::v1::PRIORITY,
        register: register_identity_reviews,
        install: install_identity_reviews,
    },
    GroupVersion {
        group: "authorization.k8s.io",
        version: "v1",
        on_by_default: true,
        priority: planesmith_api_defs::authorization::v1::PRIORITY,
        register: register_access_reviews,
        install: install_access_reviews,
    },
    GroupVersion {
        group: GROUP,
        version: "v1",
        on_by_default: true,
        priority: planesmith_api_defs::rbac::v1::PRIORITY,
        register: register_roles,
        install: install_roles,
    },
];

const CONTROLLERS: [ControllerName; 1] = [ControllerName::renamed(
    "clusterrole-aggregation-controller",
    "clusterrole-aggregation",
)];

#[derive(Clone, Copy, Debug)]
struct RbacComponent;

impl Component for RbacComponent {
    fn groups(&self) -> &'static [GroupVersion] {
        &GROUPS
    }

    fn default_roles(&self) -> DefaultRoles {
        default_roles::BASIC
    }

    fn controller_names(&self) -> &'static [ControllerName] {
        &CONTROLLERS
    }

    fn authorization_modes(&self) -> &'static [AuthorizationMode] {
        &[AuthorizationMode::RBAC]
    }

    fn default_authorization_modes(&self) -> &'static [AuthorizationMode] {
        self.authorization_modes()
    }

    fn authorizer(
        &self,
        mode: AuthorizationMode,
        initializer: &AuthorizerInitializer<'_>,
    ) -> Result<Option<Box<dyn Authorizer>>> {
        if mode != AuthorizationMode::RBAC {
            return Ok(None);
        }
        let AuthorizerInitializer { storage, scheme, .. } = *initializer;
        let open = || StoredPolicy::open(storage, scheme);
        let policy = initializer.state.get_or_create(open);
        Ok(Some(Box::new(RoleAuthorizer::new(policy))))
    }

    fn install<'a>(&self, context: &ServerContext<'a>) -> Result<Contribution<'a>> {
        let ServerContext {
            stores,
            loopback,
            leader,
            tokens,
            anonymous,
            authorizer,
            default_roles: tables,
            gates,
            ..
        } = *context;
        let open = || StoredPolicy::open(stores.storage(), stores.scheme());
        let policy = context.state.get_or_create(open);
        Reviewers {
            tokens,
            anonymous,
            authorizer,
        }
        .handle_reviews(stores);
        EscalationCheck::new(Arc::clone(&policy), Arc::clone(authorizer)).handle(stores);
        let roles = default_roles::hook(stores, loopback, tables, gates, policy)?;
        let aggregation = Controller::reconciling("start-clusterrole-aggregation-controller", move |_| {
            ClusterRoleAggregation::new(stores, leader)
        });
        Ok(Contribution {
            start_hooks: roles
                .map(|hook| hook.after(system_namespaces::HOOK))
                .into_iter()
                .collect(),
            controllers: vec![aggregation],
            ..Contribution::default()
        })
    }
}

fn register_identity_reviews(scheme: &mut Scheme) {
    scheme.add::<SelfSubjectReview>();
    scheme.add::<TokenReview>();
}

fn install_identity_reviews(routes: &mut Routes, stores: &Stores) {
    routes.serve::<SelfSubjectReview>(stores);
    routes.serve::<TokenReview>(stores);
}

fn register_access_reviews(scheme: &mut Scheme) {
    scheme.add::<LocalSubjectAccessReview>();
    scheme.add::<SelfSubjectAccessReview>();
    scheme.add::<SelfSubjectRulesReview>();
    scheme.add::<SubjectAccessReview>();
}

fn install_access_reviews(routes: &mut Routes, stores: &Stores) {
    routes.serve::<LocalSubjectAccessReview>(stores);
    routes.serve::<SelfSubjectAccessReview>(stores);
    routes.serve::<SelfSubjectRulesReview>(stores);
    routes.serve::<SubjectAccessReview>(stores);
}

fn register_roles(scheme: &mut Scheme) {
    scheme.add::<ClusterRole>();
    scheme.add::<ClusterRoleBinding>();
    scheme.add::<Role>();
    scheme.add::<RoleBinding>();
}

fn install_roles(routes: &mut Routes, stores: &Stores) {
    routes.serve::<ClusterRole>(stores);
    routes.serve::<ClusterRoleBinding>(stores);
    routes.serve::<Role>(stores);
    routes.serve::<RoleBinding>(stores);
}
