//! Rule violations that an update may keep because the stored object already has them.

use std::collections::BTreeSet;

use super::super::layout::Layout;
use super::super::structural::is_structural;
use super::{conversion, defaults, lists, schema, selectable};
use crate::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, SelectableField,
};

/// Rules that apply to a declaration, relaxed according to the declaration that it replaces.
#[derive(Clone, Debug)]
pub(super) struct Tolerance {
    /// True if a supported review version is required.
    pub(super) known_review_required: bool,
    /// True if names and scope are immutable because the kind is served.
    pub(super) immutable_names: bool,
    /// True if every version must have a schema.
    pub(super) schemas_required: bool,
    /// True if types must be those of OpenAPI.
    pub(super) known_types: bool,
    /// True if schemas must be structural.
    pub(super) structural: bool,
    /// True if defaults must not have fields that the schema does not specify.
    pub(super) pruned_defaults: bool,
    /// True if elements of sets must be atomic.
    pub(super) atomic_sets: bool,
    /// True if keys of list elements must be required and never null.
    pub(super) sound_keys: bool,
    /// True if unreadable CA certificates of a webhook are tolerated.
    pub(super) bad_authorities: bool,
    /// True if rules may exceed the cost limit.
    pub(super) costly_rules: bool,
    /// Versions whose schemas are unchanged.
    unchanged_schemas: BTreeSet<String>,
    /// Versions that may exceed the limit of selectable fields. The empty name stands for the fields that all versions
    /// share.
    many_fields: BTreeSet<String>,
}

impl Tolerance {
    /// The rules for a new declaration.
    pub(super) const NONE: Self = Self {
        known_review_required: true,
        immutable_names: false,
        schemas_required: true,
        known_types: true,
        structural: true,
        pruned_defaults: true,
        atomic_sets: true,
        sound_keys: true,
        // The kind is not served yet.
        bad_authorities: true,
        costly_rules: false,
        unchanged_schemas: BTreeSet::new(),
        many_fields: BTreeSet::new(),
    };

    /// Returns the rules for a declaration that replaces `old`.
    pub(super) fn of(new: &CustomResourceDefinition, old: &CustomResourceDefinition) -> Self {
        let spec = &old.spec;
        let webhook = spec
            .conversion
            .as_ref()
            .and_then(|conversion| conversion.webhook.as_ref());
        let reviews = webhook.map_or(&[][..], |webhook| &webhook.conversion_review_versions);
        let is_established = old.is("Established");
        let has_all_schemas = spec.versions.iter().all(|version| {
            let schema = version.schema.as_ref();
            schema.is_some_and(|schema| schema.open_apiv3_schema.is_some())
        });
        Self {
            known_review_required: reviews.is_empty() || conversion::has_known(reviews),
            immutable_names: is_established,
            schemas_required: has_all_schemas,
            known_types: !spec.any_schema(|part| !schema::has_known_type(part)),
            structural: spec.schemas().all(is_structural),
            pruned_defaults: !spec.schemas().any(defaults::has_unknown_fields),
            atomic_sets: !spec.any_schema(lists::is_set_of_parts),
            sound_keys: !spec.any_schema(lists::has_unsound_keys),
            bad_authorities: !is_established || old.has_invalid_authorities(),
            costly_rules: false,
            unchanged_schemas: unchanged_schemas(&new.spec, spec),
            many_fields: many_fields(&new.spec, spec),
        }
    }

    /// Tightens the rules for a declaration that uses features of structural schemas.
    pub(super) fn for_spec(&self, spec: &CustomResourceDefinitionSpec) -> Self {
        let needs_structure = || {
            spec.any_schema(|schema| {
                schema.default.is_some()
                    || schema.x_kubernetes_embedded_resource
                    || schema.x_kubernetes_int_or_string
                    || schema.x_kubernetes_preserve_unknown_fields.is_some()
                    || schema.x_kubernetes_list_type.is_some()
                    || !schema.list_map_keys().is_empty()
                    || !schema.x_kubernetes_validations.is_empty()
            })
        };
        Self {
            structural: self.structural || !spec.preserve_unknown_fields || needs_structure(),
            ..self.clone()
        }
    }

    /// Adapts the rules for the schema of the version `name`.
    pub(super) fn for_version(&self, name: &str) -> Self {
        Self {
            costly_rules: self.unchanged_schemas.contains(name),
            ..self.clone()
        }
    }

    /// True if the version `name` may exceed the limit of selectable fields. An empty name stands for all versions.
    pub(super) fn lets_many_fields(&self, name: &str) -> bool {
        self.many_fields.contains(name)
    }
}

/// Finds the old version with the name of `version`.
fn before<'o>(
    old: &'o CustomResourceDefinitionSpec,
    version: &CustomResourceDefinitionVersion,
) -> Option<&'o CustomResourceDefinitionVersion> {
    old.versions.iter().find(|before| before.name == version.name)
}

fn unchanged_schemas(new: &CustomResourceDefinitionSpec, old: &CustomResourceDefinitionSpec) -> BTreeSet<String> {
    let is_unchanged = |version: &&CustomResourceDefinitionVersion| {
        before(old, version).is_some_and(|before| before.schema == version.schema)
    };
    let unchanged = new.versions.iter().filter(is_unchanged);
    unchanged.map(|version| version.name.clone()).collect()
}

fn many_fields(new: &CustomResourceDefinitionSpec, old: &CustomResourceDefinitionSpec) -> BTreeSet<String> {
    let is_kept =
        |now: &[SelectableField], before: &[SelectableField]| before.len() as u64 > selectable::MAX && now == before;
    let (now, then) = (Layout::from_spec(new), Layout::from_spec(old));
    let kept = new.versions.iter().filter(|version| {
        let before = before(old, version);
        before.is_some_and(|before| is_kept(now.selectable_of(version), then.selectable_of(before)))
    });
    let all = is_kept(now.selectable, then.selectable).then(String::new);
    kept.map(|version| version.name.clone()).chain(all).collect()
}
