//! Validation of environment variables and their sources.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;
use planesmith_machinery::quantity::Quantity;

use crate::core::v1::volume::check_no_steps_back;
use crate::core::v1::{
    EnvFromSource, EnvVar, EnvVarSource, FileKeySelector, ObjectFieldSelector, ResourceFieldSelector,
};

const TWO_SOURCES: &str = "may not have more than one field specified at a time";

/// Resources that can be exposed to containers, besides huge pages.
const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
];

/// Units in which byte quantities can be exposed to containers.
const UNITS: [&str; 13] = [
    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
];

/// Reports errors in single variables.
pub(crate) fn check(vars: &[EnvVar], errors: &mut FieldErrors) {
    for (index, var) in vars.iter().enumerate() {
        let mut errors = errors.at_index("env", index);
        if var.name.is_empty() {
            errors.required("name", "");
        } else {
            for problem in names::env_var_name(&var.name) {
                errors.invalid("name", &var.name, problem);
            }
        }
        if let Some(source) = &var.value_from {
            source.check(&var.value, &mut errors.at("valueFrom"));
        }
    }
}

/// Reports errors in objects whose keys become variables. Some errors have the path of the list.
pub(crate) fn check_sources(sources: &[EnvFromSource], errors: &mut FieldErrors) {
    for (index, source) in sources.iter().enumerate() {
        {
            let mut errors = errors.at_index("envFrom", index);
            if !source.prefix.is_empty() {
                for problem in names::env_var_name(&source.prefix) {
                    errors.invalid("prefix", &source.prefix, problem);
                }
            }
            let map = source.config_map_ref.as_ref().map(|map| &map.local_object_reference);
            let secret = source.secret_ref.as_ref().map(|secret| &secret.local_object_reference);
            for (field, reference) in [("configMapRef", map), ("secretRef", secret)] {
                let Some(reference) = reference else { continue };
                let mut errors = errors.at(field);
                if reference.name.is_empty() {
                    errors.required("name", "");
                } else {
                    for problem in names::dns_subdomain(reference.name.trim_end_matches('-')) {
                        errors.invalid("name", &reference.name, problem);
                    }
                }
            }
        }
        match (&source.config_map_ref, &source.secret_ref) {
            (None, None) => errors.invalid("envFrom", "", "must specify one of: `configMapRef` or `secretRef`"),
            (Some(_), Some(_)) => errors.invalid("envFrom", "", TWO_SOURCES),
            _ => {}
        }
    }
}

impl EnvVarSource {
    fn check(&self, value: &str, errors: &mut FieldErrors) {
        let mut count = 0;
        if let Some(field) = &self.field_ref {
            count += 1;
            field.check(FieldPaths::Variables, &mut errors.at("fieldRef"));
        }
        if let Some(resource) = &self.resource_field_ref {
            count += 1;
            resource.check(ResourceOf::ThisContainer, &mut errors.at("resourceFieldRef"));
        }
        if let Some(key) = &self.config_map_key_ref {
            count += 1;
            let name = &key.local_object_reference.name;
            check_key(name, &key.key, &mut errors.at("configMapKeyRef"));
        }
        if let Some(key) = &self.secret_key_ref {
            count += 1;
            let name = &key.local_object_reference.name;
            check_key(name, &key.key, &mut errors.at("secretKeyRef"));
        }
        if let Some(key) = &self.file_key_ref {
            count += 1;
            key.check(&mut errors.at("fileKeyRef"));
        }
        match count {
            0 => errors.invalid(
                "",
                "",
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
            ),
            _ if !value.is_empty() => errors.invalid("", "", "may not be specified when `value` is not empty"),
            1 => {}
            _ => errors.invalid("", "", TWO_SOURCES),
        }
    }
}

fn check_key(name: &str, key: &str, errors: &mut FieldErrors) {
    for problem in names::dns_subdomain(name) {
        errors.invalid("name", name, problem);
    }
    if key.is_empty() {
        errors.required("key", "");
        return;
    }
    for problem in names::config_key(key) {
        errors.invalid("key", key, problem);
    }
}

impl FileKeySelector {
    fn check(&self, errors: &mut FieldErrors) {
        if self.key.is_empty() {
            errors.required("key", "");
        } else {
            for problem in names::env_var_name(&self.key) {
                errors.invalid("key", &self.key, problem);
            }
        }
        if self.volume_name.is_empty() {
            errors.required("volumeName", "");
        } else {
            for problem in names::dns_label(&self.volume_name) {
                errors.invalid("volumeName", &self.volume_name, problem);
            }
        }
        if self.path.is_empty() {
            errors.required("path", "");
        } else {
            check_no_steps_back("path", &self.path, errors);
        }
    }
}

/// The destination of a pod field in a container, which determines the supported field paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldPaths {
    /// Environment variables.
    Variables,
    /// Files of a volume.
    Files,
}

impl FieldPaths {
    fn supported(self) -> &'static [&'static str] {
        match self {
            FieldPaths::Variables => &[
                "metadata.name",
                "metadata.namespace",
                "metadata.uid",
                "spec.nodeName",
                "spec.serviceAccountName",
                "status.hostIP",
                "status.hostIPs",
                "status.podIP",
                "status.podIPs",
            ],
            FieldPaths::Files => &[
                "metadata.name",
                "metadata.namespace",
                "metadata.labels",
                "metadata.annotations",
                "metadata.uid",
            ],
        }
    }
}

