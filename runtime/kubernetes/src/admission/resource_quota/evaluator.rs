//! Evaluators: the amounts of an object that quotas count, by kind.

use planesmith_access::admission::{Attributes, Lister, Objects, Operation};
use planesmith_api_defs::core::v1::{
    PersistentVolumeClaim, Pod, ResourceList, ResourceQuota, ScopedResourceSelectorRequirement, Service,
};
use planesmith_api_defs::resource::v1::ResourceClaim;
use planesmith_machinery::clock::Clock;
use planesmith_machinery::object::Object;
use planesmith_machinery::quantity::{Notation, Quantity};

use super::devices::DeviceClaims;
use super::{claims, pods, services};

/// Kinds that were counted under a plain name before there were names with `count/`.
const PLAIN: [&str; 4] = ["configmaps", "replicationcontrollers", "resourcequotas", "secrets"];

/// Computes the usage of one kind; lives for one write, event or count, since its lookups are cached.
pub(crate) enum Evaluator<'a> {
    /// Resources of pods, by the clock of the server.
    Pods(&'a dyn Clock),
    /// Services, their node ports and their load balancers.
    Services,
    /// Claims, and the storage that they request.
    Claims,
    /// Claims to devices, and the devices that they request.
    Devices(DeviceClaims<'a>),
    /// Objects, under these names.
    Objects(Vec<String>),
}

impl<'a> Evaluator<'a> {
    /// Returns the evaluator for the kind that is written; `objects` are those that it may refer to.
    pub(super) fn from_attributes(attributes: &Attributes<'_>, objects: &'a dyn Lister, clock: &'a dyn Clock) -> Self {
        Self::of_kind(&attributes.resource.group, &attributes.resource.plural, objects, clock)
    }

    /// Returns the evaluator for a kind.
    pub(crate) fn of_kind(group: &str, plural: &str, objects: &'a dyn Lister, clock: &'a dyn Clock) -> Self {
        match (group, plural) {
            ("", "pods") => return Evaluator::Pods(clock),
            ("", "services") => return Evaluator::Services,
            ("", "persistentvolumeclaims") => return Evaluator::Claims,
            ("resource.k8s.io", "resourceclaims") => return Evaluator::Devices(DeviceClaims::new(objects, clock)),
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

    /// True if a write can change the counted amounts.
    pub(super) fn handles(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> bool {
        let is_update = attributes.operation == Operation::Update;
        let changes = match (self, attributes.subresource) {
            (Evaluator::Pods(_), "resize") => true,
            (Evaluator::Pods(_), "") => match (objects.old, objects.new.as_deref()) {
                (Some(old), Some(new)) => self.changes_scope(old, new),
                _ => false,
            },
            // The type of a service can change, and the size of a claim.
            (Evaluator::Services | Evaluator::Claims | Evaluator::Devices(_), "") => true,
            _ => false,
        };
        is_creation(attributes) || is_update && changes
    }

    /// True if an update changes the scopes, and so the quotas, that an object belongs to.
    pub(super) fn changes_scope(&self, old: &dyn Object, new: &dyn Object) -> bool {
        match (self, old.downcast_ref::<Pod>(), new.downcast_ref::<Pod>()) {
            (Evaluator::Pods(_), Some(old), Some(new)) => pods::is_terminating(old) != pods::is_terminating(new),
            _ => false,
        }
    }

    /// True if `name` is a resource of this kind that quotas can bound.
    pub(super) fn counts(&self, name: &str) -> bool {
        match self {
            Evaluator::Pods(_) => pods::counts(name),
            Evaluator::Services => services::counts(name),
            Evaluator::Claims => claims::counts(name),
            Evaluator::Devices(claims) => claims.counts(name),
            Evaluator::Objects(names) => names.iter().any(|own| own == name),
        }
    }

    /// True if a quota bounds a resource of this kind.
    pub(crate) fn bounds(&self, quota: &ResourceQuota) -> bool {
        quota.spec.hard.keys().any(|name| self.counts(name))
    }

    /// True if more than the number of objects is counted, so that the usage of an object can change by an update.
    pub(crate) fn can_change(&self) -> bool {
        !matches!(self, Evaluator::Objects(_))
    }

    /// True if an update changed the usage of an object, or its scopes.
    pub(crate) fn changed(&self, before: &dyn Object, now: &dyn Object) -> bool {
        self.changes_scope(before, now) || self.usage(before) != self.usage(now)
    }

    /// True if an object is in a scope.
    pub(super) fn is_in_scope(&self, object: &dyn Object, scope: &ScopedResourceSelectorRequirement) -> bool {
        match self {
            Evaluator::Pods(_) => object
                .downcast_ref::<Pod>()
                .is_some_and(|pod| pods::is_in_scope(pod, scope)),
            Evaluator::Claims => object
                .downcast_ref::<PersistentVolumeClaim>()
                .is_some_and(|claim| claims::is_in_scope(claim, scope)),
            Evaluator::Services | Evaluator::Devices(_) | Evaluator::Objects(_) => false,
        }
    }

    /// Checks that an object sets everything that quotas on `required` need to count it.
    ///
    /// # Errors
    ///
    /// The resources that are missing.
    pub(super) fn check(&self, object: &dyn Object, required: &[&str]) -> Result<(), String> {
        match (self, object.downcast_ref::<Pod>()) {
            (Evaluator::Pods(_), Some(pod)) => pods::check(pod, required),
            _ => Ok(()),
        }
    }

    /// Returns the usage of an object.
    pub(super) fn usage(&self, object: &dyn Object) -> ResourceList {
        match self {
            Evaluator::Pods(clock) => {
                let usage = |pod| pods::usage(pod, &clock.now().into());
                object.downcast_ref::<Pod>().map(usage)
            }
            Evaluator::Services => object.downcast_ref::<Service>().map(services::usage),
            Evaluator::Claims => object.downcast_ref::<PersistentVolumeClaim>().map(claims::usage),
            Evaluator::Devices(claims) => object.downcast_ref::<ResourceClaim>().map(|claim| claims.usage(claim)),
            Evaluator::Objects(names) => Some(names.iter().map(|name| (name.clone(), number(1))).collect()),
        }
        .unwrap_or_default()
    }
}

fn is_creation(attributes: &Attributes<'_>) -> bool {
    attributes.operation == Operation::Create && attributes.subresource.is_empty()
}

/// Returns a number of objects as a quantity.
pub(super) fn number(value: i64) -> Quantity {
    Quantity::new(value, Notation::Decimal)
}
