//! The rules of a schema (`x-kubernetes-validations`), and validation of objects by them.

mod correlation;
mod evaluate;

use std::collections::BTreeMap;

use planesmith_dynamic::structural::{Additional, Limits, SchemaType, Structural};
use planesmith_machinery::field_error::FieldErrors;
use serde_json::Value as Json;

use crate::declared::Declared;
use crate::field_path::{Notation, follow};
use crate::program::{Environment, Program};
use crate::types::Type;

/// The cost limit of all rules evaluated for one object, about a second.
pub const OBJECT_BUDGET: u64 = 10_000_000;

/// The object sizes for which rule costs are estimated, in bytes.
const SIZES: [u64; 2] = [4 << 10, 64 << 10];

/// The assumed size of a value that occurs many times in an object, in bytes.
const SMALL_VALUE: u64 = 32;

/// The root type name in messages.
const SELF_TYPE: &str = "selfType";

/// A rule as written in the schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// The expression that must be true.
    pub rule: String,
    /// The error message for a violation; empty for the default.
    pub message: String,
    /// The expression of the error message; takes precedence over `message`.
    pub message_expression: String,
    /// The reason of the error; `None` for the default.
    pub reason: Option<String>,
    /// The field that the error names, relative to the schema of the rule.
    pub field_path: String,
    /// If true, the rule is also evaluated for new values, and `oldSelf` is an optional.
    pub optional_old_self: Option<bool>,
}

impl Rule {
    /// Parses the rules in the JSON form of a schema's `x-kubernetes-validations`.
    #[must_use]
    pub fn all(rules: &Json) -> Vec<Rule> {
        let text = |rule: &Json, name: &str| rule.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let rule = |rule: &Json| Rule {
            rule: text(rule, "rule"),
            message: text(rule, "message"),
            message_expression: text(rule, "messageExpression"),
            reason: rule.get("reason").and_then(Json::as_str).map(str::to_owned),
            field_path: text(rule, "fieldPath"),
            optional_old_self: rule.get("optionalOldSelf").and_then(Json::as_bool),
        };
        rules.as_array().into_iter().flatten().map(rule).collect()
    }

    /// Returns the rule as rendered in messages about compile errors.
    #[must_use]
    pub fn rendered(&self) -> String {
        let json = |text: &str| {
            let json = Json::from(text).to_string();
            json.replace('<', "\\u003c")
                .replace('>', "\\u003e")
                .replace('&', "\\u0026")
        };
        let optional = |value: Option<String>| value.unwrap_or_else(|| "null".to_owned());
        format!(
            "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\"OptionalOldSelf\":{}}}",
            json(&self.rule),
            json(&self.message),
            json(&self.message_expression),
            optional(self.reason.as_deref().map(json)),
            json(&self.field_path),
            optional(self.optional_old_self.map(|value| value.to_string())),
        )
    }

    /// Returns the name of the rule in messages.
    fn named(&self) -> &str {
        if self.message.is_empty() {
            self.rule.trim()
        } else {
            self.message.trim()
        }
    }
}

/// A rule with its compiled programs or their compile errors.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) rule: Rule,
    /// The compiled expression; `None` for an empty rule.
    pub(crate) program: Option<Result<Program, String>>,
    pub(crate) message: Option<Result<Program, String>>,
    pub(crate) uses_old_self: bool,
    /// The field that errors name, relative to the schema of the rule.
    field: String,
}

/// Compiles the rules of one schema; `None` if expressions cannot access its values.
pub(crate) fn compile(schema: &Structural, rules: Vec<Rule>, is_root: bool) -> Option<(Declared, Vec<Compiled>)> {
    let declared = Declared::from_schema(schema, is_root, SELF_TYPE)?;
    let base = Environment::new()
        .with("self", declared.ty.clone())
        .bounded_by(&declared);
    let plain = base.clone().with("oldSelf", declared.ty.clone());
    let optional = base.with("oldSelf", Type::optional(declared.ty.clone()));
    let compiled = rules.into_iter().map(|rule| {
        let environment = if rule.optional_old_self == Some(true) {
            &optional
        } else {
            &plain
        };
        one(schema, rule, environment)
    });
    let compiled = compiled.collect();
    Some((declared, compiled))
}

