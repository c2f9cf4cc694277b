//! The controller that reports type errors in the expressions of validating policies.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::Method;
use planesmith_api_defs::admissionregistration::v1::{Rule, ValidatingAdmissionPolicy};
use planesmith_control_plane::component::ServerContext;
use planesmith_control_plane::controllers::Controller;
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_control_plane::options::ControllerName;
use planesmith_control_plane::reconciler::Reconcile;
use planesmith_control_plane::resource_client::{ResourceClient, text};
use planesmith_dynamic::structural::Structural;
use planesmith_expressions::policy::{ObjectType, TypeCheck};
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::scheme::Scheme;

use serde_json::{Value, json};

/// The name of the controller.
pub(crate) const CONTROLLER: ControllerName = ControllerName::new("validatingadmissionpolicy-status-controller");

/// The field manager of the status.
const MANAGER: &str = "validatingadmissionpolicy-status";

/// The maximum number of kinds that a policy is checked with.
const MAX_KINDS: usize = 10;

/// Returns the controller.
pub(crate) fn type_checking<'a>(context: &ServerContext<'a>) -> Controller<'a> {
    let ServerContext { stores, leader, .. } = *context;
    Controller::reconciling("start-validatingadmissionpolicy-status-controller", move |_| {
        let (group, plural) = (crate::GROUP, "validatingadmissionpolicies");
        let policies = ResourceClient::of(stores, leader, group, "v1", plural)?;
        Some(TypeChecking {
            policies: policies.managed_by(MANAGER),
            scheme: Arc::clone(stores.scheme()),
            loopback: leader.clone(),
        })
    })
}

/// Checks policies whose specification has changed, and writes the result into their status.
struct TypeChecking {
    policies: ResourceClient,
    scheme: Arc<Scheme>,
    loopback: Loopback,
}

/// A kind in a version, with the type of its objects.
struct CheckedKind {
    name: String,
    ty: ObjectType,
}

impl Reconcile for TypeChecking {
    const NAME: &'static str = "type check of a policy";

    fn watched(&self) -> Vec<&ResourceClient> {
        vec![&self.policies]
    }

    async fn reconcile(&self, key: &str) -> Result<(), LoopbackError> {
        let Some(policy) = self.policies.get_typed::<ValidatingAdmissionPolicy>("", key) else {
            return Ok(());
        };
        let generation = policy.metadata.generation;
        if generation <= policy.status.observed_generation {
            return Ok(());
        }
        let warnings = self.warnings(&policy).await;
        let type_checking = match warnings.is_empty() {
            true => json!({}),
            false => json!({"expressionWarnings": warnings}),
        };
        let status = json!({
            "apiVersion": ValidatingAdmissionPolicy::RESOURCE.api_version,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": policy.metadata.name},
            "status": {"observedGeneration": generation, "typeChecking": type_checking},
        });
        self.policies.apply(&status, "/status").await
    }
}

impl TypeChecking {
    /// Returns the type errors of a policy.
    async fn warnings(&self, policy: &ValidatingAdmissionPolicy) -> Vec<Value> {
        let spec = &policy.spec;
        let mut kinds = Vec::new();
        let rules = spec
            .match_constraints
            .iter()
            .flat_map(|resources| &resources.resource_rules);
        for resource in resources(rules.map(|rule| &rule.rule_with_operations.rule)) {
            kinds.extend(self.kind_of_resource(&resource).await);
        }
        kinds.sort_by(|left: &CheckedKind, right| left.name.cmp(&right.name));
        let params = match &spec.param_kind {
            Some(kind) => self.kind(&kind.api_version, &kind.kind).await,
            None => None,
        };
        let variables = spec.variables.iter();
        let variables = variables.map(|variable| (variable.name.as_str(), variable.expression.as_str()));
        let variables: Vec<(&str, &str)> = variables.collect();
        let check = |kind: &CheckedKind| {
            let params = params.as_ref().map(|params| &params.ty);
            (kind.name.clone(), TypeCheck::new(&kind.ty, params, &variables))
        };
        let checks: Vec<(String, TypeCheck)> = kinds.iter().map(check).collect();
        let mut warnings = Vec::new();
        for (index, validation) in spec.validations.iter().enumerate() {
            let expressions = [
                ("expression", &validation.expression),
                ("messageExpression", &validation.message_expression),
            ];
            for (field, expression) in expressions.into_iter().filter(|(_, expression)| !expression.is_empty()) {
                let problems = checks.iter().filter_map(|(kind, check)| {
                    let problem = check.check(expression).err()?;
                    Some(format!("{kind}: {problem}\n"))
                });
                let problems: Vec<String> = problems.collect();
                if !problems.is_empty() {
                    warnings.push(json!({
                        "fieldRef": format!("spec.validations[{index}].{field}"),
                        "warning": problems.join("\n"),
                    }));
                }
            }
        }
        warnings
    }

