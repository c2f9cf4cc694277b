//! Updates of `/ephemeralcontainers`, which add containers to a running pod for debugging.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::go_value::diff;
use planesmith_machinery::strategy::Context;

use super::annotations::MIRROR;
use super::{Pod, PodOptions};

impl Pod {
    /// Reverts everything to `old` except the ephemeral containers and the metadata that any update can change.
    pub fn keep_all_but_ephemeral_containers(&mut self, context: &Context<'_>, old: &Self) {
        let containers = std::mem::take(&mut self.spec.ephemeral_containers);
        self.spec = old.spec.clone();
        self.status = old.status.clone();
        self.spec.ephemeral_containers = containers;
        self.metadata.keep_for_status(&old.metadata);
        self.spec.drop_disabled(Some(&old.spec), context.features);
    }

    /// Reports illegal changes of the ephemeral containers of `old`. Generic code checks the metadata.
    pub fn check_ephemeral_containers(&self, old: &Self, errors: &mut FieldErrors) {
        if old.metadata.annotations.contains_key(MIRROR) {
            errors.clear();
            errors.forbidden("[]", "static pods do not support ephemeral containers");
            return;
        }
        let options = PodOptions::of_pod(Some(old));
        self.check_always(options, errors);
        self.check_annotations_update(old, options, errors);
        for container in &old.spec.ephemeral_containers {
            const FIELD: &str = "spec.ephemeralContainers";
            let name = &container.ephemeral_container_common.name;
            let mut new = self.spec.ephemeral_containers.iter();
            match new.rfind(|new| new.ephemeral_container_common.name == *name) {
                None => {
                    let problem = format!("existing ephemeral containers {} may not be removed\n", quote(name));
                    errors.forbidden(FIELD, problem);
                }
                Some(new) if new != container => {
                    let problem = format!(
                        "existing ephemeral containers {} may not be changed\n{}",
                        quote(name),
                        diff(container, new)
                    );
                    errors.forbidden(FIELD, problem);
                }
                Some(_) => {}
            }
        }
    }
}
