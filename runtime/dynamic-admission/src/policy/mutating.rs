//! The plugin that evaluates mutating policies, one after the other.

use std::sync::Arc;
use std::time::Instant;

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::admissionregistration::v1::{MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding};
use planesmith_control_plane::admission::Registration;
use planesmith_expressions::policy::{Changes, Failure, Matching, Operation as PatchOperation, Suspended};
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_patch::apply::apply_configuration;
use planesmith_patch::patches::{Refusal, apply_operations};
use planesmith_server::metrics::PolicyError;
use serde_json::{Map, Value};

use super::active_policies::{ActivePolicies, ActivePolicy, Binding};
use super::denial::Denial;
use super::is_exempt;
use super::params::{Param, Params};
use crate::evaluation::{Evaluation, EvaluationInputs};
use crate::reinvocation::Rounds;
use crate::request::Request;
use crate::sources::{Sources, store_of};
use crate::target::Target;
use crate::working_object::WorkingObject;

/// Evaluates mutating policies.
pub(crate) const MUTATING_POLICIES: Registration = Registration::on("MutatingAdmissionPolicy", |initializer| {
    let policies = store_of::<MutatingAdmissionPolicy>(initializer);
    let bindings = store_of::<MutatingAdmissionPolicyBinding>(initializer);
    let (Some(policies), Some(bindings)) = (policies, bindings) else {
        return Ok(None);
    };
    Ok(Some(Arc::new(MutatingPolicies {
        active_policies: ActivePolicies::new(policies, bindings, Arc::clone(&initializer.metrics)),
        params: Params::new(initializer.kinds, initializer.loopback),
        sources: Sources::new(initializer),
    })))
});

struct MutatingPolicies {
    active_policies: ActivePolicies<MutatingAdmissionPolicy>,
    params: Params,
    sources: Sources,
}

type ActiveMutatingPolicy = ActivePolicy<MutatingAdmissionPolicy>;

/// The evaluations for one request so far, over both rounds.
#[derive(Debug, Default)]
struct PolicyRounds(Rounds);

/// One of the rounds in which the policies are evaluated for a request.
struct Round<'r> {
    plugin: &'r MutatingPolicies,
    request: Request<'r>,
    denials: Vec<Denial>,
}

/// A policy that applies to a request by a binding, with one parameter object.
struct Invocation<'p> {
    active_policy: &'p ActiveMutatingPolicy,
    binding: &'p Binding,
    target: Target,
    param: Param,
}

/// The reason why a mutation fails.
enum Fault {
    /// The failure policy decides.
    Mutation(String),
    /// The request fails.
    Server(ApiError),
}

impl Plugin for MutatingPolicies {
    fn name(&self) -> &'static str {
        MUTATING_POLICIES.name
    }

    fn handles(&self, _: Operation, phase: Phase) -> bool {
        phase == Phase::Mutating
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        let active_policies = self.active_policies.of(attributes.resource);
        if active_policies.is_empty() || is_exempt(attributes) {
            return decided(Ok(()));
        }
        let round = Round {
            plugin: self,
            request: Request::new(attributes, objects),
            denials: Vec::new(),
        };
        Box::pin(async move { round.run(&active_policies, objects).await })
    }
}

