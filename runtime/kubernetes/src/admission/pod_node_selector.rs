//! Restricts pods to the nodes that their namespace names.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::{Namespace, Pod};
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::{go_format, names};

/// The annotation of a namespace with the node selector of its pods.
const ANNOTATION: &str = "scheduler.alpha.kubernetes.io/node-selector";
/// The key of the configuration for namespaces without an annotation.
const DEFAULT: &str = "clusterDefaultNodeSelector";

type Labels = BTreeMap<String, String>;

/// Adds the node selector of the namespace to pods.
pub(super) struct PodNodeSelector {
    objects: Arc<dyn Lister>,
    /// The labels that pods may select by, by namespace; and the default.
    configured: BTreeMap<String, String>,
}

impl PodNodeSelector {
    /// The plugin with its part of the configuration file.
    pub(super) fn new(objects: Arc<dyn Lister>, configuration: Option<&serde_json::Value>) -> Result<Self> {
        let own = configuration.and_then(|value| value.get("podNodeSelectorPluginConfig"));
        let configured = match own {
            Some(value) => serde_json::from_value(value.clone()).context("podNodeSelectorPluginConfig")?,
            None => BTreeMap::new(),
        };
        Ok(Self { objects, configured })
    }

    fn selector_of(&self, name: &str) -> ApiResult<Labels> {
        let Some(namespace) = self.objects.find::<Namespace>("", name)? else {
            return Err(ApiError::not_found(&GroupResource::new("", "namespaces"), name));
        };
        let annotations = &namespace.metadata.annotations;
        let text = annotations.get(ANNOTATION).or_else(|| self.configured.get(DEFAULT));
        parse(text.map_or("", String::as_str))
    }

    fn complete(&self, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> ApiResult<()> {
        if !attributes.subresource.is_empty() || objects.new_as::<Pod>().is_none() {
            return Ok(());
        }
        let wanted = self.selector_of(attributes.namespace)?;
        self.check_conflict(attributes, objects, &wanted)?;
        if let Some(pod) = objects.new_as_mut::<Pod>() {
            pod.spec.node_selector.extend(wanted);
        }
        self.check(attributes, objects)
    }

    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let Some(pod) = objects.new_as::<Pod>().filter(|_| attributes.subresource.is_empty()) else {
            return Ok(());
        };
        self.check_conflict(attributes, objects, &self.selector_of(attributes.namespace)?)?;
        let allowed = self.configured.get(attributes.namespace);
        let allowed = parse(allowed.map_or("", String::as_str))?;
        let selector = &pod.spec.node_selector;
        if !allowed.is_empty() && !selector.iter().all(|(key, value)| allowed.get(key) == Some(value)) {
            let why = "pod node label selector labels conflict with its namespace whitelist";
            return Err(attributes.forbidden(objects.new.as_deref(), why));
        }
        Ok(())
    }

    fn check_conflict(&self, attributes: &Attributes<'_>, objects: &Objects<'_>, wanted: &Labels) -> ApiResult<()> {
        let own = objects.new_as::<Pod>().map(|pod| &pod.spec.node_selector);
        let conflicts =
            |(key, value): (&String, &String)| own.and_then(|own| own.get(key)).is_some_and(|own| own != value);
        if wanted.iter().any(conflicts) {
            let why = "pod node label selector conflicts with its namespace node label selector";
            return Err(attributes.forbidden(objects.new.as_deref(), why));
        }
        Ok(())
    }
}

/// Parses labels that are written as `a=1,b=2`. Keys and values must be valid ones of labels.
fn parse(text: &str) -> ApiResult<Labels> {
    let terms = text.split(',').filter(|_| !text.is_empty());
    let labels = terms.map(|term| {
        let parts: Vec<&str> = term.split('=').collect();
        let [key, value] = parts.as_slice() else {
            let message = format!("invalid selector: {}", go_format::slice(&parts));
            return Err(ApiError::unnamed(500, message));
        };
        let (key, value) = (key.trim(), value.trim());
        check("<nil>", key, &names::qualified_name(key))?;
        check(&format!("[{key}]"), value, &names::label_value(value))?;
        Ok((key.to_owned(), value.to_owned()))
    });
    labels.collect()
}

/// Refuses `text` at `path` for its `problems`.
fn check(path: &str, text: &str, problems: &[String]) -> ApiResult<()> {
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{path}: Invalid value: {}: {}",
        go_format::quote(text),
        problems.join("; ")
    );
    Err(ApiError::unnamed(500, message))
}

impl Plugin for PodNodeSelector {
    fn name(&self) -> &'static str {
        "PodNodeSelector"
    }

    fn handles(&self, operation: Operation, _: Phase) -> bool {
        operation == Operation::Create
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.complete(attributes, objects))
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check(attributes, objects))
    }
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "values that are written in place are passed on as they are"
)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::testing::{Few, Request, object};

    fn created(annotation: &str, selector: serde_json::Value) -> Result<Labels, String> {
        let annotations = json!({ANNOTATION: annotation});
        let few = Few::default().with::<Namespace>(json!({"metadata": {"name": "ns", "annotations": annotations}}));
        let configuration = json!({"podNodeSelectorPluginConfig": {"ns": "disk=fast,env=test"}});
        let plugin = PodNodeSelector::new(few.lister(), Some(&configuration)).unwrap();
        let pod: Pod = object(json!({"metadata": {"name": "p"}, "spec": {"nodeSelector": selector}}));
        Ok(Request::create::<Pod>().created(&plugin, pod)?.spec.node_selector)
    }

    #[test]
    fn pods_get_the_selector_of_their_namespace() {
        let selector = created("env=test", json!({"disk": "fast"})).unwrap();
        assert_eq!(selector.len(), 2);
        assert_eq!(selector["env"], "test");
        let refused = created("env=test", json!({"env": "other"})).unwrap_err();
        assert!(
            refused.ends_with("conflicts with its namespace node label selector"),
            "{refused}"
        );
        let refused = created("", json!({"zone": "a"})).unwrap_err();
        assert!(
            refused.ends_with("labels conflict with its namespace whitelist"),
            "{refused}"
        );
    }

    #[test]
    fn selectors_of_namespaces_consist_of_valid_labels() {
        let written = created(" env = test ,disk=", json!({})).unwrap_err();
        assert!(
            written.ends_with("labels conflict with its namespace whitelist"),
            "{written}"
        );
        for (annotation, expected) in [
            ("a=b=c", "invalid selector: [a b c]"),
            ("env==test", "invalid selector: [env  test]"),
            ("env=test,", "invalid selector: []"),
            ("env", "invalid selector: [env]"),
            ("-x=1", "<nil>: Invalid value: \"-x\": name part must consist of"),
            ("env=a b", "[env]: Invalid value: \"a b\": a valid label must be"),
        ] {
            let refused = created(annotation, json!({})).unwrap_err();
            assert!(refused.starts_with(expected), "{annotation}: {refused}");
        }
    }
}
