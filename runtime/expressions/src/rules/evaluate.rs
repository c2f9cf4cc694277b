//! Evaluates rules on a document.

use planesmith_dynamic::structural::{Additional, OldElements, SchemaType, Structural};
use planesmith_machinery::field_error::{BadValue, FieldError, FieldErrorKind, FieldErrors};
use serde_json::Value as Json;

use super::correlation::Correlation;
use super::{Compiled, Node, OBJECT_BUDGET};
use crate::program::{PER_CALL_LIMIT, Program};
use crate::value::{Effort, Evaluated, Fault, MAX_STEPS, Map, Value, from_json};

/// The maximum length of a message produced by an expression, in bytes; longer ones are discarded.
const MAX_MESSAGE: usize = 5 * 1024;

pub(super) fn check(root: &Node, schema: &Structural, document: &Json, old: Option<&Json>, errors: &mut FieldErrors) {
    let correlation = Correlation::new(document, old, schema);
    run(root, schema, (document, old), correlation, errors);
}

/// Like `check`, for a value whose violations are not tolerated even though it equals the old one.
pub(super) fn check_strictly(
    root: &Node,
    schema: &Structural,
    document: &Json,
    old: Option<&Json>,
    errors: &mut FieldErrors,
) {
    run(root, schema, (document, old), Correlation::default(), errors);
}

fn run<'d>(
    root: &'d Node,
    schema: &'d Structural,
    (document, old): (&'d Json, Option<&'d Json>),
    correlation: Correlation<'d>,
    errors: &mut FieldErrors,
) {
    let mut walk = Walk {
        errors,
        budget: OBJECT_BUDGET,
        steps: MAX_STEPS,
    };
    // The walk stops once the budget is spent, which it reports as an error.
    let _ = walk.node(root, schema, "", document, old, correlation);
}

/// A marker that the budget is spent and evaluation stops.
struct Spent;

struct Walk<'e> {
    errors: &'e mut FieldErrors,
    budget: u64,
    /// The remaining steps of pattern matching.
    steps: u64,
}

/// The inputs of a rule's evaluation.
struct Subject<'d> {
    path: &'d str,
    json: &'d Json,
    schema_type: SchemaType,
    value: Evaluated<'d>,
    old: Option<Evaluated<'d>>,
    /// True if a rule of the schema uses `oldSelf`; only then do message expressions have it.
    is_compared: bool,
}

