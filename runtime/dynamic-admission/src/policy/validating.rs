//! The plugin that evaluates validating policies.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_access::audit::Level;
use planesmith_api_defs::admissionregistration::v1::{ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding};
use planesmith_control_plane::admission::Registration;
use planesmith_expressions::policy::{AnnotationResult, Decision, Outcome, Validated};
use planesmith_machinery::status::ApiResult;
use planesmith_server::metrics::{Enforcement, PolicyError};
use serde::Serialize;

use super::active_policies::{ActivePolicies, ActivePolicy, Binding};
use super::denial::Denial;
use super::is_exempt;
use super::params::Params;
use crate::documents::Documents;
use crate::evaluation::{self, Evaluation};
use crate::request::Request;
use crate::selectors::ObjectLabels;
use crate::sources::{Sources, store_of};
use crate::target::Target;

/// Evaluates validating policies.
pub(crate) const VALIDATING_POLICIES: Registration = Registration::on("ValidatingAdmissionPolicy", |initializer| {
    let policies = store_of::<ValidatingAdmissionPolicy>(initializer);
    let bindings = store_of::<ValidatingAdmissionPolicyBinding>(initializer);
    let (Some(policies), Some(bindings)) = (policies, bindings) else {
        return Ok(None);
    };
    Ok(Some(Arc::new(ValidatingPolicies {
        active_policies: ActivePolicies::new(policies, bindings, Arc::clone(&initializer.metrics)),
        params: Params::new(initializer.kinds, initializer.loopback),
        sources: Sources::new(initializer),
    })))
});

/// The key of the annotation about a violation that is audited.
const FAILURE: &str = "validation.policy.admission.k8s.io/validation_failure";

/// The maximum length of the value of an audit annotation, in bytes.
const MAX_ANNOTATION: usize = 10 << 10;

struct ValidatingPolicies {
    active_policies: ActivePolicies<ValidatingAdmissionPolicy>,
    params: Params,
    sources: Sources,
}

/// The validation of one request.
struct Validation<'r> {
    plugin: &'r ValidatingPolicies,
    request: Request<'r>,
    /// The documents of the objects, by target.
    versions: Vec<(Target, Documents)>,
    /// Created when the first policy applies.
    evaluation: Option<Evaluation>,
    denials: Vec<Denial>,
}

/// The value of the annotation about a violation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AuditedFailure<'a> {
    message: &'a str,
    policy: &'a str,
    binding: &'a str,
    expression_index: usize,
    validation_actions: &'a [String],
}

impl Plugin for ValidatingPolicies {
    fn name(&self) -> &'static str {
        VALIDATING_POLICIES.name
    }

    fn handles(&self, _: Operation, phase: Phase) -> bool {
        phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        let active_policies = self.active_policies.of(attributes.resource);
        if active_policies.is_empty() || is_exempt(attributes) {
            return decided(Ok(()));
        }
        let validation = Validation {
            plugin: self,
            request: Request::new(attributes, objects),
            versions: Vec::new(),
            evaluation: None,
            denials: Vec::new(),
        };
        Box::pin(async move { validation.run(&active_policies, objects).await })
    }
}

type ActiveValidatingPolicy = ActivePolicy<ValidatingAdmissionPolicy>;

