//! Refuses creates in missing and terminating namespaces.

use std::sync::Arc;

use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::resource::Scope;
use planesmith_machinery::status::{ApiError, ApiResult, Cause};

use super::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};

/// Namespaces that cannot be deleted.
const UNDELETABLE: [&str; 3] = ["default", "kube-system", "kube-public"];

/// The lifecycle phase of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamespacePhase {
    /// The namespace is in use.
    Active,
    /// The namespace is being deleted together with its content.
    Terminating,
}

/// Read access to the phases of namespaces.
pub trait Namespaces: Send + Sync {
    /// Returns the phase of the namespace `name`; `None` if it does not exist.
    fn phase(&self, name: &str) -> Option<NamespacePhase>;
}

/// Refuses creates in missing and terminating namespaces, and the deletion of namespaces that the system needs.
pub struct NamespaceLifecycle {
    namespaces: Arc<dyn Namespaces>,
    /// Group and resource of access reviews, which are exempt.
    reviews: &'static [(&'static str, &'static str)],
}

impl NamespaceLifecycle {
    /// Creates the plugin over `namespaces`.
    #[must_use]
    pub fn new(namespaces: Arc<dyn Namespaces>) -> Self {
        Self {
            namespaces,
            reviews: &[],
        }
    }

    /// Exempts resources, given by group and name, that can be posted in any namespace: a client that reviews access in a
    /// namespace must not learn if it exists.
    #[must_use]
    pub fn with_reviews(self, reviews: &'static [(&'static str, &'static str)]) -> Self {
        Self { reviews, ..self }
    }

    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let resource = attributes.resource;
        let is_namespace = resource.behavior.is_namespace;
        if is_namespace && attributes.operation == Operation::Delete && UNDELETABLE.contains(&attributes.name) {
            return Err(attributes.forbidden(None, "this namespace may not be deleted"));
        }
        if is_namespace || resource.scope == Scope::Cluster || attributes.operation != Operation::Create {
            return Ok(());
        }
        if self
            .reviews
            .iter()
            .any(|(group, plural)| attributes.is_for(group, plural))
        {
            return Ok(());
        }
        let namespace = attributes.namespace;
        match self.namespaces.phase(namespace) {
            Some(NamespacePhase::Active) => Ok(()),
            None => Err(ApiError::not_found(&GroupResource::new("", "namespaces"), namespace)),
            Some(NamespacePhase::Terminating) => {
                let why =
                    format!("unable to create new content in namespace {namespace} because it is being terminated");
                let cause = Cause {
                    reason: "NamespaceTerminating".to_owned(),
                    message: format!("namespace {namespace} is being terminated"),
                    field: "metadata.namespace".to_owned(),
                };
                Err(attributes.forbidden(objects.new.as_deref(), why).with_cause(cause))
            }
        }
    }
}

impl Plugin for NamespaceLifecycle {
    fn name(&self) -> &'static str {
        "NamespaceLifecycle"
    }

    /// Runs in the mutating phase, so that no other plugin works on a write that is bound to fail.
    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        phase == Phase::Mutating && matches!(operation, Operation::Create | Operation::Delete)
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check(attributes, objects))
    }
}

impl std::fmt::Debug for NamespaceLifecycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NamespaceLifecycle").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::Resource;
    use planesmith_machinery::meta::ObjectMeta;
    use planesmith_machinery::object::{Object, Resource as _};
    use planesmith_machinery::resource::ResourceFacts;

    use super::*;
    use crate::user::UserInfo;

    /// An object in a namespace.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "example.com", version = "v1", kind = "Thing")]
    struct Thing {
        /// Metadata.
        #[field(proto = 1)]
        metadata: ObjectMeta,
    }

    /// An access review in a namespace.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "example.com", version = "v1", kind = "Review")]
    struct Review {
        /// Metadata.
        #[field(proto = 1)]
        metadata: ObjectMeta,
    }

    /// The namespace kind.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "", version = "v1", kind = "Namespace", cluster, is_namespace)]
    struct Namespace {
        /// Metadata.
        #[field(proto = 1)]
        metadata: ObjectMeta,
    }

    struct Two;

    impl Namespaces for Two {
        fn phase(&self, name: &str) -> Option<NamespacePhase> {
            match name {
                "here" => Some(NamespacePhase::Active),
                "leaving" => Some(NamespacePhase::Terminating),
                _ => None,
            }
        }
    }

    fn admit(operation: Operation, resource: &ResourceFacts, namespace: &str, name: &str) -> ApiResult<()> {
        let user = UserInfo::default();
        let attributes = Attributes {
            namespace,
            name,
            ..Attributes::new(operation, resource, &user)
        };
        let mut thing = Thing::default();
        thing.metadata.name = "late".to_owned();
        let new = (operation == Operation::Create).then_some(&mut thing as &mut dyn Object);
        let plugin = NamespaceLifecycle::new(Arc::new(Two)).with_reviews(&[("example.com", "reviews")]);
        plugin.check(&attributes, &Objects { new, old: None })
    }

    #[test]
    fn nothing_is_created_where_there_is_no_namespace() {
        let create = |namespace| admit(Operation::Create, Thing::RESOURCE, namespace, "");
        assert_eq!(create("here"), Ok(()));
        let missing = create("nowhere").expect_err("no such namespace");
        assert_eq!(
            (missing.code(), missing.message()),
            (404, "namespaces \"nowhere\" not found")
        );
        let leaving = create("leaving").expect_err("a terminating namespace");
        let message = "things.example.com \"late\" is forbidden: unable to create new content in namespace leaving \
                       because it is being terminated";
        assert_eq!((leaving.code(), leaving.message()), (403, message));
        let details = leaving.status().details.as_ref().expect("details");
        assert_eq!(details.causes[0].reason, "NamespaceTerminating");
    }

    #[test]
    fn questions_are_asked_anywhere() {
        assert_eq!(admit(Operation::Create, Review::RESOURCE, "nowhere", ""), Ok(()));
    }

    #[test]
    fn content_may_change_and_go_anywhere() {
        assert_eq!(admit(Operation::Update, Thing::RESOURCE, "leaving", "a"), Ok(()));
        assert_eq!(admit(Operation::Delete, Thing::RESOURCE, "nowhere", "a"), Ok(()));
    }

    #[test]
    fn the_systems_namespaces_stay() {
        let delete = |name| admit(Operation::Delete, Namespace::RESOURCE, name, name);
        let refused = delete("default").expect_err("needed");
        let message = "namespaces \"default\" is forbidden: this namespace may not be deleted";
        assert_eq!((refused.code(), refused.message()), (403, message));
        assert_eq!(delete("here"), Ok(()));
    }
}
