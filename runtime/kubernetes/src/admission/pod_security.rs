//! Enforces the pod security levels that the labels of a namespace set.

mod check;
mod configuration;
mod policy;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;
use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_access::audit;
use planesmith_api_defs::core::v1::{EphemeralContainer, Namespace, Pod, PodTemplateSpec};
use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::{self, View};
use planesmith_server::metrics::{CheckedRequest, PodSecurityMetrics, SecurityEvaluation};

use check::{Checked, Violation, details, reasons, violations};
use configuration::Exemptions;
use policy::{Level, LevelVersion, PREFIX, Policy};

/// The most existing pods that a tightened namespace is checked against.
const PODS_CHECKED: usize = 3000;

/// Kinds that create pods, and the paths of their templates.
const TEMPLATES: [(&str, &str, &str); 8] = [
    ("", "podtemplates", "template"),
    ("", "replicationcontrollers", "spec.template"),
    ("apps", "daemonsets", "spec.template"),
    ("apps", "deployments", "spec.template"),
    ("apps", "replicasets", "spec.template"),
    ("apps", "statefulsets", "spec.template"),
    ("batch", "cronjobs", "spec.jobTemplate.spec.template"),
    ("batch", "jobs", "spec.template"),
];

/// Subresources of pods that cannot change their compliance.
const HARMLESS: [&str; 8] = [
    "attach",
    "binding",
    "eviction",
    "exec",
    "log",
    "portforward",
    "proxy",
    "status",
];

/// Refuses pods, and warns about them, by the policy of their namespace.
pub(super) struct PodSecurity {
    objects: Arc<dyn Lister>,
    /// The policy of namespaces without labels of their own.
    defaults: Policy,
    exempt: Exemptions,
    metrics: Arc<PodSecurityMetrics>,
}

impl PodSecurity {
    /// The plugin with its part of the configuration file.
    pub(super) fn new(objects: Arc<dyn Lister>, configuration: Option<&serde_json::Value>) -> Result<Self> {
        let (defaults, exempt) = configuration::read(configuration)?;
        Ok(Self {
            objects,
            defaults,
            exempt,
            metrics: Arc::default(),
        })
    }

