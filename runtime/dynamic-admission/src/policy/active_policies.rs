//! Policies with their bindings, as requests meet them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use planesmith_api_defs::admissionregistration::v1::MatchCondition;
use planesmith_api_defs::admissionregistration::v1::{
    MatchResources, MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, ParamKind, ParamRef,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, Variable,
};
use planesmith_expressions::policy::{MutatingPolicy, Mutation, PolicySource, ValidatingPolicy, Validation};
use planesmith_machinery::object::{Object as _, Resource};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_server::metrics::SharedMetrics;
use planesmith_server::stores::{Derived, ResourceStore};

use super::matching::Matcher;

/// A kind of policies.
pub(super) trait Policy: Resource {
    /// The kind of their bindings.
    type Binding: PolicyBinding;
    /// The compiled form of their expressions.
    type Program: fmt::Debug + Send + Sync + 'static;

    /// The kind of the parameters.
    fn param_kind(&self) -> Option<&ParamKind>;

    /// The requests that the policy selects.
    fn match_constraints(&self) -> Option<&MatchResources>;

    /// The failure policy.
    fn failure_policy(&self) -> Option<&str>;

    /// True if the policy is evaluated again after others changed the object.
    fn is_reinvoked(&self) -> bool;

    /// Compiles the expressions.
    fn compile(&self) -> Self::Program;
}

/// A kind of bindings.
pub(super) trait PolicyBinding: Resource {
    /// The name of the policy.
    fn policy_name(&self) -> &str;

    /// The parameters.
    fn param_ref(&self) -> Option<&ParamRef>;

    /// The requests that the binding selects.
    fn match_resources(&self) -> Option<&MatchResources>;

    /// The actions on a violation.
    fn actions(&self) -> &[String];
}

/// A policy that is in effect.
#[derive(Debug)]
pub(super) struct ActivePolicy<P: Policy> {
    pub(super) name: String,
    pub(super) matcher: Matcher,
    /// True if a request goes on though the policy could not be evaluated.
    pub(super) ignores_failures: bool,
    pub(super) is_reinvoked: bool,
    pub(super) param_kind: Option<ParamKind>,
    program: Arc<LazyProgram<P>>,
    /// By name.
    pub(super) bindings: Vec<Binding>,
}

/// A binding of a policy.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) name: String,
    pub(super) matcher: Matcher,
    pub(super) param_ref: Option<ParamRef>,
    pub(super) actions: Vec<String>,
}

/// The program of one generation of a policy, compiled when a request first needs it.
#[derive(Debug)]
struct LazyProgram<P: Policy> {
    uid: String,
    generation: i64,
    policy: P,
    program: OnceLock<P::Program>,
}

/// All policies of a kind that are in effect: those with a binding.
#[derive(Debug)]
pub(super) struct ActivePolicies<P: Policy> {
    derived: Derived<PolicyIndex<P>>,
    metrics: SharedMetrics,
}

/// The policies in effect, by the resources that they can select.
#[derive(Debug)]
pub(super) struct PolicyIndex<P: Policy> {
    /// By name.
    active_policies: Vec<Arc<ActivePolicy<P>>>,
    /// The indexes of policies that can only select certain resources, by plural name.
    by_resource: HashMap<String, Vec<usize>>,
    /// The indexes of policies that can select any resource.
    of_any: Vec<usize>,
}

impl<P: Policy> ActivePolicy<P> {
    /// Returns the compiled expressions.
    pub(super) fn program(&self) -> &P::Program {
        self.program.program.get_or_init(|| self.program.policy.compile())
    }
}

impl<P: Policy> ActivePolicies<P> {
    /// Returns the policies in the first store with the bindings in the second one.
    pub(super) fn new(policies: ResourceStore, bindings: ResourceStore, metrics: SharedMetrics) -> Self {
        Self {
            derived: Derived::new(vec![Arc::new(policies), Arc::new(bindings)]),
            metrics,
        }
    }

    /// Returns the policies that may select a request for objects of `kind`, in the order of their names.
    pub(super) fn of(&self, kind: &ResourceFacts) -> Vec<Arc<ActivePolicy<P>>> {
        let read = |stores: &[Arc<ResourceStore>], previous: Option<&PolicyIndex<P>>| {
            let current = PolicyIndex::read(stores, previous);
            if let Some(previous) = previous {
                previous.forget_others(&current, &self.metrics);
            }
            current
        };
        self.derived.get(read).of(kind)
    }
}

