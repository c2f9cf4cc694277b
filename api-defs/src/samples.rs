//! Adjustments of random objects of kinds whose fields depend on each other, for tests of definitions.

use planesmith_machinery::testing::Samples;
use planesmith_machinery::time::Time;

use crate::{
    admissionregistration, apiextensions, apiregistration, apiserverinternal, certificates, core, events, networking,
};

/// Returns the generator of random objects of the built-in kinds.
#[must_use]
pub fn samples() -> Samples {
    Samples::default()
        .adjust(definition)
        .adjust(old_definition)
        .adjust(api_service)
        .unvalidated::<certificates::v1::CertificateSigningRequest>()
        .unvalidated::<certificates::v1beta1::PodCertificateRequest>()
        .unvalidated::<certificates::v1beta1::ClusterTrustBundle>()
        .adjust(ip_address)
        .adjust(storage_version)
        .adjust(event)
        .adjust(mutating_policy)
        .adjust(validating_policy)
}

fn definition(definition: &mut apiextensions::v1::CustomResourceDefinition) {
    let spec = &mut definition.spec;
    if !spec.group.contains('.') {
        spec.group.push_str(".example.com");
    }
    spec.versions.truncate(3);
    for (index, version) in spec.versions.iter_mut().enumerate() {
        version.name = format!("v{}", index + 1);
        version.storage = index == 0;
        let schema = version
            .schema
            .as_mut()
            .and_then(|schema| schema.open_apiv3_schema.as_mut());
        if let Some(schema) = schema {
            // A pruned value may be empty, which is no legal schema.
            schema.items = None;
        }
    }
    definition.metadata.name = format!("{}.{}", spec.names.plural, spec.group);
}

fn old_definition(definition: &mut apiextensions::v1beta1::CustomResourceDefinition) {
    let spec = &mut definition.spec;
    if spec.versions.is_empty() {
        spec.versions
            .push(apiextensions::v1beta1::CustomResourceDefinitionVersion::default());
    }
    for (index, version) in spec.versions.iter_mut().enumerate() {
        version.name = format!("v{}", index + 1);
    }
    // Schemas are specified either for each version or for all of them.
    "v1".clone_into(&mut spec.version);
    // Older servers always set this list.
    definition.status.stored_versions = vec!["v1".to_owned()];
    spec.validation = None;
    spec.subresources = None;
    spec.additional_printer_columns.clear();
    spec.selectable_fields.clear();
    spec.hoist_common_parts();
}

fn api_service(service: &mut apiregistration::v1::APIService) {
    service.metadata.name = format!("{}.{}", service.spec.version, service.spec.group);
}

fn ip_address(address: &mut networking::v1::IPAddress) {
    "10.9.8.7".clone_into(&mut address.metadata.name);
}

fn storage_version(storage: &mut apiserverinternal::v1alpha1::StorageVersion) {
    storage.metadata.name = "example.com.things".to_owned();
}

fn event(event: &mut events::v1::Event) {
    // New events must not set the fields of the core group.
    "Normal".clone_into(&mut event.type_);
    event.deprecated_source = core::v1::EventSource::default();
    event.deprecated_first_timestamp = Time::ZERO;
    event.deprecated_last_timestamp = Time::ZERO;
    event.deprecated_count = 0;
}

fn mutating_policy(policy: &mut admissionregistration::v1::MutatingAdmissionPolicy) {
    for variable in &mut policy.spec.variables {
        "true".clone_into(&mut variable.expression);
    }
    for condition in &mut policy.spec.match_conditions {
        "true".clone_into(&mut condition.expression);
    }
    for mutation in &mut policy.spec.mutations {
        if let Some(configuration) = &mut mutation.apply_configuration {
            "Object{}".clone_into(&mut configuration.expression);
        }
        if let Some(patch) = &mut mutation.json_patch {
            r#"[JSONPatch{op: "remove", path: "/spec"}]"#.clone_into(&mut patch.expression);
        }
    }
}

fn validating_policy(policy: &mut admissionregistration::v1::ValidatingAdmissionPolicy) {
    for variable in &mut policy.spec.variables {
        "true".clone_into(&mut variable.expression);
    }
    for condition in &mut policy.spec.match_conditions {
        "true".clone_into(&mut condition.expression);
    }
    for validation in &mut policy.spec.validations {
        "true".clone_into(&mut validation.expression);
        if !validation.message_expression.is_empty() {
            "'text'".clone_into(&mut validation.message_expression);
        }
    }
    for annotation in &mut policy.spec.audit_annotations {
        "'text'".clone_into(&mut annotation.value_expression);
    }
}
