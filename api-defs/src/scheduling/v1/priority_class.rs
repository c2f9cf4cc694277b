//! Priorities of pods.

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;

/// Built-in system classes and their values.
const SYSTEM_CLASSES: [(&str, i32); 2] = [
    ("system-node-critical", 2_000_001_000),
    ("system-cluster-critical", 2_000_000_000),
];

/// Prefix of the names of system classes.
const SYSTEM_PREFIX: &str = "system-";

/// Maximum value of a class that is not a system class.
const HIGHEST_USER_VALUE: i32 = 1_000_000_000;

/// Legal preemption policies.
const PREEMPTION_POLICIES: [&str; 2] = ["PreemptLowerPriority", "Never"];

/// Priority of the pods that name the class. Pods with a higher value are scheduled first and may preempt others.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "scheduling.k8s.io",
    version = "v1",
    short("pc"),
    cluster,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Value", type = "integer", doc = "Priority of the pods of the class.", with = value_cell),
    column(name = "Global-Default", type = "boolean", doc = "True if the class is the default.", with = default_cell),
    column(age),
    column(name = "PreemptionPolicy", type = "string", doc = "Preemption policy.", path = "preemptionPolicy")
)]
pub struct PriorityClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Priority of the pods of the class; higher values are more important. Immutable.
    #[field(proto = 2, keep, optional)]
    pub value: i32,
    /// True if pods that name no class belong to this one. At most one class should have the value true.
    #[field(proto = 3)]
    pub global_default: bool,
    /// Human-readable description of the intended use of the class.
    #[field(proto = 4)]
    pub description: String,
    /// Preemption by pods of the class: PreemptLowerPriority (the default) or Never. Immutable.
    #[field(proto = 5, known("Never", "PreemptLowerPriority"), go_type = "v1.PreemptionPolicy")]
    pub preemption_policy: Option<String>,
}

fn value_cell(class: &PriorityClass) -> Cell {
    Cell::Integer(i64::from(class.value))
}

fn default_cell(class: &PriorityClass) -> Cell {
    Cell::Bool(class.global_default)
}

impl Strategy for PriorityClass {
    fn set_defaults(&mut self) {
        self.preemption_policy
            .get_or_insert_with(|| PREEMPTION_POLICIES[0].to_owned());
    }

    fn prepare_for_create(&mut self, _: &Context<'_>) {
        // Constant, because the fields that would change it are immutable.
        self.metadata.generation = 1;
    }

    fn validate(&self, errors: &mut FieldErrors) {
        if self.metadata.name.starts_with(SYSTEM_PREFIX) {
            if let Some(problem) = self.system_problem() {
                let detail = format!(
                    "priority class names with '{SYSTEM_PREFIX}' prefix are reserved for system use only. error: \
                     {problem}"
                );
                errors.forbidden("metadata.name", detail);
            }
        } else if self.value > HIGHEST_USER_VALUE {
            let detail = format!("maximum allowed value of a user defined priority is {HIGHEST_USER_VALUE}");
            errors.forbidden("value", detail);
        }
        match self.preemption_policy.as_deref() {
            Some("") => errors.required("preemptionPolicy", ""),
            Some(policy) if !PREEMPTION_POLICIES.contains(&policy) => {
                errors.not_supported_in_order("preemptionPolicy", policy, &PREEMPTION_POLICIES);
            }
            _ => {}
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.value != old.value {
            errors.forbidden("value", "may not be changed in an update.");
        }
        if self.preemption_policy != old.preemption_policy {
            let policy = self.preemption_policy.as_deref().unwrap_or_default();
            errors.invalid("preemptionPolicy", policy, "field is immutable");
        }
    }
}

impl StrategyExtensions for PriorityClass {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;

    fn deletion_problem(&self) -> Option<&'static str> {
        let is_system = SYSTEM_CLASSES.iter().any(|(name, _)| *name == self.metadata.name);
        is_system.then_some("this is a system priority class and cannot be deleted")
    }
}

impl PriorityClass {
    /// Returns the deviation from the built-in definition of a system class; `None` when there is none.
    fn system_problem(&self) -> Option<String> {
        let name = &self.metadata.name;
        let Some((_, value)) = SYSTEM_CLASSES.iter().find(|(class, _)| class == name) else {
            return Some(format!("{name} is not a known system priority class"));
        };
        if self.value != *value {
            return Some(format!("value of {name} PriorityClass must be {value}"));
        }
        self.global_default
            .then(|| format!("globalDefault of {name} PriorityClass must be false"))
    }
}
