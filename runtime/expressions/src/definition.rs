//! Validation of rule definitions: they must compile, and their estimated cost must be within the limits.

use std::rc::Rc;

use planesmith_dynamic::structural::{Additional, Structural};
use planesmith_machinery::field_error::{FieldErrors, Json as JsonText};
use planesmith_machinery::go_format::quote;
use serde_json::Value as Json;

use crate::declared::Declared;
use crate::rules::{Compiled, Rule, compile};

/// The estimated cost limit of one rule, multiplied by the number of values it applies to.
const RULE_LIMIT: u64 = 10_000_000;

/// The estimated cost limit of all rules of a schema together.
const SCHEMA_LIMIT: u64 = 100_000_000;

/// The number of costliest rules that are named when the schema exceeds its limit.
const MAX_NAMED: usize = 4;

/// The context in which a schema's rules are checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckContext<'k> {
    /// Paths of schemas with other errors. Rules at these paths and above are not checked.
    pub wrong: &'k [String],
    /// True if the schema was accepted before in the same form. Such a schema is exempt from the limit per rule, but not from
    /// the total.
    pub is_unchanged: bool,
}

/// Reports rules of `schema`, the JSON form of the structural schema of a custom kind, that do not compile or cost too
/// much.
pub fn check(schema: &Json, context: CheckContext<'_>, errors: &mut FieldErrors) {
    let mut checker = Checker {
        errors,
        context,
        total: 0,
        costly: Vec::new(),
    };
    let position = SchemaPosition {
        is_root: true,
        cardinality: Some(1),
        uncorrelatable: None,
        within: Within::NoRules,
    };
    checker.schema(schema, &Structural::compile(schema), "", &position);
    checker.finish();
}

/// The position of a schema within the root schema.
#[derive(Clone)]
struct SchemaPosition {
    is_root: bool,
    /// The maximum number of values that the schema applies to; `None` if unbounded.
    cardinality: Option<u64>,
    /// The outermost list whose elements have no counterpart in an older object.
    uncorrelatable: Option<Rc<str>>,
    within: Within,
}

/// The surroundings of a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// No enclosing schema has rules.
    NoRules,
    /// An enclosing schema has rules, and all schemas in between are accessible to expressions.
    Rules,
    /// An enclosing schema has rules, but a schema in between is inaccessible to expressions, and so is everything in it.
    Unseen,
}

struct Checker<'e> {
    errors: &'e mut FieldErrors,
    context: CheckContext<'e>,
    total: u64,
    costly: Vec<(String, u64)>,
}