    /// Returns the kind of the objects of a resource, `[group, version, plural]`.
    async fn kind_of_resource(&self, [group, version, plural]: &[String; 3]) -> Option<CheckedKind> {
        if let Some(facts) = self.scheme.resource(group, version, plural) {
            let ty = ObjectType::of_facts(&facts.kind, facts.zero().facts());
            return Some(CheckedKind::new(group, version, &facts.kind, ty));
        }
        self.custom_kind(group, version, plural).await
    }

    async fn custom_kind(&self, group: &str, version: &str, plural: &str) -> Option<CheckedKind> {
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.{group}");
        let definition = self.loopback.send(Method::GET, &path, None).await.ok()?;
        let kind = text(&definition, "/spec/names/kind");
        let versions = definition.pointer("/spec/versions")?.as_array()?;
        let declared = versions.iter().find(|declared| text(declared, "/name") == version)?;
        let schema = Structural::compile(declared.pointer("/schema/openAPIV3Schema")?);
        let ty = ObjectType::of_schema(kind, &schema)?;
        Some(CheckedKind::new(group, version, kind, ty))
    }

    /// Returns a kind by its name.
    async fn kind(&self, api_version: &str, kind: &str) -> Option<CheckedKind> {
        let GroupVersion { group, version } = GroupVersion::parse(api_version).ok()?;
        if let Some(facts) = self.scheme.kind(&group, &version, kind) {
            let ty = ObjectType::of_facts(&facts.kind, facts.zero().facts());
            return Some(CheckedKind::new(&group, &version, kind, ty));
        }
        let path = format!("/apis/{group}/{version}");
        let served = self.loopback.send(Method::GET, &path, None).await.ok()?;
        let mut resources = served.get("resources")?.as_array()?.iter();
        let is_it = |resource: &&Value| text(resource, "/kind") == kind && !text(resource, "/name").contains('/');
        let resource = resources.find(is_it)?;
        self.custom_kind(&group, &version, text(resource, "/name")).await
    }
}

impl CheckedKind {
    fn new(group: &str, version: &str, kind: &str, ty: ObjectType) -> Self {
        Self {
            name: format!("{group}/{version}, Kind={kind}"),
            ty,
        }
    }
}

/// Returns the resources that rules name, as `[group, version, plural]`; none for a rule with a wildcard.
fn resources<'r>(rules: impl Iterator<Item = &'r Rule>) -> BTreeSet<[String; 3]> {
    let mut found = BTreeSet::new();
    for rule in rules {
        let has_wildcard = |names: &[String]| names.iter().any(|name| name.contains('*'));
        if has_wildcard(&rule.api_groups) || has_wildcard(&rule.api_versions) {
            continue;
        }
        let plain = rule.resources.iter().filter(|name| !name.contains(['*', '/']));
        for plural in plain {
            for group in &rule.api_groups {
                for version in &rule.api_versions {
                    if found.len() < MAX_KINDS {
                        found.insert([group.clone(), version.clone(), plural.clone()]);
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_and_subresources_are_not_checked() {
        let rule = |groups: &[&str], resources: &[&str]| Rule {
            api_groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            api_versions: vec!["v1".to_owned()],
            resources: resources.iter().map(|resource| (*resource).to_owned()).collect(),
            scope: None,
        };
        let rules = [
            rule(&["apps"], &["deployments", "deployments/scale", "*"]),
            rule(&["*"], &["pods"]),
            rule(&["", "apps"], &["pods"]),
        ];
        let found: Vec<String> = resources(rules.iter()).iter().map(|parts| parts.join("/")).collect();
        assert_eq!(found, ["/v1/pods", "apps/v1/deployments", "apps/v1/pods"]);
    }
}
