//! Former sources of kubelet configuration. The fields have no effect.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::names;

/// Former source of a kubelet's configuration. Has no effect.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeConfigSource {
    /// A key of a ConfigMap.
    #[field(proto = 2)]
    pub config_map: Option<ConfigMapNodeConfigSource>,
}

/// A key of a ConfigMap with the configuration of a kubelet. Has no effect.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ConfigMapNodeConfigSource {
    /// Namespace of the ConfigMap.
    #[field(proto = 1, keep)]
    pub namespace: String,
    /// Name of the ConfigMap.
    #[field(proto = 2, keep)]
    pub name: String,
    /// UID of the ConfigMap. Only in the status.
    #[field(proto = 3, go_type = "types.UID")]
    pub uid: String,
    /// Resource version of the ConfigMap. Only in the status.
    #[field(proto = 4)]
    pub resource_version: String,
    /// Key of the configuration in the ConfigMap.
    #[field(proto = 5, keep)]
    pub kubelet_config_key: String,
}

/// Former report of the configuration that a kubelet used. Has no effect.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeConfigStatus {
    /// Configuration that was assigned to the kubelet.
    #[field(proto = 1)]
    pub assigned: Option<NodeConfigSource>,
    /// Configuration that the kubelet used.
    #[field(proto = 2)]
    pub active: Option<NodeConfigSource>,
    /// Configuration that the kubelet would fall back to.
    #[field(proto = 3)]
    pub last_known_good: Option<NodeConfigSource>,
    /// Error in the assigned configuration.
    #[field(proto = 4)]
    pub error: String,
}

impl NodeConfigSource {
    /// Reports errors in the source in a node's spec.
    pub(super) fn check_in_spec(&self, errors: &mut FieldErrors) {
        let mut errors = errors.at("spec.configSource");
        match &self.config_map {
            Some(source) => {
                let mut errors = errors.at("configMap");
                if !source.uid.is_empty() {
                    errors.forbidden("uid", "uid must not be set in spec");
                }
                if !source.resource_version.is_empty() {
                    errors.forbidden("resourceVersion", "resourceVersion must not be set in spec");
                }
                source.check_names(&mut errors);
            }
            None => report_empty(&mut errors),
        }
    }

    fn check_in_status(&self, errors: &mut FieldErrors) {
        match &self.config_map {
            Some(source) => {
                let mut errors = errors.at("configMap");
                if source.uid.is_empty() {
                    errors.required("uid", "");
                }
                if source.resource_version.is_empty() {
                    errors.required("resourceVersion", "");
                }
                source.check_names(&mut errors);
            }
            None => report_empty(errors),
        }
    }
}

impl NodeConfigStatus {
    /// Reports errors in the sources in a node's status.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        let sources = [
            ("assigned", &self.assigned),
            ("active", &self.active),
            ("lastKnownGood", &self.last_known_good),
        ];
        for (field, source) in sources {
            if let Some(source) = source {
                source.check_in_status(&mut errors.at("status.config").at(field));
            }
        }
    }
}

impl ConfigMapNodeConfigSource {
    fn check_names(&self, errors: &mut FieldErrors) {
        let parts = [
            (
                "namespace",
                &self.namespace,
                names::dns_label as fn(&str) -> names::Complaints,
            ),
            ("name", &self.name, names::dns_subdomain),
            ("kubeletConfigKey", &self.kubelet_config_key, names::config_key),
        ];
        for (field, value, problems) in parts {
            if value.is_empty() {
                errors.required(field, "");
                continue;
            }
            for problem in problems(value) {
                errors.invalid(field, value.as_str(), problem);
            }
        }
    }
}

fn report_empty(errors: &mut FieldErrors) {
    errors.invalid(
        "",
        Json("{\"ConfigMap\":null}"),
        "exactly one reference subfield must be non-nil",
    );
}
