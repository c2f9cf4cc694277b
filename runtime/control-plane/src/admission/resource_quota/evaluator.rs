//! What of an object is counted.

use planesmith_access::admission::{Attributes, Operation};
use planesmith_api_defs::core::v1::{
    PersistentVolumeClaim, Pod, ResourceList, ScopedResourceSelectorRequirement, Service,
};
use planesmith_machinery::object::Object;
use planesmith_machinery::quantity::{Notation, Quantity};

use super::{claims, pods, services};

/// Kinds whose objects were counted under a plain name before there were names with `count/`.
const PLAIN: [&str; 4] = ["configmaps", "replicationcontrollers", "resourcequotas", "secrets"];

/// Counts what one kind uses.
pub(super) enum Evaluator {
    /// Amounts of what pods ask for.
    Pods,
    /// Services, and what of nodes and outside they take.
    Services,
    /// Claims, and the storage that they ask for.
    Claims,
    /// Objects, under these names.
    Objects(Vec<String>),
}

impl Evaluator {
    /// The evaluator for the kind that is written.
    pub(super) fn of(attributes: &Attributes<'_>) -> Self {
        Self::of_kind(attributes.resource.group, attributes.resource.plural)
    }

    /// The evaluator for a kind.
    pub(super) fn of_kind(group: &str, plural: &str) -> Self {
        match (group, plural) {
            ("", "pods") => return Evaluator::Pods,
            ("", "services") => return Evaluator::Services,
            ("", "persistentvolumeclaims") => return Evaluator::Claims,
            _ => {}
        }
        let mut names = vec![match group {
            "" => format!("count/{plural}"),
            group => format!("count/{plural}.{group}"),
        }];
        if group.is_empty() && PLAIN.contains(&plural) {
            names.push(plural.to_owned());
        }
        Evaluator::Objects(names)
    }

    /// Whether a write changes what is counted.
    pub(super) fn handles(&self, attributes: &Attributes<'_>) -> bool {
        let changes = match self {
            Evaluator::Pods => "resize",
            // The type of a service can change, and the size of a claim.
            Evaluator::Services | Evaluator::Claims => "",
            Evaluator::Objects(_) => return is_creation(attributes),
        };
        is_creation(attributes) || attributes.operation == Operation::Update && attributes.subresource == changes
    }

    /// Whether a quota on `name` is about this kind.
    pub(super) fn counts(&self, name: &str) -> bool {
        match self {
            Evaluator::Pods => pods::counts(name),
            Evaluator::Services => services::counts(name),
            Evaluator::Claims => claims::counts(name),
            Evaluator::Objects(names) => names.iter().any(|own| own == name),
        }
    }

    /// Whether an object is in a scope.
    pub(super) fn is_in_scope(&self, object: &dyn Object, scope: &ScopedResourceSelectorRequirement) -> bool {
        match self {
            Evaluator::Pods => object
                .downcast_ref::<Pod>()
                .is_some_and(|pod| pods::is_in_scope(pod, scope)),
            Evaluator::Claims => object
                .downcast_ref::<PersistentVolumeClaim>()
                .is_some_and(|claim| claims::is_in_scope(claim, scope)),
            Evaluator::Services | Evaluator::Objects(_) => false,
        }
    }

    /// What an object must say when quotas on `required` count it.
    ///
    /// # Errors
    ///
    /// What it does not say.
    pub(super) fn check(&self, object: &dyn Object, required: &[&str]) -> Result<(), String> {
        match (self, object.downcast_ref::<Pod>()) {
            (Evaluator::Pods, Some(pod)) => pods::check(pod, required),
            _ => Ok(()),
        }
    }

    /// What an object uses.
    pub(super) fn usage(&self, object: &dyn Object) -> ResourceList {
        match self {
            Evaluator::Pods => object.downcast_ref::<Pod>().map(pods::usage),
            Evaluator::Services => object.downcast_ref::<Service>().map(services::usage),
            Evaluator::Claims => object.downcast_ref::<PersistentVolumeClaim>().map(claims::usage),
            Evaluator::Objects(names) => Some(names.iter().map(|name| (name.clone(), number(1))).collect()),
        }
        .unwrap_or_default()
    }
}

fn is_creation(attributes: &Attributes<'_>) -> bool {
    attributes.operation == Operation::Create && attributes.subresource.is_empty()
}

/// A number of objects.
pub(super) fn number(value: i64) -> Quantity {
    Quantity::new(value, Notation::Decimal)
}
