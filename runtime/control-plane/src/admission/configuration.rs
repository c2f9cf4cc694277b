//! The file of `--admission-control-config-file`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use planesmith_machinery::configuration_file::{self, or_default};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The configuration of plugins, by their names.
#[derive(Debug, Default)]
pub struct Configuration {
    plugins: Vec<(String, Value)>,
}

/// The file: one document for all plugins, which contains the configuration of each or names its file.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AdmissionConfiguration {
    #[serde(deserialize_with = "or_default")]
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

/// The kind of the file.
const KIND: &str = "AdmissionConfiguration";
/// Versions of the file that are accepted; they have the same fields.
const VERSIONS: [&str; 2] = ["apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1"];

impl Configuration {
    /// Reads the file, and the files that it names.
    ///
    /// # Errors
    ///
    /// The file that cannot be read, and the reason.
    pub fn open(path: &Path) -> Result<Self> {
        let read = || {
            let content = fs::read(path)?;
            anyhow::Ok(configuration_file::parse(&content, KIND, &VERSIONS)?)
        };
        let file: AdmissionConfiguration =
            read().with_context(|| format!("--admission-control-config-file {}", path.display()))?;
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

fn read_document(path: &Path) -> Result<Value> {
    Ok(configuration_file::document(&fs::read(path)?)?)
}

/// Returns the configuration of a plugin as a `T`; `T`'s default if there is none.
///
/// # Errors
///
/// As [`configuration_file::decode`].
pub fn parse_configuration<T: DeserializeOwned + Default>(
    value: Option<&Value>,
    kind: &str,
    versions: &[&str],
) -> Result<T> {
    match value {
        Some(value) => Ok(configuration_file::decode(value.clone(), kind, versions)?),
        None => Ok(T::default()),
    }
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
            ("apiVersion: v1\nkind: Pod\n", "expected AdmissionConfiguration"),
            (
                "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugin: []\n",
                "unknown field `plugin`",
            ),
            (
                "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: []\nplugins: []\n",
                "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"plugins\" already set in map",
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