fn one(schema: &Structural, rule: Rule, environment: &Environment) -> Compiled {
    let mut compiled = Compiled {
        program: None,
        message: None,
        uses_old_self: false,
        field: String::new(),
        rule,
    };
    let rule = &compiled.rule;
    if rule.rule.trim().is_empty() {
        return compiled;
    }
    let program = match environment.compile(&rule.rule) {
        Err(problems) => Err(format!("compilation failed: {problems}")),
        Ok(program) if *program.result_type() != Type::Bool => Err("cel expression must evaluate to a bool".to_owned()),
        Ok(program) => program.instantiated(),
    };
    let Ok(sound) = &program else {
        compiled.program = Some(program);
        return compiled;
    };
    compiled.uses_old_self = sound.uses("oldSelf");
    if !rule.message_expression.is_empty() {
        compiled.message = Some(match environment.compile(&rule.message_expression) {
            Err(problems) => Err(format!("messageExpression compilation failed: {problems}")),
            Ok(message) if *message.result_type() != Type::String => {
                Err("messageExpression must evaluate to a string".to_owned())
            }
            Ok(message) => match message.problem() {
                Some(problem) => Err(format!("messageExpression instantiation failed: {problem}")),
                None => Ok(message),
            },
        });
    }
    if let Ok(path) = field_of_errors(&rule.field_path, schema) {
        compiled.field = path;
    }
    compiled.program = Some(program);
    compiled
}

/// Converts a path below a value to the notation of errors: dots before fields, brackets around map keys.
fn field_of_errors(path: &str, schema: &Structural) -> Result<String, String> {
    let mut shown = String::new();
    let mut here = Some(schema);
    let (names, ()) = follow(path, Notation::DotsAndBrackets, (), |(), _| Ok(()))?;
    for name in names {
        let Some(schema) = here.filter(|schema| schema.field(&name).is_some()) else {
            return Err("does not refer to a valid field".to_owned());
        };
        match (schema.properties.contains(&name), shown.is_empty()) {
            (true, true) => shown.push_str(&name),
            (true, false) => shown.extend([".", &name]),
            (false, _) => shown.extend(["[", &name, "]"]),
        }
        here = schema.field(&name);
    }
    Ok(shown)
}

/// All rules of a schema, compiled.
#[derive(Debug, Default)]
pub struct Rules {
    root: Option<Node>,
    /// The maximum cost for an object of each of [`SIZES`].
    costs: [u64; SIZES.len()],
}

/// The rules of one schema and its descendants.
#[derive(Debug)]
struct Node {
    rules: Vec<Compiled>,
    is_root: bool,
    properties: BTreeMap<Box<str>, Node>,
    additional: Option<Box<Node>>,
    items: Option<Box<Node>>,
}

impl Rules {
    /// Compiles the rules of an API object's schema.
    #[must_use]
    pub fn compile(schema: &Structural) -> Self {
        Self::of_part(schema, true)
    }

    /// Compiles the rules of one part of a schema, to validate such values on their own. `is_root` marks values with metadata
    /// of their own.
    #[must_use]
    pub fn of_part(schema: &Structural, is_root: bool) -> Self {
        let mut costs = [0; SIZES.len()];
        let root = node(schema, is_root, 1, &mut costs);
        Self { root, costs }
    }

    /// Returns the maximum cost of the rules for an object of `bytes` bytes, in the unit of [`OBJECT_BUDGET`].
    #[must_use]
    pub fn max_cost(&self, bytes: usize) -> u64 {
        if self.root.is_none() {
            return 0;
        }
        let fits = |(size, _): &(&u64, &u64)| bytes as u64 <= **size;
        let known = SIZES.iter().zip(&self.costs).find(fits);
        known.map_or(OBJECT_BUDGET, |(_, cost)| (*cost).min(OBJECT_BUDGET))
    }

