//! The layout that kube-apiserver validates: parts that all versions share are moved to the top level, so that errors
//! name the same field paths.

use super::CustomResourceDefinitionSpec;
use crate::apiextensions::v1::json_schema_rendering::rendered_version;
use crate::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinitionVersion, CustomResourceSubresources,
    CustomResourceValidation, JSONSchemaProps, SelectableField,
};

/// A declaration whose common parts of all versions are moved to the top level.
pub(super) struct Layout<'d> {
    pub(super) spec: &'d CustomResourceDefinitionSpec,
    /// Schema of all versions. `None` if the versions differ or have none.
    pub(super) schema: Option<&'d CustomResourceValidation>,
    /// Subresources of all versions.
    pub(super) subresources: Option<&'d CustomResourceSubresources>,
    /// Columns of all versions.
    pub(super) columns: &'d [CustomResourceColumnDefinition],
    /// Selectable fields of all versions.
    pub(super) selectable: &'d [SelectableField],
    shared: Shared,
}

/// Parts that are identical in all versions.
#[derive(Clone, Copy)]
struct Shared {
    schema: bool,
    subresources: bool,
    columns: bool,
    selectable: bool,
}

impl<'d> Layout<'d> {
    pub(super) fn from_spec(spec: &'d CustomResourceDefinitionSpec) -> Self {
        let versions = &spec.versions;
        let all = |same: fn(&CustomResourceDefinitionVersion, &CustomResourceDefinitionVersion) -> bool| {
            versions.iter().all(|version| same(version, &versions[0]))
        };
        let shared = Shared {
            schema: all(|version, first| version.schema == first.schema),
            subresources: all(|version, first| version.subresources == first.subresources),
            columns: all(|version, first| version.additional_printer_columns == first.additional_printer_columns),
            selectable: all(|version, first| version.selectable_fields == first.selectable_fields),
        };
        let first = versions.first();
        let columns = first.filter(|_| shared.columns);
        let selectable = first.filter(|_| shared.selectable);
        Self {
            spec,
            schema: first.filter(|_| shared.schema).and_then(|first| first.schema.as_ref()),
            subresources: first
                .filter(|_| shared.subresources)
                .and_then(|first| first.subresources.as_ref()),
            columns: columns.map_or(&[], |first| &first.additional_printer_columns),
            selectable: selectable.map_or(&[], |first| &first.selectable_fields),
            shared,
        }
    }

    /// Returns the schema that is specific to a version.
    pub(super) fn schema_of(
        &self,
        version: &'d CustomResourceDefinitionVersion,
    ) -> Option<&'d CustomResourceValidation> {
        version.schema.as_ref().filter(|_| !self.shared.schema)
    }

    /// Returns the subresources that are specific to a version.
    pub(super) fn subresources_of(
        &self,
        version: &'d CustomResourceDefinitionVersion,
    ) -> Option<&'d CustomResourceSubresources> {
        version.subresources.as_ref().filter(|_| !self.shared.subresources)
    }

    /// Returns the columns that are specific to a version.
    pub(super) fn columns_of(
        &self,
        version: &'d CustomResourceDefinitionVersion,
    ) -> &'d [CustomResourceColumnDefinition] {
        match self.shared.columns {
            true => &[],
            false => &version.additional_printer_columns,
        }
    }

    /// Returns the selectable fields that are specific to a version.
    pub(super) fn selectable_of(&self, version: &'d CustomResourceDefinitionVersion) -> &'d [SelectableField] {
        match self.shared.selectable {
            true => &[],
            false => &version.selectable_fields,
        }
    }

    /// Returns the schema of all versions without its wrapper.
    pub(super) fn common_schema(&self) -> Option<&'d JSONSchemaProps> {
        self.schema?.open_apiv3_schema.as_ref()
    }

    /// Renders `spec.versions` for an error message.
    pub(super) fn rendered_versions(&self) -> String {
        let mut versions = self.spec.versions.clone();
        for version in &mut versions {
            if self.shared.schema {
                version.schema = None;
            }
            if self.shared.subresources {
                version.subresources = None;
            }
            if self.shared.columns {
                version.additional_printer_columns.clear();
            }
            if self.shared.selectable {
                version.selectable_fields.clear();
            }
        }
        if versions.is_empty() {
            // An empty list that the request has replaces it in the message.
            return "null".to_owned();
        }
        let versions: Vec<String> = versions.iter().map(rendered_version).collect();
        format!("[{}]", versions.join(","))
    }
}

impl CustomResourceDefinitionSpec {
    /// Iterates over all distinct schemas.
    pub(super) fn schemas(&self) -> impl Iterator<Item = &JSONSchemaProps> {
        let layout = Layout::from_spec(self);
        let common = layout.common_schema();
        let shared = layout.shared.schema;
        let own = self.versions.iter().filter(move |_| !shared);
        common
            .into_iter()
            .chain(own.filter_map(|version| version.schema.as_ref()?.open_apiv3_schema.as_ref()))
    }

    /// True if `holds` returns true for a schema of any version or for a schema nested in it.
    pub(super) fn any_schema(&self, mut holds: impl FnMut(&JSONSchemaProps) -> bool) -> bool {
        self.schemas().any(|schema| schema.any(&mut holds))
    }
}