/// Splits `metadata.labels['key']` into path and key.
fn subscript(path: &str) -> Option<(&str, &str)> {
    let (path, key) = path.strip_suffix("']")?.split_once("['")?;
    (!path.is_empty()).then_some((path, key))
}

/// Returns the current name of a pod field's path.
fn known_path(path: &str) -> Result<&str, String> {
    if let Some((map, _)) = subscript(path) {
        return match map {
            "metadata.annotations" | "metadata.labels" => Ok(path),
            _ => Err(format!("field label does not support subscript: {path}")),
        };
    }
    match path {
        "spec.host" => Ok("spec.nodeName"),
        "spec.restartPolicy" | "spec.schedulerName" | "status.phase" => Ok(path),
        _ if FieldPaths::Variables.supported().contains(&path) || FieldPaths::Files.supported().contains(&path) => {
            Ok(path)
        }
        _ => Err(format!("field label not supported: {path}")),
    }
}

impl ObjectFieldSelector {
    /// Reports errors in the reference to a pod field for `place`.
    pub(crate) fn check(&self, place: FieldPaths, errors: &mut FieldErrors) {
        for (field, text) in [("apiVersion", &self.api_version), ("fieldPath", &self.field_path)] {
            if text.is_empty() {
                errors.required(field, "");
                return;
            }
        }
        let known = match self.api_version.as_str() {
            "v1" => known_path(&self.field_path),
            other => Err(format!("unsupported pod version: {other}")),
        };
        let path = match known {
            Ok(path) => path,
            Err(problem) => {
                let problem = format!("error converting fieldPath: {problem}");
                errors.invalid("fieldPath", &self.field_path, problem);
                return;
            }
        };
        match subscript(path) {
            Some((map, key)) => {
                let key = if map == "metadata.annotations" {
                    key.to_lowercase()
                } else {
                    key.to_owned()
                };
                for problem in names::qualified_name(&key) {
                    errors.invalid("", &key, problem);
                }
            }
            None if !place.supported().contains(&path) => errors.not_supported("fieldPath", path, place.supported()),
            None => {}
        }
    }
}

/// Container that a resource reference reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceOf {
    /// The container with the reference.
    ThisContainer,
    /// A container that must be named.
    NamedContainer,
}

impl ResourceFieldSelector {
    /// Reports errors in the reference to a resource of a container.
    pub(crate) fn check(&self, of: ResourceOf, errors: &mut FieldErrors) {
        let resource = self.resource.as_str();
        let huge_pages = resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-");
        if of == ResourceOf::NamedContainer && self.container_name.is_empty() {
            errors.required("containerName", "");
        } else if resource.is_empty() {
            errors.required("resource", "");
        } else if !RESOURCES.contains(&resource) && !huge_pages {
            errors.not_supported("resource", resource, &RESOURCES);
        }
        if self.divisor == Quantity::default() {
            return;
        }
        let (units, words): (&[&str], _) = match resource {
            "limits.cpu" | "requests.cpu" => (&["1m", "1"], "cpu"),
            "limits.memory" | "requests.memory" => (&UNITS, "memory"),
            "limits.ephemeral-storage" | "requests.ephemeral-storage" => (&UNITS, "local ephemeral storage"),
            _ if huge_pages => (&UNITS, "hugepages"),
            _ => return,
        };
        if !units.contains(&self.divisor.as_str()) {
            let listed = match words {
                "cpu" => "1m and 1".to_owned(),
                _ => units.join(", "),
            };
            let problem = format!("only divisor's values {listed} are supported with the {words} resource");
            errors.invalid("divisor", resource, problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(check: impl FnOnce(&mut FieldErrors)) -> String {
        let mut errors = FieldErrors::default();
        check(&mut errors);
        errors.joined().unwrap_or_default()
    }

    #[test]
    fn fields_of_the_pod_are_named_by_known_paths() {
        let cases = [
            ("metadata.name", FieldPaths::Variables, ""),
            ("spec.host", FieldPaths::Variables, ""),
            ("metadata.labels['a/b']", FieldPaths::Variables, ""),
            ("metadata.annotations['A/b']", FieldPaths::Files, ""),
            (
                "spec.x['a']",
                FieldPaths::Files,
                "fieldPath: Invalid value: \"spec.x['a']\": error converting fieldPath: field label does not support \
                 subscript: spec.x['a']",
            ),
            (
                "status.podIP",
                FieldPaths::Files,
                "fieldPath: Unsupported value: \"status.podIP\": supported values: \"metadata.annotations\", \
                 \"metadata.labels\", \"metadata.name\", \"metadata.namespace\", \"metadata.uid\"",
            ),
        ];
        for (path, place, expected) in cases {
            let field = ObjectFieldSelector {
                api_version: "v1".to_owned(),
                field_path: path.to_owned(),
            };
            assert_eq!(found(|errors| field.check(place, errors)), expected, "{path}");
        }
    }

    #[test]
    fn resources_have_round_divisors() {
        let cases = [
            ("limits.cpu", "1m", ""),
            ("limits.memory", "1Mi", ""),
            ("limits.hugepages-2Mi", "1Ki", ""),
            (
                "requests.cpu",
                "2",
                "divisor: Invalid value: \"requests.cpu\": only divisor's values 1m and 1 are supported with the cpu \
                 resource",
            ),
        ];
        for (resource, divisor, expected) in cases {
            let field = ResourceFieldSelector {
                resource: resource.to_owned(),
                divisor: divisor.parse().unwrap(),
                ..ResourceFieldSelector::default()
            };
            assert_eq!(found(|errors| field.check(ResourceOf::ThisContainer, errors)), expected);
        }
    }
}