    /// The plugin, whose decisions `metrics` count.
    pub(super) fn counted_by(self, metrics: Arc<PodSecurityMetrics>) -> Self {
        Self { metrics, ..self }
    }

    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        if attributes.is_for("", "namespaces") {
            return self.check_namespace(attributes, objects);
        }
        if attributes.is_for("", "pods") {
            return self.check_pod(attributes, objects);
        }
        let mut templates = TEMPLATES.iter();
        if let Some((_, _, path)) = templates.find(|(group, resource, _)| attributes.is_for(group, resource)) {
            self.warn_about_template(attributes, objects, path);
        }
        Ok(())
    }

    fn check_namespace(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let Some(namespace) = objects
            .new_as::<Namespace>()
            .filter(|_| attributes.subresource.is_empty())
        else {
            return Ok(());
        };
        let (policy, errors) = self.defaults.of_labels(&namespace.metadata.labels);
        let refuse = || {
            let kind = GroupKind::new("", "Namespace");
            Err(ApiError::invalid(&kind, attributes.name, &errors))
        };
        let Some(old) = objects.old_as::<Namespace>() else {
            if !errors.is_empty() {
                return refuse();
            }
            self.warn_of_exemption(attributes, namespace, &policy);
            return Ok(());
        };
        let (old_policy, old_errors) = self.defaults.of_labels(&old.metadata.labels);
        if !errors.is_empty() && errors.as_slice() != old_errors.as_slice() {
            return refuse();
        }
        let (new, old) = (policy.enforce, old_policy.enforce);
        let is_relaxed = new.version == old.version && new.level <= old.level;
        if new == old || new.level == Level::Privileged || is_relaxed {
            return Ok(());
        }
        if self.exempt.has_namespace(attributes.namespace) {
            self.warn_of_exemption(attributes, namespace, &policy);
            return Ok(());
        }
        self.warn_of_existing(attributes, &namespace.metadata.name, new);
        Ok(())
    }

    fn check_pod(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        if HARMLESS.contains(&attributes.subresource) || self.is_exempt(attributes) {
            return Ok(());
        }
        let found = self.policy_of(attributes.namespace);
        if !matches!(found, Ok(Some(_))) {
            self.metrics.failed(checked_request(attributes), true);
        }
        let Some((policy, has_errors)) = found? else {
            let why = format!("failed to lookup namespace {:?}", attributes.namespace);
            return Err(ApiError::internal(why));
        };
        let Some(pod) = objects.new_as::<Pod>() else {
            return Ok(());
        };
        if policy.is_privileged() {
            annotate(attributes, "enforce-policy", policy.enforce.to_string());
            match attributes.subresource {
                "" => self.metrics.unrestricted(attributes.operation == Operation::Update),
                _ => self.count(attributes, "enforce", policy.enforce, false),
            }
            return Ok(());
        }
        if objects.old_as::<Pod>().is_some_and(|old| !changes_security(pod, old)) {
            return Ok(());
        }
        let pod = Checked {
            metadata: &pod.metadata,
            spec: &pod.spec,
        };
        if self.is_runtime_exempt(attributes, pod) {
            return Ok(());
        }
        self.count_invalid_labels(attributes, has_errors);
        annotate(attributes, "enforce-policy", policy.enforce.to_string());
        let found = violations(pod, policy.enforce);
        self.count(attributes, "enforce", policy.enforce, !found.is_empty());
        self.audit(attributes, pod, &policy);
        if found.is_empty() {
            self.warn(attributes, pod, &policy);
            return Ok(());
        }
        let why = format!("violates PodSecurity \"{}\": {}", policy.enforce, details(&found));
        Err(attributes.forbidden(objects.new.as_deref(), why))
    }

    /// Warns about a template. Templates are never refused: only the pods created from them are.
    fn warn_about_template(&self, attributes: &Attributes<'_>, objects: &Objects<'_>, path: &str) {
        if !attributes.subresource.is_empty() || self.is_exempt(attributes) {
            return;
        }
        let Ok(Some((policy, has_errors))) = self.policy_of(attributes.namespace) else {
            self.metrics.failed(checked_request(attributes), true);
            return;
        };
        let is_silent = [policy.warn, policy.audit]
            .iter()
            .all(|mode| mode.level == Level::Privileged);
        let template = objects.new.as_deref().and_then(|object| template_at(object, path));
        let Some(template) = template.filter(|_| !is_silent) else {
            return;
        };
        let pod = Checked {
            metadata: &template.metadata,
            spec: &template.spec,
        };
        if !self.is_runtime_exempt(attributes, pod) {
            self.count_invalid_labels(attributes, has_errors);
            self.audit(attributes, pod, &policy);
            self.warn(attributes, pod, &policy);
        }
    }

    fn audit(&self, attributes: &Attributes<'_>, pod: Checked<'_>, policy: &Policy) {
        let found = violations(pod, policy.audit);
        if !found.is_empty() {
            self.count(attributes, "audit", policy.audit, true);
        }
        if !found.is_empty() && attributes.annotations.level() != audit::Level::None {
            annotate(attributes, "audit-violations", would_violate(policy.audit, &found));
        }
    }

    fn warn(&self, attributes: &Attributes<'_>, pod: Checked<'_>, policy: &Policy) {
        let found = violations(pod, policy.warn);
        if !found.is_empty() {
            self.count(attributes, "warn", policy.warn, true);
            (attributes.warn)(would_violate(policy.warn, &found));
        }
    }

    /// Returns the policy of a namespace, and true if its labels have errors.
    fn policy_of(&self, namespace: &str) -> ApiResult<Option<(Policy, bool)>> {
        let found = self.objects.find::<Namespace>("", namespace)?;
        let policy = found.map(|namespace| self.defaults.of_labels(&namespace.metadata.labels));
        Ok(policy.map(|(policy, errors)| (policy, !errors.is_empty())))
    }

    fn count(&self, attributes: &Attributes<'_>, mode: &'static str, policy: LevelVersion, is_denied: bool) {
        let evaluation = SecurityEvaluation {
            mode,
            level: &policy.level.to_string(),
            version: &policy.counted_version(),
            is_denied,
        };
        self.metrics.evaluated(checked_request(attributes), evaluation);
    }

    fn count_invalid_labels(&self, attributes: &Attributes<'_>, has_errors: bool) {
        if has_errors {
            self.metrics.failed(checked_request(attributes), false);
        }
    }

    fn is_exempt(&self, attributes: &Attributes<'_>) -> bool {
        let why = if self.exempt.has_namespace(attributes.namespace) {
            "namespace"
        } else if self.exempt.has_user(&attributes.user.name) {
            "user"
        } else {
            return false;
        };
        annotate(attributes, "exempt", why.to_owned());
        self.metrics.exempted(checked_request(attributes));
        true
    }

    fn is_runtime_exempt(&self, attributes: &Attributes<'_>, pod: Checked<'_>) -> bool {
        let is_exempt = self.exempt.has_runtime_class(pod.spec.runtime_class_name.as_deref());
        if is_exempt {
            annotate(attributes, "exempt", "runtimeClass".to_owned());
            self.metrics.exempted(checked_request(attributes));
        }
        is_exempt
    }

    /// Warns that the labels of a namespace have no effect.
    fn warn_of_exemption(&self, attributes: &Attributes<'_>, namespace: &Namespace, policy: &Policy) {
        let is_default = policy.is_privileged() || policy.is_as(&self.defaults);
        if is_default || !self.exempt.has_namespace(attributes.namespace) {
            return;
        }
        let labels = &namespace.metadata.labels;
        let is_set = |mode: &str| {
            labels.contains_key(&format!("{PREFIX}{mode}")) || labels.contains_key(&format!("{PREFIX}{mode}-version"))
        };
        let modes = policy.modes().into_iter();
        let shown: Vec<String> = modes
            .filter(|(name, mode)| mode.level != Level::Privileged && is_set(name))
            .map(|(name, mode)| format!("{name}={mode}"))
            .collect();
        (attributes.warn)(format!(
            "namespace {:?} is exempt from Pod Security, and the policy ({}) will be ignored",
            namespace.metadata.name,
            shown.join(", ")
        ));
    }

    /// Warns of pods that would be refused now.
    fn warn_of_existing(&self, attributes: &Attributes<'_>, namespace: &str, enforce: LevelVersion) {
        let Ok(pods) = self.objects.all::<Pod>(namespace) else {
            (attributes.warn)("failed to list pods while checking new PodSecurity enforce level".to_owned());
            return;
        };
        let pods = self.in_order_of_weight(&pods);
        // The name of the first pod, and the number of pods, by their violations.
        let mut found: BTreeMap<String, (&str, usize)> = BTreeMap::new();
        for pod in pods.iter().take(PODS_CHECKED) {
            let checked = Checked {
                metadata: &pod.metadata,
                spec: &pod.spec,
            };
            let violations = violations(checked, enforce);
            if violations.is_empty() {
                continue;
            }
            let name = pod.metadata.name.as_str();
            let (first, count) = found.entry(reasons(&violations)).or_insert((name, 0));
            *first = name.min(first);
            *count += 1;
        }
        if pods.len() > PODS_CHECKED {
            (attributes.warn)(format!(
                "new PodSecurity enforce level only checked against the first {PODS_CHECKED} of {} existing pods",
                pods.len()
            ));
        }
        if !found.is_empty() {
            (attributes.warn)(format!(
                "existing pods in namespace {namespace:?} violate the new PodSecurity enforce level \"{enforce}\""
            ));
        }
        let mut warnings: Vec<String> = found
            .iter()
            .map(|(reasons, (name, count))| match count {
                1 => format!("{name}: {reasons}"),
                2 => format!("{name} (and 1 other pod): {reasons}"),
                _ => format!("{name} (and {} other pods): {reasons}", count - 1),
            })
            .collect();
        warnings.sort_unstable();
        warnings.into_iter().for_each(|warning| (attributes.warn)(warning));
    }

    /// Returns the pods that are not exempt: the first of each controller, then the others, which are like it.
    fn in_order_of_weight<'p>(&self, pods: &'p [Arc<Pod>]) -> Vec<&'p Pod> {
        let mut controllers = BTreeSet::new();
        let counted = pods
            .iter()
            .map(|pod| &**pod)
            .filter(|pod| !self.exempt.has_runtime_class(pod.spec.runtime_class_name.as_deref()));
        let (mut first, further): (Vec<&Pod>, Vec<&Pod>) = counted.partition(|pod| {
            let mut owners = pod.metadata.owner_references.iter();
            let controller = owners.find(|owner| owner.controller == Some(true));
            controller.is_none_or(|owner| controllers.insert(owner.uid.as_str()))
        });
        first.extend(further);
        first
    }
}