impl<P: Policy> PolicyIndex<P> {
    fn read(stores: &[Arc<ResourceStore>], previous: Option<&Self>) -> Self {
        let [policies, bindings] = stores else {
            return Self::of_policies(Vec::new());
        };
        let mut bound: BTreeMap<String, Vec<Binding>> = BTreeMap::new();
        for binding in bindings.all::<P::Binding>() {
            bound
                .entry(binding.policy_name().to_owned())
                .or_default()
                .push(Binding {
                    name: binding.meta().name.clone(),
                    matcher: Matcher::new(binding.match_resources()),
                    param_ref: binding.param_ref().cloned(),
                    actions: binding.actions().to_vec(),
                });
        }
        let mut active_policies = Vec::new();
        for policy in policies.all::<P>() {
            let Some(mut bindings) = bound.remove(&policy.meta().name) else {
                continue;
            };
            bindings.sort_by(|left, right| left.name.cmp(&right.name));
            active_policies.push(Arc::new(ActivePolicy {
                name: policy.meta().name.clone(),
                matcher: Matcher::new(policy.match_constraints()),
                ignores_failures: policy.failure_policy() == Some("Ignore"),
                is_reinvoked: policy.is_reinvoked(),
                param_kind: policy.param_kind().cloned(),
                program: program(policy, previous),
                bindings,
            }));
        }
        active_policies.sort_by(|left, right| left.name.cmp(&right.name));
        Self::of_policies(active_policies)
    }

    /// Ends the series of bindings that are not in `current`.
    fn forget_others(&self, current: &Self, metrics: &SharedMetrics) {
        let remaining: HashSet<(&str, &str)> = current.bindings().collect();
        for (policy, binding) in self.bindings() {
            if !remaining.contains(&(policy, binding)) {
                metrics.policies().forget(policy, binding);
            }
        }
    }

    /// Returns the names of policies and bindings.
    fn bindings(&self) -> impl Iterator<Item = (&str, &str)> {
        let active_policies = self.active_policies.iter();
        active_policies.flat_map(|active_policy| {
            active_policy
                .bindings
                .iter()
                .map(|binding| (active_policy.name.as_str(), binding.name.as_str()))
        })
    }

    fn of_policies(active_policies: Vec<Arc<ActivePolicy<P>>>) -> Self {
        let mut by_resource: HashMap<String, Vec<usize>> = HashMap::new();
        let mut of_any = Vec::new();
        for (index, active_policy) in active_policies.iter().enumerate() {
            let mut resources = HashSet::new();
            match active_policy.matcher.name_resources(&mut resources) {
                false => of_any.push(index),
                true => {
                    for resource in resources {
                        by_resource.entry(resource).or_default().push(index);
                    }
                }
            }
        }
        Self {
            active_policies,
            by_resource,
            of_any,
        }
    }

    fn of(&self, kind: &ResourceFacts) -> Vec<Arc<ActivePolicy<P>>> {
        // Versions of a kind may have other plural names, which rules about equivalent versions use.
        let names = [&kind.plural, &kind.hub().plural];
        let own = names.iter().filter_map(|name| self.by_resource.get(&***name));
        let mut indexes: Vec<usize> = own.flatten().chain(&self.of_any).copied().collect();
        indexes.sort_unstable();
        indexes.dedup();
        indexes
            .into_iter()
            .map(|index| Arc::clone(&self.active_policies[index]))
            .collect()
    }
}

/// Returns the program of a policy: the one that exists if the policy is the same.
fn program<P: Policy>(policy: P, previous: Option<&PolicyIndex<P>>) -> Arc<LazyProgram<P>> {
    let (uid, generation) = (policy.meta().uid.clone(), policy.meta().generation);
    let active_policies = previous.into_iter().flat_map(|previous| &previous.active_policies);
    let mut programs = active_policies.map(|active_policy| &active_policy.program);
    let same = programs.find(|program| program.uid == uid && program.generation == generation);
    same.map_or_else(
        || {
            let program = OnceLock::new();
            Arc::new(LazyProgram {
                uid,
                generation,
                policy,
                program,
            })
        },
        Arc::clone,
    )
}

