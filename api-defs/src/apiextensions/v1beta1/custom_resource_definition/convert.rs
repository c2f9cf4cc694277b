//! Conversion of fields that v1beta1 has once for all versions and v1 has for each version.

use planesmith_machinery::resource::Convert;

use super::{
    CustomResourceColumnDefinition, CustomResourceConversion, CustomResourceDefinition, CustomResourceDefinitionSpec,
    CustomResourceDefinitionVersion,
};
use crate::apiextensions::v1;

impl Convert<v1::CustomResourceDefinition> for CustomResourceDefinition {
    fn finish_to_hub(&self, hub: &mut v1::CustomResourceDefinition) {
        let spec = &self.spec;
        let mut versions: Vec<v1::CustomResourceDefinitionVersion> =
            spec.versions.iter().map(|version| version.to_v1(spec)).collect();
        if versions.is_empty() && !spec.version.is_empty() {
            let only = CustomResourceDefinitionVersion {
                name: spec.version.clone(),
                served: true,
                storage: true,
                ..CustomResourceDefinitionVersion::default()
            };
            versions.push(only.to_v1(spec));
        }
        hub.spec.versions = versions;
        hub.spec.conversion = spec.conversion.as_ref().map(CustomResourceConversion::to_v1);
        hub.spec.preserve_unknown_fields = spec.preserve_unknown_fields.unwrap_or_default();
    }

    fn finish_from_hub(&mut self, hub: &v1::CustomResourceDefinition) {
        let spec = &mut self.spec;
        spec.versions = hub
            .spec
            .versions
            .iter()
            .map(CustomResourceDefinitionVersion::of_v1)
            .collect();
        spec.version = hub
            .spec
            .versions
            .first()
            .map_or(String::new(), |version| version.name.clone());
        spec.conversion = hub.spec.conversion.as_ref().map(CustomResourceConversion::of_v1);
        spec.preserve_unknown_fields = Some(hub.spec.preserve_unknown_fields);
        spec.hoist_common_parts();
    }
}

impl CustomResourceDefinitionSpec {
    /// Moves the parts that are identical in all versions to the top level.
    pub(crate) fn hoist_common_parts(&mut self) {
        let Some(first) = self.versions.first().cloned() else {
            return;
        };
        let same = |equal: &dyn Fn(&CustomResourceDefinitionVersion) -> bool| self.versions.iter().all(equal);
        if same(&|version| version.schema == first.schema) {
            self.validation = first.schema;
            self.versions.iter_mut().for_each(|version| version.schema = None);
        }
        let same = |equal: &dyn Fn(&CustomResourceDefinitionVersion) -> bool| self.versions.iter().all(equal);
        if same(&|version| version.subresources == first.subresources) {
            self.subresources = first.subresources;
            self.versions.iter_mut().for_each(|version| version.subresources = None);
        }
        let same = |equal: &dyn Fn(&CustomResourceDefinitionVersion) -> bool| self.versions.iter().all(equal);
        if same(&|version| version.additional_printer_columns == first.additional_printer_columns) {
            self.additional_printer_columns = first.additional_printer_columns;
            self.versions
                .iter_mut()
                .for_each(|version| version.additional_printer_columns.clear());
        }
        let same = |equal: &dyn Fn(&CustomResourceDefinitionVersion) -> bool| self.versions.iter().all(equal);
        if same(&|version| version.selectable_fields == first.selectable_fields) {
            self.selectable_fields = first.selectable_fields;
            self.versions
                .iter_mut()
                .for_each(|version| version.selectable_fields.clear());
        }
    }
}

impl CustomResourceDefinitionVersion {
    /// Converts the version and adds the top-level parts of all versions.
    fn to_v1(&self, all: &CustomResourceDefinitionSpec) -> v1::CustomResourceDefinitionVersion {
        let columns = or_else(&self.additional_printer_columns, &all.additional_printer_columns);
        v1::CustomResourceDefinitionVersion {
            name: self.name.clone(),
            served: self.served,
            storage: self.storage,
            deprecated: self.deprecated,
            deprecation_warning: self.deprecation_warning.clone(),
            schema: self.schema.as_ref().or(all.validation.as_ref()).cloned(),
            subresources: self.subresources.as_ref().or(all.subresources.as_ref()).cloned(),
            additional_printer_columns: columns.iter().map(CustomResourceColumnDefinition::to_v1).collect(),
            selectable_fields: or_else(&self.selectable_fields, &all.selectable_fields).to_vec(),
        }
    }

    fn of_v1(version: &v1::CustomResourceDefinitionVersion) -> Self {
        let columns = version.additional_printer_columns.iter();
        Self {
            name: version.name.clone(),
            served: version.served,
            storage: version.storage,
            deprecated: version.deprecated,
            deprecation_warning: version.deprecation_warning.clone(),
            schema: version.schema.clone(),
            subresources: version.subresources.clone(),
            additional_printer_columns: columns.map(CustomResourceColumnDefinition::of_v1).collect(),
            selectable_fields: version.selectable_fields.clone(),
        }
    }
}

fn or_else<'a, T>(own: &'a [T], all: &'a [T]) -> &'a [T] {
    if own.is_empty() { all } else { own }
}

impl CustomResourceColumnDefinition {
    fn to_v1(&self) -> v1::CustomResourceColumnDefinition {
        v1::CustomResourceColumnDefinition {
            name: self.name.clone(),
            type_: self.type_.clone(),
            format: self.format.clone(),
            description: self.description.clone(),
            priority: self.priority,
            json_path: self.json_path.clone(),
        }
    }

    fn of_v1(column: &v1::CustomResourceColumnDefinition) -> Self {
        Self {
            name: column.name.clone(),
            type_: column.type_.clone(),
            format: column.format.clone(),
            description: column.description.clone(),
            priority: column.priority,
            json_path: column.json_path.clone(),
        }
    }
}

impl CustomResourceConversion {
    fn to_v1(&self) -> v1::CustomResourceConversion {
        let webhook = v1::WebhookConversion {
            client_config: self.webhook_client_config.clone(),
            conversion_review_versions: self.conversion_review_versions.clone(),
        };
        v1::CustomResourceConversion {
            strategy: self.strategy.clone(),
            webhook: (webhook != v1::WebhookConversion::default()).then_some(webhook),
        }
    }

    fn of_v1(conversion: &v1::CustomResourceConversion) -> Self {
        let webhook = conversion.webhook.as_ref();
        Self {
            strategy: conversion.strategy.clone(),
            webhook_client_config: webhook.and_then(|webhook| webhook.client_config.clone()),
            conversion_review_versions: webhook
                .map(|webhook| webhook.conversion_review_versions.clone())
                .unwrap_or_default(),
        }
    }
}