    /// True if there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Reports the rules that `document` violates. Violations of unchanged parts are tolerated, unless a rule compares the part
    /// with `old`.
    pub fn check(&self, schema: &Structural, document: &Json, old: Option<&Json>, errors: &mut FieldErrors) {
        if let Some(root) = &self.root {
            evaluate::check(root, schema, document, old, errors);
        }
    }

    /// Reports the rules that a default violates, both as an existing value and as a new one.
    pub fn check_default(&self, schema: &Structural, default: &Json, errors: &mut FieldErrors) {
        let Some(root) = &self.root else { return };
        let before = errors.count();
        evaluate::check_strictly(root, schema, default, Some(default), errors);
        if errors.count() == before {
            evaluate::check_strictly(root, schema, default, None, errors);
        }
    }
}

/// Adds the cost of one schema's rules, which apply to at most `most` values of an object. These values share the object's
/// size: one large value accounts for all size-dependent cost.
fn add_costs(costs: &mut [u64; SIZES.len()], declared: &Declared, compiled: &[Compiled], most: u64) {
    let programs = compiled
        .iter()
        .flat_map(|compiled| [&compiled.program, &compiled.message]);
    let programs: Vec<&Program> = programs.flatten().flatten().collect();
    let cost = |longest: u64| {
        let costs = programs
            .iter()
            .map(|program| program.max_cost_within(declared, longest));
        costs.fold(0, u64::saturating_add)
    };
    let small = cost(SMALL_VALUE);
    for (total, size) in costs.iter_mut().zip(SIZES) {
        let values = most.min(size / (declared.min_size + 1));
        *total = total
            .saturating_add(cost(size))
            .saturating_add(small.saturating_mul(values.saturating_sub(1)));
    }
}

/// Compiles the rules of a schema and its descendants; `None` if there are none. An object contains at most `most` values of
/// the schema.
fn node(schema: &Structural, is_root: bool, most: u64, costs: &mut [u64; SIZES.len()]) -> Option<Node> {
    // A value with neither a type nor properties is inaccessible to rules.
    if schema.schema_type == SchemaType::Any && schema.preserve_unknown && schema.properties.is_empty() {
        return None;
    }
    let written = schema.rules.as_deref().map(Rule::all).unwrap_or_default();
    let rules = match written.is_empty() {
        true => Vec::new(),
        false => match compile(schema, written, is_root) {
            Some((declared, compiled)) => {
                add_costs(costs, &declared, &compiled, most);
                compiled
            }
            None => Vec::new(),
        },
    };
    let limits = schema.limits.as_deref();
    let inside = |bound: Option<u64>| most.saturating_mul(bound.unwrap_or(u64::MAX));
    let entries = inside(limits.and_then(|limits| Limits::elements(limits.max_properties)));
    let elements = inside(limits.and_then(|limits| Limits::elements(limits.max_items)));
    let mut inner = |schema: &Structural, most: u64| node(schema, schema.embedded, most, costs);
    let node = Node {
        rules,
        is_root,
        properties: {
            let properties = schema.properties.iter();
            properties
                .filter_map(|(name, schema)| Some((name.into(), inner(schema, most)?)))
                .collect()
        },
        additional: match &schema.additional {
            Additional::Typed(schema) => inner(schema, entries).map(Box::new),
            Additional::None | Additional::Any | Additional::Refused => None,
        },
        items: schema
            .items
            .as_deref()
            .and_then(|schema| inner(schema, elements))
            .map(Box::new),
    };
    let is_empty =
        node.rules.is_empty() && node.properties.is_empty() && node.additional.is_none() && node.items.is_none();
    (!is_empty).then_some(node)
}
