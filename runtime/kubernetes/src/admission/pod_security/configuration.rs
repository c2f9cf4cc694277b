//! The configuration file of pod security admission.

use anyhow::{Result, bail};
use planesmith_control_plane::admission::parse_configuration;
use planesmith_machinery::field_error::{FieldError, FieldErrorKind, FieldErrors};
use planesmith_machinery::names;
use serde::Deserialize;

use super::policy::{Level, LevelVersion, Policy, Version};

const VERSIONS: [&str; 3] = [
    "pod-security.admission.config.k8s.io/v1",
    "pod-security.admission.config.k8s.io/v1beta1",
    "pod-security.admission.config.k8s.io/v1alpha1",
];

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PodSecurityConfiguration {
    defaults: Defaults,
    exemptions: Exemptions,
}

/// Levels and versions as text; empty ones mean privileged and latest.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct Defaults {
    enforce: String,
    enforce_version: String,
    audit: String,
    audit_version: String,
    warn: String,
    warn_version: String,
}

/// Users, namespaces and runtime classes that are exempt from the checks.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub(super) struct Exemptions {
    usernames: Vec<String>,
    namespaces: Vec<String>,
    runtime_classes: Vec<String>,
}

impl Exemptions {
    pub(super) fn has_namespace(&self, name: &str) -> bool {
        !name.is_empty() && self.namespaces.iter().any(|exempt| exempt == name)
    }

    pub(super) fn has_user(&self, name: &str) -> bool {
        !name.is_empty() && self.usernames.iter().any(|exempt| exempt == name)
    }

    pub(super) fn has_runtime_class(&self, name: Option<&str>) -> bool {
        name.is_some_and(|name| !name.is_empty() && self.runtime_classes.iter().any(|exempt| exempt == name))
    }

    fn check(&self, errors: &mut FieldErrors) {
        let lists = [
            ("exemptions.namespaces", &self.namespaces),
            ("exemptions.runtimeClasses", &self.runtime_classes),
            ("exemptions.usernames", &self.usernames),
        ];
        for (path, list) in lists {
            for (index, name) in list.iter().enumerate() {
                let problems = match path {
                    "exemptions.namespaces" => names::dns_label(name),
                    "exemptions.runtimeClasses" => names::dns_subdomain(name),
                    _ if name.is_empty() => vec!["username must not be empty".to_owned()],
                    _ => Vec::new(),
                };
                let field = format!("{path}[{index}]");
                if !problems.is_empty() {
                    errors.invalid(&field, name.as_str(), problems.join(", "));
                } else if list[..index].contains(name) {
                    errors.push(FieldError {
                        field,
                        kind: FieldErrorKind::Duplicate,
                        value: format!("{name:?}"),
                        detail: String::new(),
                    });
                }
            }
        }
    }
}

/// Reads the default policy and the exemptions.
///
/// # Errors
///
/// All problems of the configuration, by field.
pub(super) fn read(value: Option<&serde_json::Value>) -> Result<(Policy, Exemptions)> {
    let configuration: PodSecurityConfiguration = parse_configuration(value, "PodSecurityConfiguration", &VERSIONS)?;
    let defaults = &configuration.defaults;
    let mut errors = FieldErrors::default();
    let policy = Policy {
        enforce: mode(&mut errors, "enforce", &defaults.enforce, &defaults.enforce_version),
        warn: mode(&mut errors, "warn", &defaults.warn, &defaults.warn_version),
        audit: mode(&mut errors, "audit", &defaults.audit, &defaults.audit_version),
    };
    configuration.exemptions.check(&mut errors);
    match errors.joined() {
        Some(problems) => bail!("{problems}"),
        None => Ok((policy, configuration.exemptions)),
    }
}

fn mode(errors: &mut FieldErrors, name: &str, level: &str, version: &str) -> LevelVersion {
    let mut mode = LevelVersion::default();
    if !level.is_empty() {
        match Level::parse(level) {
            Ok(level) => mode.level = level,
            Err(why) => errors.invalid(&format!("defaults.{name}"), level, why),
        }
    }
    if !version.is_empty() {
        match Version::parse(version) {
            Ok(version) => mode.version = version,
            Err(why) => errors.invalid(&format!("defaults.{name}-version"), version, why),
        }
    }
    mode
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn defaults_and_exemptions_are_read() {
        let value = json!({
            "apiVersion": VERSIONS[0],
            "kind": "PodSecurityConfiguration",
            "defaults": {"enforce": "baseline", "enforce-version": "v1.30", "warn": "restricted"},
            "exemptions": {"usernames": ["root"], "namespaces": ["kube-system"], "runtimeClasses": ["vm"]},
        });
        let (policy, exempt) = read(Some(&value)).unwrap();
        assert_eq!(policy.enforce.to_string(), "baseline:v1.30");
        assert_eq!(policy.warn.to_string(), "restricted:latest");
        assert!(exempt.has_user("root") && exempt.has_namespace("kube-system") && exempt.has_runtime_class(Some("vm")));
        assert!(!exempt.has_user("") && !exempt.has_runtime_class(None));
        assert!(read(None).unwrap().0.is_privileged());
    }

    #[test]
    fn every_mistake_is_reported() {
        let value = json!({
            "apiVersion": VERSIONS[0],
            "kind": "PodSecurityConfiguration",
            "defaults": {"enforce": "strict", "audit-version": "1"},
            "exemptions": {"usernames": ["", "a", "a"]},
        });
        let error = read(Some(&value)).unwrap_err().to_string();
        for expected in [
            "defaults.enforce: Invalid value: \"strict\"",
            "defaults.audit-version: Invalid value: \"1\"",
            "exemptions.usernames[0]: Invalid value: \"\": username must not be empty",
            "exemptions.usernames[2]: Duplicate value: \"a\"",
        ] {
            assert!(error.contains(expected), "{error}");
        }
    }
}