impl Checker<'_> {
    /// `structural` is the compiled form of `schema`.
    fn schema(&mut self, schema: &Json, structural: &Structural, path: &str, position: &SchemaPosition) {
        let position = &SchemaPosition {
            within: within(schema, structural, position),
            ..position.clone()
        };
        let inner = SchemaPosition {
            is_root: false,
            cardinality: match (position.cardinality, max_elements(schema)) {
                (Some(outer), Some(own)) => Some(outer.saturating_mul(own)),
                _ => None,
            },
            ..position.clone()
        };
        if let Some(additional) = schema.get("additionalProperties").filter(|schema| schema.is_object())
            && let Additional::Typed(structural) = &structural.additional
        {
            self.schema(additional, structural, &below(path, "additionalProperties"), &inner);
        }
        for (name, property) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
            if let Some(structural) = structural.properties.get(name.as_str()) {
                self.schema(
                    property,
                    structural,
                    &below(path, &format!("properties[{name}]")),
                    &inner,
                );
            }
        }
        if let Some(items) = schema.get("items").filter(|items| items.is_object())
            && let Some(structural) = structural.items.as_deref()
        {
            let is_map = schema.get("x-kubernetes-list-type").and_then(Json::as_str) == Some("map");
            let mut inner = inner;
            if !is_map && inner.uncorrelatable.is_none() {
                inner.uncorrelatable = Some(below(self.errors.prefix(), path).into());
            }
            self.schema(items, structural, &below(path, "items"), &inner);
        }
        self.rules(schema, structural, path, position);
    }

    fn rules(&mut self, schema: &Json, structural: &Structural, path: &str, position: &SchemaPosition) {
        let rules = schema
            .get("x-kubernetes-validations")
            .map(Rule::all)
            .unwrap_or_default();
        if rules.is_empty() || self.is_wrong(path) {
            return;
        }
        let path = below(path, "x-kubernetes-validations");
        let compiled = match position.within {
            Within::Unseen => None,
            Within::NoRules | Within::Rules => compile(structural, rules, position.is_root || structural.embedded),
        };
        let Some((declared, compiled)) = compiled else {
            let detail = "internal error: failed to construct type information for x-kubernetes-validations rules: \
                          unable to convert structural schema to CEL declarations";
            self.errors.internal(&path, detail);
            return;
        };
        let cardinality = position.cardinality.unwrap_or_else(|| declared.max_cardinality());
        for (index, compiled) in compiled.iter().enumerate() {
            self.compiled(compiled, &format!("{path}[{index}]"), cardinality, position);
        }
    }

    /// True if the schema at `path`, or a part of it, has another error.
    fn is_wrong(&self, path: &str) -> bool {
        let position = below(self.errors.prefix(), path);
        let mut wrong = self
            .context
            .wrong
            .iter()
            .filter_map(|wrong| wrong.strip_prefix(&position));
        wrong.any(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    /// Checks a compiled rule: its errors, its cost and its use of `oldSelf`.
    fn compiled(&mut self, compiled: &Compiled, path: &str, cardinality: u64, position: &SchemaPosition) {
        let rule = &compiled.rule;
        let (rule_path, message_path) = (format!("{path}.rule"), format!("{path}.messageExpression"));
        let program = compiled.program.as_ref();
        let cost = program
            .and_then(|program| program.as_ref().ok())
            .map_or(0, |program| program.max_cost());
        self.cost(&rule_path, cost.saturating_mul(cardinality), "estimated rule cost");
        if let Some(Err(problem)) = program {
            self.invalid(&rule_path, &rule.rendered(), problem);
        }
        match &compiled.message {
            Some(Err(problem)) => self.invalid(&message_path, &rule.rendered(), problem),
            Some(Ok(message)) => self.cost(&message_path, message.max_cost(), "estimated messageExpression cost"),
            None => {}
        }
        if compiled.uses_old_self {
            if let Some(list) = &position.uncorrelatable {
                let detail =
                    format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {list}");
                self.invalid(&rule_path, &quote(&rule.rule), &detail);
            }
        } else if let Some(optional) = rule.optional_old_self {
            let detail = "may not be set if oldSelf is not used in rule";
            self.invalid(&format!("{path}.optionalOldSelf"), &optional.to_string(), detail);
        }
    }

    fn invalid(&mut self, path: &str, value: &str, detail: &str) {
        self.errors.invalid(path, JsonText(value), detail);
    }

    fn cost(&mut self, path: &str, cost: u64, name: &str) {
        if cost > RULE_LIMIT && !self.context.is_unchanged {
            let detail = too_expensive(name, cost, RULE_LIMIT);
            self.errors.forbidden(path, detail);
        }
        self.total = self.total.saturating_add(cost);
        if cost >= SCHEMA_LIMIT / 100 {
            self.costly.push((path.to_owned(), cost));
            self.costly.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
            self.costly.truncate(MAX_NAMED);
        }
    }

    fn finish(self) {
        if self.total <= SCHEMA_LIMIT {
            return;
        }
        for (path, _) in &self.costly {
            let detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            self.errors.forbidden(path, detail);
        }
        let name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        self.errors.forbidden("", too_expensive(name, self.total, SCHEMA_LIMIT));
    }
}

/// Returns the surroundings for the parts of a schema at `position`.
fn within(schema: &Json, structural: &Structural, position: &SchemaPosition) -> Within {
    let has_rules = schema.get("x-kubernetes-validations").is_some();
    match position.within {
        Within::NoRules if !has_rules => Within::NoRules,
        Within::Unseen => Within::Unseen,
        Within::NoRules | Within::Rules => match is_seen(schema, structural, position) {
            true => Within::Rules,
            false => Within::Unseen,
        },
    }
}

/// True if expressions can access values of the schema. Values of a context type count as accessible: the few exceptions
/// have no parts.
fn is_seen(schema: &Json, structural: &Structural, position: &SchemaPosition) -> bool {
    let kind = schema.get("type").and_then(Json::as_str).unwrap_or_default();
    matches!(kind, "object" | "array" | "string" | "integer" | "number" | "boolean")
        || Declared::from_schema(structural, position.is_root || structural.embedded, "").is_some()
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else if name.is_empty() {
        path.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

#[expect(clippy::cast_precision_loss, reason = "a factor is shown with a digit or a few")]
fn too_expensive(name: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = match factor {
        factor if factor > 100.0 => "more than 100x".to_owned(),
        factor if factor < 1.5 => format!("{factor:.6}x"),
        factor => format!("{factor:.1}x"),
    };
    format!(
        "{name} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and \
         maxLength where arrays, maps, and strings are declared)"
    )
}

/// Returns the maximum number of direct children of one value; `None` if unbounded.
fn max_elements(schema: &Json) -> Option<u64> {
    let bound = |name: &str| {
        schema
            .get(name)
            .and_then(Json::as_i64)
            .map(|bound| u64::try_from(bound).unwrap_or(0))
    };
    match schema.get("type").and_then(Json::as_str) {
        Some("object") if schema.get("additionalProperties").is_some() => bound("maxProperties"),
        Some("array") => bound("maxItems"),
        _ => Some(1),
    }
}
