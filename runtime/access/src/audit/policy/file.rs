//! The document of a policy.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::{configuration_file, names};
use serde::Deserialize;
use serde_json::Value;

use super::rule::{GroupResources, Rule};
use super::{AuditDecision, Policy, PolicyError};
use crate::audit::{Level, Stage, Stages};

const KIND: &str = "Policy";
const API_VERSION: &str = "audit.k8s.io/v1";

/// The fields of a policy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct PolicyFile {
    #[serde(default, rename = "metadata")]
    _metadata: Value,
    #[serde(default)]
    rules: Option<Vec<RuleFile>>,
    #[serde(default)]
    omit_stages: Option<Vec<String>>,
    #[serde(default)]
    omit_managed_fields: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct RuleFile {
    level: String,
    users: Vec<String>,
    user_groups: Vec<String>,
    verbs: Vec<String>,
    resources: Vec<ResourcesFile>,
    namespaces: Vec<String>,
    #[serde(rename = "nonResourceURLs")]
    non_resource_urls: Vec<String>,
    omit_stages: Vec<String>,
    omit_managed_fields: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct ResourcesFile {
    group: String,
    resources: Vec<String>,
    resource_names: Vec<String>,
}

impl PolicyFile {
    /// Decodes the content of a file.
    ///
    /// # Errors
    ///
    /// Another kind or version, or fields that a policy does not have or has twice.
    pub(super) fn parse(content: &[u8]) -> Result<Self, PolicyError> {
        let parsed = configuration_file::parse(content, KIND, &[API_VERSION]);
        parsed.map_err(|error| PolicyError(error.to_string()))
    }

    /// Checks the rules.
    ///
    /// # Errors
    ///
    /// All problems, each with its field; or a policy without rules.
    pub(super) fn policy(self) -> Result<Policy, PolicyError> {
        let rules = self.rules.unwrap_or_default();
        if rules.is_empty() {
            return Err(PolicyError("it has no rules, so nothing would be recorded".to_owned()));
        }
        let mut errors = FieldErrors::default();
        let omitted = stages(&self.omit_stages.unwrap_or_default(), &mut errors.at("omitStages"));
        let mut checked = Vec::with_capacity(rules.len());
        for (index, rule) in rules.into_iter().enumerate() {
            let mut errors = errors.at_index("rules", index);
            checked.push(rule.check(omitted, self.omit_managed_fields, &mut errors));
        }
        match errors.joined() {
            None => Ok(Policy { rules: checked }),
            Some(problems) => Err(PolicyError(problems)),
        }
    }
}

impl RuleFile {
    /// Returns the rule with what the policy says for all; reports problems.
    fn check(self, omitted: Stages, omit_managed_fields: bool, errors: &mut FieldErrors) -> Rule {
        let level = Level::from_name(&self.level).unwrap_or_else(|| {
            match self.level.is_empty() {
                true => errors.required("level", ""),
                false => errors.not_supported("level", self.level.as_str(), &Level::ALL.map(Level::as_str)),
            }
            Level::None
        });
        for (index, path) in self.non_resource_urls.iter().enumerate() {
            check_path(path, &mut errors.at_index("nonResourceURLs", index));
        }
        for (index, resources) in self.resources.iter().enumerate() {
            resources.check(&mut errors.at_index("resources", index));
        }
        let own = stages(&self.omit_stages, &mut errors.at("omitStages"));
        if !self.non_resource_urls.is_empty() && (!self.resources.is_empty() || !self.namespaces.is_empty()) {
            let detail = "rules cannot apply to both regular resources and non-resource URLs";
            errors.invalid("nonResourceURLs", &self.non_resource_urls[..], detail);
        }
        let resources = self.resources.into_iter().map(|listed| GroupResources {
            group: listed.group,
            resources: listed.resources,
            names: listed.resource_names,
        });
        Rule {
            users: self.users,
            groups: self.user_groups,
            verbs: self.verbs,
            namespaces: self.namespaces,
            resources: resources.collect(),
            paths: self.non_resource_urls,
            decision: AuditDecision {
                level,
                omitted_stages: omitted.and(own),
                omit_managed_fields: self.omit_managed_fields.unwrap_or(omit_managed_fields),
            },
        }
    }
}

impl ResourcesFile {
    fn check(&self, errors: &mut FieldErrors) {
        if !self.group.is_empty() {
            for problem in names::dns_subdomain(&self.group) {
                errors.invalid("group", self.group.as_str(), problem);
            }
        }
        if !self.resource_names.is_empty() && self.resources.is_empty() {
            let detail = "using resourceNames requires at least one resource";
            errors.invalid("resourceNames", &self.resource_names[..], detail);
        }
    }
}

/// Checks a pattern of non-resource paths.
fn check_path(path: &str, errors: &mut FieldErrors) {
    if path == "*" {
        return;
    }
    if !path.starts_with('/') {
        errors.invalid("", path, "non-resource URL rules must begin with a '/' character");
    }
    let start = path.strip_suffix('*').unwrap_or(path);
    if start.contains('*') {
        let detail = "non-resource URL wildcards '*' must be the final character of the rule";
        errors.invalid("", path, detail);
    }
}

/// Returns the stages of these names; reports unknown ones.
fn stages(names: &[String], errors: &mut FieldErrors) -> Stages {
    let mut known = Vec::new();
    for (index, name) in names.iter().enumerate() {
        match Stage::from_name(name) {
            Some(stage) => known.push(stage),
            None => {
                let mut errors = errors.at_index("", index);
                errors.not_supported("", name.as_str(), &Stage::ALL.map(Stage::as_str));
            }
        }
    }
    known.into_iter().collect()
}