impl Round<'_> {
    async fn run(mut self, active_policies: &[Arc<ActiveMutatingPolicy>], objects: &mut Objects<'_>) -> ApiResult<()> {
        let attributes = self.request.attributes;
        let mut object = WorkingObject::new(objects, attributes, self.plugin.sources.scheme.environment());
        let mut invocations = Vec::new();
        for active_policy in active_policies {
            self.select(active_policy, &object, &mut invocations).await;
        }
        if !invocations.is_empty() {
            if attributes.is_second_round() {
                attributes.with_state(|PolicyRounds(rounds)| rounds.begin_second(object.original()));
            }
            let mut evaluation = Evaluation::new(&self.request).with_namespace(&self.request, &self.plugin.sources)?;
            for invocation in &invocations {
                self.invoke(invocation, &mut object, &mut evaluation).await?;
            }
            object.finish().await?;
            attributes.with_state(|PolicyRounds(rounds)| rounds.finish(object.original()));
        }
        match self.denials.is_empty() {
            true => Ok(()),
            false => Err(Denial::all(&self.denials, attributes, objects.new.as_deref())),
        }
    }

    /// Adds the invocations of a policy.
    async fn select<'p>(
        &mut self,
        active_policy: &'p ActiveMutatingPolicy,
        object: &WorkingObject<'_, '_>,
        invocations: &mut Vec<Invocation<'p>>,
    ) {
        let sources = &self.plugin.sources;
        let around = (&*sources.equivalents, &*sources.objects);
        let target = match active_policy
            .matcher
            .selects(&self.request, object.labels(&self.request), around)
        {
            Ok(Some(target)) => target,
            Ok(None) => return,
            Err(error) => return self.misconfigured(active_policy, None, error.message()),
        };
        let kind = match self.plugin.params.kind(active_policy.param_kind.as_ref(), sources) {
            Ok(kind) => kind,
            Err(why) => return self.misconfigured(active_policy, None, &why),
        };
        for binding in &active_policy.bindings {
            match binding
                .matcher
                .selects(&self.request, object.labels(&self.request), around)
            {
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
            match params
                .collect(kind.as_ref(), reference, namespace, &*sources.objects)
                .await
            {
                Ok(params) => invocations.extend(params.into_iter().map(|param| Invocation {
                    active_policy,
                    binding,
                    target: target.clone(),
                    param,
                })),
                Err(why) => self.misconfigured(active_policy, Some(binding), &why),
            }
        }
    }

    fn misconfigured(&mut self, active_policy: &ActiveMutatingPolicy, binding: Option<&Binding>, why: &str) {
        if !active_policy.ignores_failures {
            let binding = binding.map(|binding| binding.name.as_str());
            self.denials
                .push(Denial::misconfigured(&active_policy.name, binding, why));
        }
    }

    fn failed(&mut self, invocation: &Invocation<'_>, message: String) {
        let Invocation {
            active_policy, binding, ..
        } = invocation;
        if !active_policy.ignores_failures {
            self.denials.push(Denial {
                policy: active_policy.name.clone(),
                binding: Some(binding.name.clone()),
                message,
                reason: Some("Invalid".to_owned()),
            });
        }
    }

    async fn invoke(
        &mut self,
        invocation: &Invocation<'_>,
        object: &mut WorkingObject<'_, '_>,
        evaluation: &mut Evaluation,
    ) -> ApiResult<()> {
        let Invocation {
            active_policy, target, ..
        } = invocation;
        let attributes = self.request.attributes;
        let program = active_policy.program();
        let matching = {
            let documents = documents(&self.request, invocation, object).await?;
            let evaluate = |inputs: &planesmith_expressions::policy::Inputs<'_>| program.matches(inputs);
            evaluation
                .run((&self.request, target), documents, &self.plugin.sources, evaluate)
                .await
        };
        match matching {
            Matching::All => {}
            Matching::Except(_) => return Ok(()),
            Matching::Failed { message, errors } => {
                let metrics = self.plugin.sources.metrics.webhooks();
                metrics.policy_conditions_failed(&active_policy.name, attributes.operation, errors);
                self.failed(invocation, message);
                return Ok(());
            }
        }
        let key = invocation.key();
        let is_due =
            !attributes.is_second_round() || attributes.with_state(|PolicyRounds(rounds)| rounds.is_repeated(&key));
        if !is_due {
            return Ok(());
        }
        let mut was_applied = false;
        for index in 0..program.mutations() {
            let begin = Instant::now();
            let mutated = self.mutate(index, invocation, object, evaluation).await;
            self.measure(invocation, &mutated, begin);
            match mutated {
                Ok(applied) => was_applied |= applied,
                Err(Fault::Mutation(why)) => self.failed(invocation, why),
                Err(Fault::Server(error)) => return Err(error),
            }
        }
        attributes.with_state(|PolicyRounds(rounds)| {
            if active_policy.is_reinvoked {
                rounds.wait_for_changes(key);
            }
            if was_applied {
                rounds.repeat();
            }
        });
        if was_applied {
            attributes.reinvoke();
        }
        Ok(())
    }

    /// Applies one mutation; false if there is no object to change.
    async fn mutate(
        &self,
        index: usize,
        invocation: &Invocation<'_>,
        object: &mut WorkingObject<'_, '_>,
        evaluation: &mut Evaluation,
    ) -> Result<bool, Fault> {
        let Invocation {
            active_policy, target, ..
        } = invocation;
        let program = active_policy.program();
        let documents = documents(&self.request, invocation, object)
            .await
            .map_err(Fault::Server)?;
        if documents.new.is_null() {
            return Ok(false);
        }
        let evaluate = |inputs: &planesmith_expressions::policy::Inputs<'_>| match program.changes(index, inputs) {
            Err(Failure::Suspended) => Err(Suspended),
            Err(Failure::Failed(why)) => Ok(Err(why)),
            Ok(changes) => Ok(Ok(changes)),
        };
        let changes = evaluation
            .run((&self.request, target), documents, &self.plugin.sources, evaluate)
            .await
            .map_err(Fault::Mutation)?;
        let live = documents.new.clone();
        let document = match changes {
            Changes::Merge(configuration) => merged(object, target, &live, configuration)?,
            Changes::Patch(operations) => patched(object, target, &live, operations)?,
        };
        object.replace(target, document).map_err(Fault::Server)?;
        Ok(true)
    }

    fn measure(&self, invocation: &Invocation<'_>, mutated: &Result<bool, Fault>, begin: Instant) {
        let error = match mutated {
            Ok(false) => return,
            Ok(true) => PolicyError::None,
            Err(Fault::Mutation(why)) => PolicyError::classify(why),
            Err(Fault::Server(error)) => PolicyError::classify(error.message()),
        };
        let Invocation {
            active_policy, binding, ..
        } = invocation;
        let policies = self.plugin.sources.metrics.policies();
        policies.mutated(&active_policy.name, &binding.name, error, begin.elapsed());
    }
}

