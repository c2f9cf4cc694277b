//! Revisions, the history of a controller's state.

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::raw::RawExtension;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep};
use planesmith_machinery::table::Cell;
use planesmith_machinery::value::Value;

use crate::core::v1::workload::counts::check_from_zero;

/// A snapshot of a controller's state for rollbacks. StatefulSets and DaemonSets create revisions. The meaning of the
/// data is up to the controller. The data is immutable.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "apps", version = "v1", strategy, strategy_extensions)]
#[resource(
    column(name),
    column(name = "Controller", type = "string", doc = "The controller that created it.", with = controller),
    column(name = "Revision", type = "string", doc = "Revision number; the highest is the current state.", with = revision),
    column(age)
)]
pub struct ControllerRevision {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// State in the format of the controller.
    #[field(proto = 2)]
    pub data: RawExtension,
    /// Number of the revision. The highest one is the current state.
    #[field(proto = 3, keep)]
    pub revision: i64,
}

impl Strategy for ControllerRevision {
    fn validate(&self, errors: &mut FieldErrors) {
        check_from_zero("revision", self.revision, errors);
        if self.data.is_null() {
            errors.required("data", "data is mandatory");
        } else if !self.data.is_object() {
            errors.required("data", "data must be a valid JSON object");
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.data != old.data {
            errors.invalid("data", &self.data as &dyn Value, "field is immutable");
        }
    }
}

impl StrategyExtensions for ControllerRevision {
    const UPDATE_ORDER: &'static [UpdateStep] = &[
        UpdateStep::MetadataChange,
        UpdateStep::Metadata,
        UpdateStep::Object,
        UpdateStep::Change,
    ];

    /// The data is immutable, so stored data in another format may stay.
    fn validate_replacement(&self, _: &Self, errors: &mut FieldErrors) {
        check_from_zero("revision", self.revision, errors);
    }
}

fn controller(revision: &ControllerRevision) -> Cell {
    let mut owners = revision.metadata.owner_references.iter();
    let controller = owners.find(|owner| owner.controller == Some(true));
    Cell::Text(controller.map_or("<none>".to_owned(), |owner| {
        let group = GroupVersion::parse(&owner.api_version).unwrap_or_default().group;
        let kind = owner.kind.to_lowercase();
        match &*group {
            "" => format!("{kind}/{}", owner.name),
            group => format!("{kind}.{group}/{}", owner.name),
        }
    }))
}

fn revision(revision: &ControllerRevision) -> Cell {
    Cell::Integer(revision.revision)
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::strategy::Context;
    use planesmith_machinery::validation::check_update;

    use super::*;

    fn revision_of(data: &str) -> ControllerRevision {
        ControllerRevision {
            data: RawExtension::new(data.as_bytes()).expect("JSON"),
            revision: -1,
            ..ControllerRevision::default()
        }
    }

    #[test]
    fn data_is_an_object_unless_it_is_stored_already() {
        let errors = |report: &dyn Fn(&mut FieldErrors)| {
            let mut errors = FieldErrors::default();
            report(&mut errors);
            let fields = errors.as_slice().iter().map(|error| error.field.clone());
            fields.collect::<Vec<_>>()
        };
        for bad in ["[]", "1", "\"a\""] {
            let revision = revision_of(bad);
            assert_eq!(errors(&|errors| revision.validate(errors)), ["revision", "data"]);
            let again = errors(&|errors| revision.validate_replacement(&revision, errors));
            assert_eq!(again, ["revision"]);
        }
        assert_eq!(errors(&|errors| revision_of("{}").validate(errors)), ["revision"]);
    }

    #[test]
    fn changes_of_metadata_are_checked_before_the_metadata() {
        let mut revision = revision_of("{}");
        revision.metadata.finalizers = vec!["_".to_owned()];
        let errors = check_update(&revision, &revision, &Context::default());
        let fields = errors.as_slice().iter().map(|error| error.field.as_str());
        let fields: Vec<&str> = fields
            .filter(|field| field.starts_with("metadata.finalizers"))
            .collect();
        let (all, first) = ("metadata.finalizers", "metadata.finalizers[0]");
        assert_eq!(fields, [all, first, all, first]);
    }
}