/// The request, for metrics.
fn checked_request<'a>(attributes: &Attributes<'a>) -> CheckedRequest<'a> {
    CheckedRequest {
        is_update: attributes.operation == Operation::Update,
        resource: match attributes.is_for("", "pods") {
            true => "pod",
            false => "controller",
        },
        subresource: attributes.subresource,
    }
}

fn annotate(attributes: &Attributes<'_>, key: &str, value: String) {
    let annotation = || (format!("{PREFIX}{key}").into(), value);
    attributes.annotations.add_with(audit::Level::Metadata, annotation);
}

fn would_violate(level: LevelVersion, found: &[Violation]) -> String {
    format!("would violate PodSecurity \"{level}\": {}", details(found))
}

/// Returns the template at a path of an object that creates pods.
fn template_at<'o>(object: &'o dyn Object, path: &str) -> Option<&'o PodTemplateSpec> {
    match value::get_at(object, path)?.view() {
        View::Struct(template) => (template as &dyn Any).downcast_ref(),
        _ => None,
    }
}

/// True if an update of a pod can change its compliance: all other fields that matter are immutable.
fn changes_security(pod: &Pod, old: &Pod) -> bool {
    let (new, old) = (&pod.spec, &old.spec);
    let same = |new: &[planesmith_api_defs::core::v1::Container], old: &[planesmith_api_defs::core::v1::Container]| {
        new.len() == old.len() && new.iter().zip(old).all(|(new, old)| new.image == old.image)
    };
    let is_known = |container: &EphemeralContainer| {
        let new = &container.ephemeral_container_common;
        let mut old = old
            .ephemeral_containers
            .iter()
            .map(|old| &old.ephemeral_container_common);
        old.find(|old| old.name == new.name)
            .is_some_and(|old| old.image == new.image)
    };
    !same(&new.containers, &old.containers)
        || !same(&new.init_containers, &old.init_containers)
        || !new.ephemeral_containers.iter().all(is_known)
}

impl Plugin for PodSecurity {
    fn name(&self) -> &'static str {
        "PodSecurity"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update) && phase == Phase::Validating
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
mod tests;