impl Invocation<'_> {
    /// Identifies the invocation in both rounds.
    fn key(&self) -> String {
        let text = |path: &str| {
            let value = self.param.as_ref().and_then(|param| param.pointer(path));
            value.and_then(Value::as_str).unwrap_or_default()
        };
        let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
        format!("{}/{}/{namespace}/{name}", self.active_policy.name, self.binding.name)
    }
}

/// Returns the documents of an invocation.
async fn documents<'d>(
    request: &Request<'_>,
    invocation: &'d Invocation<'_>,
    object: &'d mut WorkingObject<'_, '_>,
) -> ApiResult<EvaluationInputs<'d>> {
    let (new, old) = object.documents(request, &invocation.target).await?;
    let params = invocation.param.as_ref().unwrap_or(&Value::Null);
    Ok(EvaluationInputs { new, old, params })
}

/// Returns `live` with the fields of an apply configuration.
fn merged(
    object: &WorkingObject<'_, '_>,
    target: &Target,
    live: &Value,
    mut configuration: Value,
) -> Result<Value, Fault> {
    if let Some(members) = configuration.as_object_mut() {
        // The kind of an object cannot change.
        members.remove("apiVersion");
        members.remove("kind");
    }
    let Some(blank) = object.blank(target) else {
        return Err(Fault::Server(ApiError::service_unavailable(format!(
            "Resource kind {}/{}, Kind={} not found. There can be a delay between when CustomResourceDefinitions are \
             created and when they are available.",
            target.kind.group, target.kind.version, target.kind.kind
        ))));
    };
    let merged = apply_configuration(&*blank, live, &configuration);
    merged.map_err(|why| Fault::Mutation(format!("error applying patch: {why}")))
}

/// Returns `live` after the operations of a patch; unchanged if a test fails.
fn patched(
    object: &WorkingObject<'_, '_>,
    target: &Target,
    live: &Value,
    operations: Vec<PatchOperation>,
) -> Result<Value, Fault> {
    let operations = Value::Array(operations.into_iter().map(members).collect());
    let mut text = Vec::new();
    json::encode_value(live, &mut text);
    let patched = match apply_operations(&text, &operations) {
        Ok(patched) => patched,
        Err(Refusal::TestFailed(_)) => return Ok(live.clone()),
        Err(Refusal::Failed(why)) => return Err(Fault::Mutation(format!("JSON Patch: {why}"))),
    };
    let internal = |why: &dyn std::fmt::Display| Fault::Server(ApiError::internal(why));
    let document: Value = serde_json::from_slice(&patched).map_err(|error| internal(&error))?;
    // Objects of declared kinds are decoded strictly: a field that the kind does not have is an error of the policy.
    if let Some(mut blank) = object.blank(target)
        && blank.resource().custom.is_none()
    {
        let findings = json::from_value(&document, &mut *blank, Strictness::Strict);
        let findings = findings.map_err(|error| internal(&error))?;
        if !findings.is_empty() {
            let problems = findings.messages().join(", ");
            return Err(internal(&format!("strict decoding error: {problems}")));
        }
    }
    Ok(document)
}

/// Returns an operation as a member of a JSON patch.
fn members(operation: PatchOperation) -> Value {
    let mut members = Map::new();
    members.insert("op".to_owned(), Value::from(operation.op));
    members.insert("path".to_owned(), Value::from(operation.path));
    if !operation.from.is_empty() {
        members.insert("from".to_owned(), Value::from(operation.from));
    }
    if let Some(value) = operation.value {
        members.insert("value".to_owned(), value);
    }
    Value::Object(members)
}
