//! Templates from which controllers create pods.

use planesmith_machinery::Struct;
use planesmith_machinery::feature::Features;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::validation;

use crate::core::v1::PodSpec;
use crate::core::v1::pod::{PodOptions, check_annotations, check_app_armor_fields, check_seccomp_fields};

/// Metadata and desired state of the pods that are created from a template.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodTemplateSpec {
    /// Metadata of the pods.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state of the pods.
    #[field(proto = 2)]
    pub spec: PodSpec,
}

impl PodTemplateSpec {
    /// Sets the defaults of a template. Defaults of pods only are set on their creation.
    pub fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }

    /// Drops fields of features that are disabled in `features`, unless `old` uses them. Must be called before a template is stored.
    pub fn drop_disabled(&mut self, old: Option<&Self>, features: &Features) {
        self.spec.drop_disabled(old.map(|old| &old.spec), features);
    }

    /// Reports errors in the template at the current prefix.
    pub fn check(&self, options: PodOptions, errors: &mut FieldErrors) {
        self.check_metadata(options, errors);
        let annotations = &self.metadata.annotations;
        let mut errors = errors.at("spec");
        self.spec.check("", options, &mut errors);
        check_seccomp_fields(annotations, &self.spec, &mut errors);
        check_app_armor_fields(annotations, &self.spec, &mut errors);
        if !self.spec.ephemeral_containers.is_empty() {
            errors.forbidden(
                "ephemeralContainers",
                "ephemeral containers not allowed in pod template",
            );
        }
    }

    /// Performs the part of [`Self::check`] about labels and annotations.
    pub(crate) fn check_metadata(&self, options: PodOptions, errors: &mut FieldErrors) {
        let annotations = &self.metadata.annotations;
        validation::check_labels("labels", &self.metadata.labels, errors);
        validation::check_annotations("annotations", annotations, errors);
        check_annotations(annotations, &self.spec, options, &mut errors.at("annotations"));
    }
}