impl Walk<'_> {
    fn node<'d>(
        &mut self,
        node: &'d Node,
        schema: &'d Structural,
        path: &str,
        json: &'d Json,
        old: Option<&'d Json>,
        correlation: Correlation<'d>,
    ) -> Result<(), Spent> {
        if json.is_null() {
            return Ok(());
        }
        self.rules(node, schema, path, json, old, correlation)?;
        match json {
            Json::Array(elements) => {
                let (Some(inner), Some(items)) = (&node.items, &schema.items) else {
                    return Ok(());
                };
                let old_elements = OldElements::new(schema, old);
                for (index, element) in elements.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    let old = old_elements.as_ref().and_then(|elements| elements.find(element));
                    let correlation = correlation.element(element, old, items);
                    self.node(inner, items, &path, element, old, correlation)?;
                }
            }
            Json::Object(entries) => {
                for (name, value) in entries {
                    let old = old.and_then(|old| old.get(name));
                    if let (Some(inner), Additional::Typed(values)) = (&node.additional, &schema.additional) {
                        self.node(
                            inner,
                            values,
                            &format!("{path}[{name}]"),
                            value,
                            old,
                            correlation.key(name),
                        )?;
                    }
                    if let (Some(inner), Some(property)) =
                        (node.properties.get(name.as_str()), schema.properties.get(name))
                    {
                        self.node(inner, property, &joined(path, name), value, old, correlation.key(name))?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn rules<'d>(
        &mut self,
        node: &'d Node,
        schema: &'d Structural,
        path: &str,
        json: &'d Json,
        old: Option<&'d Json>,
        correlation: Correlation<'d>,
    ) -> Result<(), Spent> {
        if node.rules.is_empty() {
            return Ok(());
        }
        // An old null is not a value to compare with.
        let old = old.filter(|old| !old.is_null());
        let subject = Subject {
            path,
            json,
            schema_type: schema.schema_type,
            value: value(json, schema, node.is_root),
            old: old.map(|old| value(old, schema, node.is_root)),
            is_compared: node.rules.iter().any(|compiled| compiled.uses_old_self),
        };
        for compiled in &node.rules {
            let before = self.errors.count();
            if let Some(error) = self.rule(compiled, &subject)?
                && before == self.errors.count()
            {
                match !compiled.uses_old_self && correlation.is_unchanged() {
                    true => self.errors.tolerate(error),
                    false => self.errors.report(error),
                }
            }
        }
        Ok(())
    }

    /// Evaluates one rule. Errors of the rule itself are reported at once. A violation is returned, because it may be
    /// tolerated.
    fn rule<'d>(&mut self, compiled: &'d Compiled, subject: &Subject<'d>) -> Result<Option<FieldError>, Spent> {
        let invalid = |detail: String| fault(subject, None, detail);
        let rule = &compiled.rule;
        let is_optional = rule.optional_old_self == Some(true);
        let program = match &compiled.program {
            None => return Ok(None),
            Some(Err(problem)) => {
                self.errors.report(invalid(format!("rule compile error: {problem}")));
                return Ok(None);
            }
            Some(Ok(program)) => program,
        };
        if compiled.uses_old_self && subject.old.is_none() && !is_optional {
            return Ok(None);
        }
        if self.budget == 0 {
            self.errors.report(invalid(SPENT.to_owned()));
            return Err(Spent);
        }
        let variables = variables(subject, is_optional);
        let evaluation = program.evaluate_within(&variables, PER_CALL_LIMIT, Effort::with_steps(self.steps));
        self.steps = self.steps.saturating_sub(evaluation.effort.steps());
        let Some(left) = self.budget.checked_sub(evaluation.cost) else {
            self.errors.report(invalid(SPENT.to_owned()));
            return Err(Spent);
        };
        self.budget = left;
        match evaluation.result {
            Ok(Value::Bool(true)) => return Ok(None),
            Ok(_) => {}
            Err(fault) => {
                let (why, name) = (fault.message(), rule.named());
                let is_overload = why.starts_with("no such overload");
                let detail = match &fault {
                    Fault::TooExpensive => format!(
                        "'{why}': no further validation rules will be run due to call cost exceeds limit for rule: {name}"
                    ),
                    Fault::Failed(_) if is_overload => format!(
                        "'{why}': call arguments did not match a supported operator, function or macro signature for \
                         rule: {name}"
                    ),
                    // Rules have no authorizer to wait for.
                    Fault::Failed(_) | Fault::Suspended => format!("{why} evaluating rule: {name}"),
                };
                self.errors.report(invalid(detail));
                return if fault == Fault::TooExpensive {
                    Err(Spent)
                } else {
                    Ok(None)
                };
            }
        }
        let said = match &compiled.message {
            Some(Ok(message)) => self.message(message, compiled, subject)?,
            _ => None,
        };
        let detail = said.unwrap_or_else(|| match rule.message.is_empty() {
            true => format!("failed rule: {}", rule.rule.trim()),
            false => rule.message.trim().to_owned(),
        });
        let kind = match rule.reason.as_deref() {
            Some("FieldValueForbidden") => FieldErrorKind::Forbidden,
            Some("FieldValueRequired") => FieldErrorKind::Required,
            Some("FieldValueDuplicate") => FieldErrorKind::Duplicate,
            _ => FieldErrorKind::Invalid,
        };
        Ok(Some(error(subject, Some(&compiled.field), kind, detail)))
    }

    /// Returns the message that the message expression produces, if it is usable. `oldSelf` is no optional here, even if it
    /// is one for the rule, and absent with a new value.
    fn message<'d>(
        &mut self,
        message: &'d Program,
        compiled: &'d Compiled,
        subject: &Subject<'d>,
    ) -> Result<Option<String>, Spent> {
        let mut variables = variables(subject, false);
        variables.retain(|(name, _)| *name != OLD_SELF || subject.is_compared);
        let evaluation = message.evaluate_within(&variables, PER_CALL_LIMIT, Effort::with_steps(self.steps));
        self.steps = self.steps.saturating_sub(evaluation.effort.steps());
        let field = Some(&compiled.field);
        let Some(left) = self.budget.checked_sub(evaluation.cost) else {
            let detail = "messageExpression evaluation failed due to running out of cost budget, no further validation \
                          rules will be run";
            self.errors.report(fault(subject, field, detail.to_owned()));
            return Err(Spent);
        };
        if matches!(evaluation.result, Err(Fault::TooExpensive)) {
            let shown = planesmith_machinery::go_format::quote(&compiled.rule.message_expression);
            let detail = format!(
                "no further validation rules will be run due to call cost exceeds limit for messageExpression: {shown}"
            );
            self.errors.report(fault(subject, field, detail));
            return Err(Spent);
        }
        self.budget = left;
        let Ok(Value::String(text)) = evaluation.result else {
            return Ok(None);
        };
        let text = text.trim();
        let is_useful = !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n');
        Ok(is_useful.then(|| text.to_owned()))
    }
}

