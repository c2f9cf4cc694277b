//! Labels and selector that connect a job to its pods.

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::value::Value;

use super::{Job, JobSpec};
use crate::core::v1::workload::selector::{Match, matches};

const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";
const JOB_NAME: &str = "batch.kubernetes.io/job-name";
const OLD_CONTROLLER_UID: &str = "controller-uid";
const OLD_JOB_NAME: &str = "job-name";

impl Job {
    /// Generates the selector and the pod labels. Values from the client are preserved, and the validation refuses them
    /// if they differ.
    pub(super) fn generate_selector(&mut self) {
        let (name, uid) = (&self.metadata.name, &self.metadata.uid);
        let labels = &mut self.spec.template.metadata.labels;
        for (key, value) in [
            (JOB_NAME, name),
            (OLD_JOB_NAME, name),
            (CONTROLLER_UID, uid),
            (OLD_CONTROLLER_UID, uid),
        ] {
            labels.entry(key.to_owned()).or_insert_with(|| value.clone());
        }
        let selector = self.spec.selector.get_or_insert_default();
        let by_uid = selector.match_labels.entry(CONTROLLER_UID.to_owned());
        by_uid.or_insert_with(|| uid.clone());
    }

    /// Reports a selector or labels that differ from the generated ones. A stored job without the labels that have a
    /// domain needs none.
    pub(super) fn check_identity(&self, old: Option<&JobSpec>, errors: &mut FieldErrors) {
        if self.spec.manual_selector == Some(true) || self.spec.selector.is_none() {
            return;
        }
        let (name, uid) = (self.metadata.name.as_str(), self.metadata.uid.as_str());
        if uid.is_empty() {
            errors.required("metadata.uid", "");
        }
        let mut wanted = vec![(OLD_CONTROLLER_UID, uid), (OLD_JOB_NAME, name)];
        let has_domain_labels = |old: &JobSpec| {
            let labels = &old.template.metadata.labels;
            labels.contains_key(CONTROLLER_UID) && labels.contains_key(JOB_NAME)
        };
        if old.is_none_or(has_domain_labels) {
            wanted.extend([(CONTROLLER_UID, uid), (JOB_NAME, name)]);
        }
        let labels = &self.spec.template.metadata.labels;
        for (key, value) in &wanted {
            let errors = &mut *errors.at("spec.template.metadata");
            match labels.get(*key) {
                None => errors.at_key("labels", key).required("", format!("must be '{value}'")),
                Some(found) if found != value => {
                    let detail = format!("must be '{value}'");
                    errors.at_key("labels", key).invalid("", labels as &dyn Value, detail);
                }
                Some(_) => {}
            }
        }
        let wanted: BTreeMap<String, String> = wanted
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        if let Some(selector) = &self.spec.selector
            && matches(Some(selector), &wanted) == Match::No
        {
            errors.invalid("spec.selector", selector as &dyn Value, "`selector` not auto-generated");
        }
    }
}
