//! Rule violations that an update may keep because the stored object already has them.

use std::collections::BTreeSet;

use super::super::layout::Layout;
use super::super::structural::is_structural;
use super::{conversion, defaults, lists, schema, selectable};
use crate::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, SelectableField,
};
use crate::certificates::authorities_complaint;

/// Rules that apply to a declaration, relaxed according to the declaration that it replaces.
#[derive(Clone, Debug)]
pub(super) struct Tolerance {
    /// A version of reviews that the server speaks has to be there.
    pub(super) known_review_required: bool,
    /// The kind is served, so its names and its scope stay.
    pub(super) immutable_names: bool,
    /// Every version has to have a schema.
    pub(super) schemas_required: bool,
    /// Types have to be those of OpenAPI.
    pub(super) known_types: bool,
    /// Schemas have to be structural.
    pub(super) structural: bool,
    /// Defaults may not have fields that the schema does not know.
    pub(super) pruned_defaults: bool,
    /// Elements of sets have to be atomic.
    pub(super) atomic_sets: bool,
    /// Keys of lists are there and are never null.
    pub(super) sound_keys: bool,
    /// Authorities of a webhook that cannot be read are let pass.
    pub(super) bad_authorities: bool,
    /// A rule may cost more than it may cost.
    pub(super) costly_rules: bool,
    /// Versions whose schemas are what they were.
    unchanged_schemas: BTreeSet<String>,
    /// Versions that may have more selectable fields than there may be; the empty name stands for what all have in common.
    many_fields: BTreeSet<String>,
}

impl Tolerance {
    /// For a new declaration.
    pub(super) const NONE: Self = Self {
        known_review_required: true,
        immutable_names: false,
        schemas_required: true,
        known_types: true,
        structural: true,
        pruned_defaults: true,
        atomic_sets: true,
        sound_keys: true,
        // It is not served yet.
        bad_authorities: true,
        costly_rules: false,
        unchanged_schemas: BTreeSet::new(),
        many_fields: BTreeSet::new(),
    };

    /// For a declaration in place of `old`.
    pub(super) fn of(new: &CustomResourceDefinition, old: &CustomResourceDefinition) -> Self {
        let spec = &old.spec;
        let webhook = spec
            .conversion
            .as_ref()
            .and_then(|conversion| conversion.webhook.as_ref());
        let reviews = webhook.map_or(&[][..], |webhook| &webhook.conversion_review_versions);
        let authorities = webhook.and_then(|webhook| webhook.client_config.as_ref());
        let authorities = authorities.map_or(&[][..], |config| config.ca_bundle.as_ref());
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
            bad_authorities: !is_established || authorities_complaint(authorities).is_some(),
            costly_rules: false,
            unchanged_schemas: unchanged_schemas(&new.spec, spec),
            many_fields: many_fields(&new.spec, spec),
        }
    }

    /// The same for a declaration that says something that only structural schemas can.
    pub(super) fn for_spec(&self, spec: &CustomResourceDefinitionSpec) -> Self {
        let needs_structure = || {
            spec.any_schema(|schema| {
                schema.default.is_some()
                    || schema.x_kubernetes_embedded_resource
                    || schema.x_kubernetes_int_or_string
                    || schema.x_kubernetes_preserve_unknown_fields.is_some()
                    || schema.x_kubernetes_list_type.is_some()
                    || !schema.x_kubernetes_list_map_keys.is_empty()
                    || !schema.x_kubernetes_validations.is_empty()
            })
        };
        Self {
            structural: self.structural || !spec.preserve_unknown_fields || needs_structure(),
            ..self.clone()
        }
    }

    /// The same for the schema of the version `name`.
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

/// A version that was there before under the name of another one.
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
    let (now, then) = (Layout::of(new), Layout::of(old));
    let kept = new.versions.iter().filter(|version| {
        let before = before(old, version);
        before.is_some_and(|before| is_kept(now.selectable_of(version), then.selectable_of(before)))
    });
    let all = is_kept(now.selectable, then.selectable).then(String::new);
    kept.map(|version| version.name.clone()).chain(all).collect()
}