/// The variable of the value that is replaced.
const OLD_SELF: &str = "oldSelf";

const SPENT: &str = "validation failed due to running out of cost budget, no further validation rules will be run";

fn variables<'d>(subject: &Subject<'d>, is_optional: bool) -> Vec<(&'static str, Evaluated<'d>)> {
    let mut variables = vec![("self", subject.value.clone())];
    match (&subject.old, is_optional) {
        (Some(old), true) => variables.push((OLD_SELF, old.clone().map(Value::some))),
        (Some(old), false) => variables.push((OLD_SELF, old.clone())),
        (None, true) => variables.push((OLD_SELF, Ok(Value::Optional(None)))),
        (None, false) => {}
    }
    variables
}

fn value<'d>(json: &'d Json, schema: &'d Structural, is_root: bool) -> Evaluated<'d> {
    match from_json(json, schema)? {
        Value::Map(Map::View { entries, schema, .. }) => Ok(Value::Map(Map::View {
            entries,
            schema,
            is_root,
        })),
        other => Ok(other),
    }
}

fn joined(path: &str, name: &str) -> String {
    match (path, name) {
        ("", name) => name.to_owned(),
        (path, "") => path.to_owned(),
        (path, name) if name.starts_with('[') => format!("{path}{name}"),
        (path, name) => format!("{path}.{name}"),
    }
}

/// Returns the error of a rule that failed to evaluate. It renders the type instead of the value.
fn fault(subject: &Subject<'_>, field: Option<&String>, detail: String) -> FieldError {
    let declared = match subject.schema_type {
        SchemaType::IntOrString => "",
        other => other.name(),
    };
    FieldError {
        field: place(subject, field),
        kind: FieldErrorKind::Invalid,
        value: declared.rendered(),
        detail,
    }
}

fn place(subject: &Subject<'_>, field: Option<&String>) -> String {
    match joined(subject.path, field.map_or("", String::as_str)) {
        path if path.is_empty() => "<nil>".to_owned(),
        path => path,
    }
}

/// Returns the error of a violated rule. It renders scalar values only, not objects and lists.
fn error(subject: &Subject<'_>, field: Option<&String>, kind: FieldErrorKind, detail: String) -> FieldError {
    let has_value = matches!(kind, FieldErrorKind::Invalid | FieldErrorKind::Duplicate);
    let is_short = !matches!(subject.schema_type, SchemaType::Object | SchemaType::Array);
    let value = if has_value && is_short {
        subject.json.rendered()
    } else {
        String::new()
    };
    FieldError {
        field: place(subject, field),
        kind,
        value,
        detail: if kind == FieldErrorKind::Duplicate {
            String::new()
        } else {
            detail
        },
    }
}