/// Returns the parts that both kinds of policies have in common.
fn source<'s>(
    param_kind: Option<&ParamKind>,
    variables: &'s [Variable],
    conditions: &'s [MatchCondition],
) -> PolicySource<'s> {
    let variable = |variable: &'s Variable| (variable.name.as_str(), variable.expression.as_str());
    let condition = |condition: &'s MatchCondition| (condition.name.as_str(), condition.expression.as_str());
    PolicySource {
        has_params: param_kind.is_some(),
        variables: variables.iter().map(variable).collect(),
        conditions: conditions.iter().map(condition).collect(),
    }
}

impl Policy for ValidatingAdmissionPolicy {
    type Binding = ValidatingAdmissionPolicyBinding;
    type Program = ValidatingPolicy;

    fn param_kind(&self) -> Option<&ParamKind> {
        self.spec.param_kind.as_ref()
    }

    fn match_constraints(&self) -> Option<&MatchResources> {
        self.spec.match_constraints.as_ref()
    }

    fn failure_policy(&self) -> Option<&str> {
        self.spec.failure_policy.as_deref()
    }

    fn is_reinvoked(&self) -> bool {
        false
    }

    fn compile(&self) -> ValidatingPolicy {
        let spec = &self.spec;
        let validations = spec.validations.iter().map(|validation| Validation {
            expression: &validation.expression,
            message: &validation.message,
            message_expression: &validation.message_expression,
            reason: validation.reason.as_deref(),
        });
        let validations: Vec<Validation<'_>> = validations.collect();
        let annotations = spec.audit_annotations.iter();
        let annotations = annotations.map(|annotation| (annotation.key.as_str(), annotation.value_expression.as_str()));
        let annotations: Vec<(&str, &str)> = annotations.collect();
        let source = source(spec.param_kind.as_ref(), &spec.variables, &spec.match_conditions);
        ValidatingPolicy::new(&source, &validations, &annotations)
    }
}

impl PolicyBinding for ValidatingAdmissionPolicyBinding {
    fn policy_name(&self) -> &str {
        &self.spec.policy_name
    }

    fn param_ref(&self) -> Option<&ParamRef> {
        self.spec.param_ref.as_ref()
    }

    fn match_resources(&self) -> Option<&MatchResources> {
        self.spec.match_resources.as_ref()
    }

    fn actions(&self) -> &[String] {
        &self.spec.validation_actions
    }
}

impl Policy for MutatingAdmissionPolicy {
    type Binding = MutatingAdmissionPolicyBinding;
    type Program = MutatingPolicy;

    fn param_kind(&self) -> Option<&ParamKind> {
        self.spec.param_kind.as_ref()
    }

    fn match_constraints(&self) -> Option<&MatchResources> {
        self.spec.match_constraints.as_ref()
    }

    fn failure_policy(&self) -> Option<&str> {
        self.spec.failure_policy.as_deref()
    }

    fn is_reinvoked(&self) -> bool {
        self.spec.reinvocation_policy == "IfNeeded"
    }

    fn compile(&self) -> MutatingPolicy {
        let spec = &self.spec;
        let mutations = spec.mutations.iter().filter_map(|mutation| {
            let configuration = mutation.apply_configuration.as_ref();
            let patch = mutation.json_patch.as_ref();
            match mutation.patch_type.as_str() {
                "ApplyConfiguration" => Some(Mutation::ApplyConfiguration(&configuration?.expression)),
                "JSONPatch" => Some(Mutation::JsonPatch(&patch?.expression)),
                _ => None,
            }
        });
        let mutations: Vec<Mutation<'_>> = mutations.collect();
        let source = source(spec.param_kind.as_ref(), &spec.variables, &spec.match_conditions);
        MutatingPolicy::new(&source, &mutations)
    }
}

impl PolicyBinding for MutatingAdmissionPolicyBinding {
    fn policy_name(&self) -> &str {
        &self.spec.policy_name
    }

    fn param_ref(&self) -> Option<&ParamRef> {
        self.spec.param_ref.as_ref()
    }

    fn match_resources(&self) -> Option<&MatchResources> {
        self.spec.match_resources.as_ref()
    }

    fn actions(&self) -> &[String] {
        &[]
    }
}