impl Validation<'_> {
    async fn run(mut self, active_policies: &[Arc<ActiveValidatingPolicy>], objects: &Objects<'_>) -> ApiResult<()> {
        for active_policy in active_policies {
            self.policy(active_policy, objects).await?;
        }
        // The first one is reported; all have been evaluated for their warnings and annotations.
        match self.denials.into_iter().next() {
            Some(denial) => Err(denial.into_error(self.request.attributes, objects.new.as_deref())),
            None => Ok(()),
        }
    }

    async fn policy(&mut self, active_policy: &ActiveValidatingPolicy, objects: &Objects<'_>) -> ApiResult<()> {
        let sources = &self.plugin.sources;
        let labels = ObjectLabels::from_request(&self.request, objects);
        let around = (&*sources.equivalents, &*sources.objects);
        let target = match active_policy.matcher.selects(&self.request, labels, around) {
            Ok(Some(target)) => target,
            Ok(None) => return Ok(()),
            Err(error) => {
                self.misconfigured(active_policy, None, error.message());
                return Ok(());
            }
        };
        let kind = match self.plugin.params.kind(active_policy.param_kind.as_ref(), sources) {
            Ok(kind) => kind,
            Err(why) => {
                self.misconfigured(active_policy, None, &why);
                return Ok(());
            }
        };
        let mut annotations = Annotations::default();
        for binding in &active_policy.bindings {
            match binding.matcher.selects(&self.request, labels, around) {
                Ok(Some(_)) => {}
                Ok(None) => continue,
                Err(error) => {
                    self.misconfigured(active_policy, Some(binding), error.message());
                    continue;
                }
            }
            let namespace = self.request.attributes.namespace;
            let reference = binding.param_ref.as_ref();
            let params = &self.plugin.params;
            let params = params
                .collect(kind.as_ref(), reference, namespace, &*sources.objects)
                .await;
            let params = match params {
                Ok(params) => params,
                Err(why) => {
                    self.misconfigured(active_policy, Some(binding), &why);
                    continue;
                }
            };
            for param in &params {
                match self.evaluate(active_policy, &target, param, objects).await? {
                    Ok(validated) => self.apply(active_policy, binding, validated, &mut annotations),
                    Err(why) => {
                        self.misconfigured(active_policy, Some(binding), &why);
                        break;
                    }
                }
            }
        }
        annotations.publish(&active_policy.name, self.request.attributes);
        Ok(())
    }

    /// Evaluates a policy with one parameter object. The inner error is one of the conversion to the version of the policy.
    async fn evaluate(
        &mut self,
        active_policy: &ActiveValidatingPolicy,
        target: &Target,
        param: &super::params::Param,
        objects: &Objects<'_>,
    ) -> ApiResult<Result<Validated, String>> {
        let sources = &self.plugin.sources;
        let position = match self.versions.iter().position(|(known, _)| known == target) {
            Some(position) => position,
            None => match Documents::convert(&self.request, objects, target).await {
                Ok(documents) => {
                    self.versions.push((target.clone(), documents));
                    self.versions.len() - 1
                }
                Err(error) => return Ok(Err(format!("failed to convert object version: {}", error.message()))),
            },
        };
        let evaluation = match &mut self.evaluation {
            Some(evaluation) => evaluation,
            none => none.insert(Evaluation::new(&self.request).with_namespace(&self.request, sources)?),
        };
        let (_, documents) = &self.versions[position];
        let documents = evaluation::EvaluationInputs {
            new: &documents.new,
            old: &documents.old,
            params: param.as_ref().unwrap_or(&serde_json::Value::Null),
        };
        let program = active_policy.program();
        let validated = evaluation
            .run((&self.request, target), documents, sources, |inputs| {
                program.validate(inputs, active_policy.ignores_failures)
            })
            .await;
        Ok(Ok(validated))
    }

    fn misconfigured(&mut self, active_policy: &ActiveValidatingPolicy, binding: Option<&Binding>, why: &str) {
        if !active_policy.ignores_failures {
            let binding = binding.map(|binding| binding.name.as_str());
            self.denials
                .push(Denial::misconfigured(&active_policy.name, binding, why));
        }
    }

    /// Performs the actions of a binding for the results of its policy.
    fn apply(
        &mut self,
        active_policy: &ActiveValidatingPolicy,
        binding: &Binding,
        validated: Validated,
        annotations: &mut Annotations,
    ) {
        let metrics = &self.plugin.sources.metrics;
        if validated.condition_errors > 0 {
            let operation = self.request.attributes.operation;
            let errors = validated.condition_errors;
            metrics
                .webhooks()
                .policy_conditions_failed(&active_policy.name, operation, errors);
        }
        for (index, decision) in validated.decisions.into_iter().enumerate() {
            match decision.outcome {
                Outcome::Admitted => {}
                Outcome::Failed if active_policy.ignores_failures => {
                    let error = PolicyError::classify(&decision.message);
                    let enforcement = Enforcement::Allow;
                    let policies = metrics.policies();
                    policies.validated(&active_policy.name, &binding.name, error, enforcement, decision.elapsed);
                }
                Outcome::Denied | Outcome::Failed => self.violation(active_policy, binding, index, &decision),
            }
        }
        for annotation in validated.annotations {
            match annotation {
                AnnotationResult::Publish(key, value) => annotations.add(key, value),
                AnnotationResult::Failed(_) if active_policy.ignores_failures => {}
                AnnotationResult::Failed(message) => {
                    let (error, took) = (PolicyError::classify(&message), std::time::Duration::ZERO);
                    let policies = metrics.policies();
                    policies.validated(&active_policy.name, &binding.name, error, Enforcement::Deny, took);
                    self.denials.push(Denial {
                        policy: active_policy.name.clone(),
                        binding: Some(binding.name.clone()),
                        message,
                        reason: None,
                    });
                }
            }
        }
    }

    fn violation(
        &mut self,
        active_policy: &ActiveValidatingPolicy,
        binding: &Binding,
        index: usize,
        decision: &Decision,
    ) {
        let attributes = self.request.attributes;
        let error = PolicyError::classify(&decision.message);
        for action in &binding.actions {
            let enforcement = match action.as_str() {
                "Deny" => {
                    self.denials.push(Denial {
                        policy: active_policy.name.clone(),
                        binding: Some(binding.name.clone()),
                        message: decision.message.clone(),
                        reason: decision.reason.clone(),
                    });
                    Enforcement::Deny
                }
                "Audit" => {
                    let failure = || {
                        (
                            FAILURE.into(),
                            audited(active_policy, binding, index, &decision.message),
                        )
                    };
                    attributes.annotations.add_with(Level::Metadata, failure);
                    Enforcement::Audit
                }
                "Warn" => {
                    (attributes.warn)(format!(
                        "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {}",
                        active_policy.name, binding.name, decision.message
                    ));
                    Enforcement::Warn
                }
                _ => continue,
            };
            let policies = self.plugin.sources.metrics.policies();
            policies.validated(&active_policy.name, &binding.name, error, enforcement, decision.elapsed);
        }
    }
}

/// Returns the value of the annotation about a violation.
fn audited(active_policy: &ActiveValidatingPolicy, binding: &Binding, index: usize, message: &str) -> String {
    let failure = AuditedFailure {
        message,
        policy: &active_policy.name,
        binding: &binding.name,
        expression_index: index,
        validation_actions: &binding.actions,
    };
    let json = serde_json::to_string(&[failure]).unwrap_or_default();
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

/// The audit annotations of one policy, in the order of their first values.
#[derive(Debug, Default)]
struct Annotations(Vec<(String, Vec<String>)>);

impl Annotations {
    /// Adds a value; the same value again changes nothing.
    fn add(&mut self, key: String, mut value: String) {
        if value.len() > MAX_ANNOTATION {
            value.truncate(value.floor_char_boundary(MAX_ANNOTATION));
        }
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => self.0.push((key, vec![value])),
        }
    }

    fn publish(self, policy: &str, attributes: &Attributes<'_>) {
        for (key, values) in self.0 {
            attributes.annotations.add(format!("{policy}/{key}"), values.join(", "));
        }
    }
}
