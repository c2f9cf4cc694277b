//! The file of `--admission-control-config-file`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use planesmith_machinery::yaml;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The configuration of plugins, by their names.
#[derive(Debug, Default)]
pub struct Configuration {
    plugins: Vec<(String, Value)>,
}

/// The file: one document for all plugins, which contains the configuration of each or names its file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct AdmissionConfiguration {
    api_version: String,
    kind: String,
    #[serde(default)]
    plugins: Vec<PluginConfiguration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PluginConfiguration {
    name: String,
    /// The path, relative to the folder of the file.
    #[serde(default)]
    path: String,
    configuration: Option<Value>,
}

/// Versions of the file that are accepted; they have the same fields.
const VERSIONS: [&str; 2] = ["apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1"];

impl Configuration {
    /// Reads the file, and the files that it names.
    ///
    /// # Errors
    ///
    /// The file that cannot be read, and the reason.
    pub fn open(path: &Path) -> Result<Self> {
        let shown = path.display();
        let value = read_document(path).with_context(|| format!("--admission-control-config-file {shown}"))?;
        let file: AdmissionConfiguration =
            serde_json::from_value(value).with_context(|| format!("--admission-control-config-file {shown}"))?;
        if file.kind != "AdmissionConfiguration" || !VERSIONS.contains(&file.api_version.as_str()) {
            bail!(
                "--admission-control-config-file {shown} has a {} of {}; expected an AdmissionConfiguration of {}",
                file.kind,
                file.api_version,
                VERSIONS[0]
            );
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut plugins = Vec::new();
        for plugin in file.plugins {
            let value = match plugin.configuration {
                Some(value) => value,
                None if plugin.path.is_empty() => continue,
                None => {
                    let path = folder.join(&plugin.path);
                    read_document(&path)
                        .with_context(|| format!("configuration of {}: {}", plugin.name, path.display()))?
                }
            };
            plugins.push((plugin.name, value));
        }
        Ok(Self { plugins })
    }

    /// Returns the configuration of one plugin.
    #[must_use]
    pub fn of(&self, plugin: &str) -> Option<&Value> {
        let mut plugins = self.plugins.iter();
        plugins.find(|(name, _)| name == plugin).map(|(_, value)| value)
    }
}

/// Reads a YAML or JSON document.
///
/// # Errors
///
/// The file cannot be read, or is neither.
pub fn read_document(path: &Path) -> Result<Value> {
    let text = fs::read(path)?;
    let document = yaml::to_json(&text)?;
    Ok(serde_json::from_slice(&document.json)?)
}

/// Reads a plugin's configuration as a `T`, which refuses unknown fields; `T`'s default if there is none.
///
/// # Errors
///
/// If kind or version are not among `versions`, or the value is no `T`.
pub fn parse_configuration<T: DeserializeOwned + Default>(
    value: Option<&Value>,
    kind: &str,
    versions: &[&str],
) -> Result<T> {
    let Some(value) = value else {
        return Ok(T::default());
    };
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    if text("kind") != kind || !versions.contains(&text("apiVersion")) {
        bail!(
            "no kind {:?} is registered for version {:?}; expected {kind} of {}",
            text("kind"),
            text("apiVersion"),
            versions.join(" or ")
        );
    }
    let mut value = value.clone();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
    serde_json::from_value(value).context("strict decoding error")
}

/// Reads `null` as the default, as Go does; for `#[serde(deserialize_with)]`.
///
/// # Errors
///
/// The value is no `T`.
pub fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields, default)]
    struct Limits {
        limits: Vec<u32>,
    }

    #[test]
    fn plugins_have_their_part_inside_or_beside_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("admission.yaml");
        let text = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: A\n  path: \
                    a.yaml\n- name: B\n  configuration: {x: 1}\n- name: C\n";
        fs::write(&path, text).unwrap();
        fs::write(folder.path().join("a.yaml"), "limit: 2\n").unwrap();
        let configuration = Configuration::open(&path).unwrap();
        assert_eq!(configuration.of("A"), Some(&json!({"limit": 2})));
        assert_eq!(configuration.of("B"), Some(&json!({"x": 1})));
        assert_eq!(configuration.of("C"), None);
    }

    #[test]
    fn mistakes_in_files_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("admission.yaml");
        for (text, expected) in [
            ("apiVersion: v1\nkind: Pod\n", "expected an AdmissionConfiguration"),
            (
                "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugin: []\n",
                "unknown field `plugin`",
            ),
        ] {
            fs::write(&path, text).unwrap();
            let error = Configuration::open(&path).unwrap_err();
            assert!(format!("{error:#}").contains(expected), "{error:#}");
        }
    }

    #[test]
    fn a_configuration_names_its_kind_and_has_no_other_fields() {
        let parse = |value: Option<&Value>| parse_configuration::<Limits>(value, "Limits", &["x/v1"]);
        assert_eq!(parse(None).unwrap(), Limits::default());
        let value = json!({"apiVersion": "x/v1", "kind": "Limits", "limits": [1]});
        assert_eq!(parse(Some(&value)).unwrap().limits, [1]);
        assert!(parse(Some(&json!({"kind": "Limits"}))).is_err());
        assert!(parse(Some(&json!({"apiVersion": "x/v1", "kind": "Limits", "limit": 1}))).is_err());
    }
}
