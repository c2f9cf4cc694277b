//! Evaluates expressions and counts their cost.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::ast::{ACCUMULATOR, Call, Element, Entry, Expr, Fold, Id, Literal, Node, Struct, operator};
use crate::functions::{Context, unfit, without_overload};
use crate::price::{LIST, MAP, OBJECT};
use crate::types::JSON_PATCH;
use crate::types::Type;
use crate::value::{Constructed, Effort, Evaluated, Fault, Key, Map, Text, Value, field_of, includes};

use super::{DeclaredVariables, Program, Scope};

/// The name of the variable whose fields are the variables that a policy declares.
const DECLARED: &str = "variables";

pub(crate) struct Evaluator<'p, 'd> {
    program: &'d Program,
    scope: Scope<'p, 'd>,
    locals: Vec<Local<'d>>,
    /// The values of constant parts, by their ids.
    computed: HashMap<Id, Value<'d>>,
    context: Context<'p>,
    limit: u64,
    cost: u64,
}

struct Local<'d> {
    name: &'d str,
    value: Value<'d>,
    /// True if reading the variable moves its value out. A loop reads its accumulator once per iteration, and a list that has
    /// no other owner grows in place.
    is_moved: bool,
}

impl<'p, 'd> Evaluator<'p, 'd> {
    pub(crate) fn new(program: &'d Program, scope: Scope<'p, 'd>, limit: u64, effort: Effort) -> Self {
        Self {
            program,
            scope,
            locals: Vec::new(),
            computed: HashMap::new(),
            context: Context {
                authorizer: scope.authorizer,
                patterns: &program.patterns,
                compiled: HashMap::new(),
                budget: limit,
                effort,
            },
            limit,
            cost: 0,
        }
    }

    pub(crate) fn cost(&self) -> u64 {
        self.cost
    }

    pub(crate) fn into_effort(self) -> Effort {
        self.context.effort
    }

    pub(crate) fn run(&mut self) -> Evaluated<'d> {
        self.eval(&self.program.expr)
    }

    fn charge(&mut self, cost: u64) -> Result<(), Fault> {
        self.cost = self.cost.saturating_add(cost);
        self.context.budget = self.limit.saturating_sub(self.cost);
        if self.cost > self.limit {
            Err(Fault::TooExpensive)
        } else {
            Ok(())
        }
    }

    pub(super) fn eval(&mut self, expr: &'d Expr) -> Evaluated<'d> {
        if !self.program.constants.has(expr) {
            return self.eval_part(expr);
        }
        if let Some(value) = self.computed.get(&expr.id) {
            return Ok(value.clone());
        }
        let cost = self.cost;
        let value = self.eval_part(expr)?;
        self.cost = cost;
        self.charge(0)?;
        self.computed.insert(expr.id, value.clone());
        Ok(value)
    }

    fn eval_part(&mut self, expr: &'d Expr) -> Evaluated<'d> {
        match &expr.node {
            Node::Literal(literal) => Ok(constant(literal)),
            Node::Ident(name) => {
                // The name of a type is a constant.
                self.charge(u64::from(self.is_variable(name)))?;
                self.variable(name)
            }
            Node::Select(select) => {
                if let Some(name) = self.program.checked.qualified(expr) {
                    self.charge(1)?;
                    return self.variable(name);
                }
                if let Some(declared) = self.declared(&select.operand) {
                    self.charge(1)?;
                    if select.is_test {
                        return Ok(Value::Bool(declared.has(&select.field)));
                    }
                    self.charge(1)?;
                    return declared.value(&select.field, &mut self.context.effort);
                }
                let operand = self.operand(&select.operand)?;
                if select.is_test {
                    return has_field(&operand, &select.field).map(Value::Bool);
                }
                if let Value::Optional(_) = operand {
                    return self.optional_field(operand, &select.field);
                }
                self.charge(1)?;
                field_of(&operand, &select.field)?.ok_or_else(|| Fault::new(format!("no such key: {}", select.field)))
            }
            Node::Call(call) => self.call(expr, call),
            Node::List(elements) => self.list(elements),
            Node::Map(entries) => self.map(entries),
            Node::Struct(object) => self.object(object),
            Node::Fold(fold) => self.fold(expr, fold),
            Node::Broken => Err(Fault::new("the expression is incomplete")),
        }
    }

    /// Evaluates the value of which a part is selected. If it is none of a variable, the selection costs as much as a variable,
    /// in addition to its parts.
    fn operand(&mut self, expr: &'d Expr) -> Evaluated<'d> {
        let value = self.eval(expr)?;
        self.charge(u64::from(!is_attribute(expr)))?;
        Ok(value)
    }

    fn variable(&mut self, name: &str) -> Evaluated<'d> {
        let name = name.strip_prefix('.').unwrap_or(name);
        if let Some(local) = self.locals.iter_mut().rev().find(|local| local.name == name) {
            return Ok(match local.is_moved {
                true => std::mem::replace(&mut local.value, Value::Null),
                false => local.value.clone(),
            });
        }
        if let Some((_, value)) = self.scope.variables.iter().find(|(variable, _)| *variable == name) {
            return value.clone();
        }
        if let (DECLARED, Some(declared)) = (name, self.scope.declared) {
            return declared.all(&mut self.context.effort);
        }
        Type::named(name)
            .map(Value::Type)
            .ok_or_else(|| Fault::new(format!("no such attribute(s): {name}")))
    }

    fn is_variable(&self, name: &str) -> bool {
        let name = name.strip_prefix('.').unwrap_or(name);
        let mut locals = self.locals.iter();
        Type::named(name).is_none() || locals.any(|local| local.name == name)
    }

    /// Returns the declared variables if `operand` stands for them.
    fn declared(&self, operand: &Expr) -> Option<&'p dyn DeclaredVariables<'d>> {
        let declared = self.scope.declared?;
        let Node::Ident(name) = &operand.node else { return None };
        let is_declared = name.strip_prefix('.').unwrap_or(name) == DECLARED;
        let is_shadowed = self.locals.iter().any(|local| local.name == DECLARED);
        (is_declared && !is_shadowed).then_some(declared)
    }

    fn call(&mut self, expr: &'d Expr, call: &'d Call) -> Evaluated<'d> {
        if self.program.constants.is_search(expr)
            && let [_, list] = call.args.as_slice()
            && matches!(&list.node, Node::List(elements) if elements.is_empty())
        {
            return Ok(Value::Bool(false));
        }
        let qualified = self.program.checked.qualified(expr);
        match (call.function.as_str(), call.args.as_slice()) {
            (operator::AND, [left, right]) => return self.logical(left, right, false),
            (operator::OR, [left, right]) => return self.logical(left, right, true),
            (operator::CONDITIONAL, [condition, yes, no]) => {
                return match self.eval(condition)? {
                    Value::Bool(true) => self.part_of_attribute(yes),
                    Value::Bool(false) => self.part_of_attribute(no),
                    _ => Err(unfit()),
                };
            }
            (operator::NOT_STRICTLY_FALSE, [arg]) => {
                let value = self.eval(arg);
                self.charge(1)?;
                return match value {
                    Err(fault) if fault.is_final() => Err(fault),
                    Ok(Value::Bool(false)) => Ok(Value::Bool(false)),
                    _ => Ok(Value::Bool(true)),
                };
            }
            (operator::OPTIONAL_SELECT, [operand, field]) => {
                let operand = self.operand(operand)?;
                let Node::Literal(Literal::String(name)) = &field.node else {
                    return Err(Fault::new("no such overload"));
                };
                return self.optional_field(operand, name);
            }
            ("or" | "orValue", [other]) if qualified.is_none() => {
                if let Some(target) = &call.target {
                    let value = self.eval(target)?;
                    return match value {
                        Value::Optional(None) => self.eval(other),
                        Value::Optional(Some(value)) if call.function == "orValue" => Ok(*value),
                        // Values that are no optionals are taken as they are.
                        value => Ok(value),
                    };
                }
            }
            _ => {}
        }
        let mut args = Vec::with_capacity(call.args.len() + 1);
        if qualified.is_none()
            && let Some(target) = &call.target
        {
            args.push(self.eval(target)?);
        }
        let is_index = matches!(call.function.as_str(), operator::INDEX | operator::OPTIONAL_INDEX);
        for (index, arg) in call.args.iter().enumerate() {
            args.push(match (is_index, index) {
                (true, 0) => self.operand(arg)?,
                (true, _) => self.part_of_attribute(arg)?,
                (false, _) => self.eval(arg)?,
            });
        }
        if self.program.constants.is_search(expr) {
            return self.search(args);
        }
        if is_index {
            // An optional part has a cost only if it is there.
            let part = without_overload(&mut self.context, &call.function, args)?;
            self.charge(u64::from(!matches!(part, Value::Optional(None))))?;
            return Ok(part);
        }
        let overloads = self.program.checked.overloads(expr);
        let fits = |args: &[Value<'_>], wanted: &[Type]| args.iter().zip(wanted).all(|(arg, ty)| arg.is_a(ty));
        let Some(overload) = overloads.iter().find(|overload| fits(&args, &overload.args)) else {
            return without_overload(&mut self.context, qualified.unwrap_or(&call.function), args);
        };
        self.charge(overload.price.before(&args))?;
        let result = (overload.run)(&mut self.context, args)?;
        match &result {
            Value::String(Text::Owned(text)) => self.context.effort.takes(text.len())?,
            Value::Bytes(bytes) => self.context.effort.takes(bytes.len())?,
            _ => {}
        }
        self.charge(overload.price.after(&result))?;
        Ok(result)
    }

    /// Evaluates a part of which cel-go makes an attribute of another one: the branch of a condition, or an index. Its variable
    /// has no cost.
    fn part_of_attribute(&mut self, expr: &'d Expr) -> Evaluated<'d> {
        let value = self.eval(expr)?;
        self.cost = self.cost.saturating_sub(u64::from(self.starts_with_cost(expr)));
        Ok(value)
    }

    /// True if the variable from which the expression selects, or another value in its place, has a cost.
    fn starts_with_cost(&self, expr: &Expr) -> bool {
        let operand = match &expr.node {
            Node::Ident(name) => return self.is_variable(name),
            Node::Select(select) if !select.is_test => &select.operand,
            Node::Call(call) => match (call.function.as_str(), call.args.as_slice()) {
                (operator::INDEX | operator::OPTIONAL_INDEX | operator::OPTIONAL_SELECT, [operand, _]) => operand,
                _ => return false,
            },
            _ => return false,
        };
        let is_conditional = matches!(&operand.node, Node::Call(call) if call.function == operator::CONDITIONAL);
        !is_conditional && (!is_attribute(operand) || self.starts_with_cost(operand))
    }

    fn optional_field(&mut self, operand: Value<'d>, field: &str) -> Evaluated<'d> {
        let found = optional_field(operand, field)?;
        self.charge(u64::from(!matches!(found, Value::Optional(None))))?;
        Ok(found)
    }

    /// Searches in a constant list, which has no cost.
    fn search(&mut self, args: Vec<Value<'d>>) -> Evaluated<'d> {
        match <[Value<'d>; 2]>::try_from(args) {
            Ok([value, Value::List(list)]) => includes(&mut self.context.effort, &list, &value).map(Value::Bool),
            _ => Err(unfit()),
        }
    }

    /// `&&` and `||`: one `decisive` side suffices, even if the other side fails.
    fn logical(&mut self, left: &'d Expr, right: &'d Expr, decisive: bool) -> Evaluated<'d> {
        let left = self.eval(left);
        match &left {
            Ok(Value::Bool(value)) if *value == decisive => return left,
            Err(fault) if fault.is_final() => return left,
            _ => {}
        }
        let right = self.eval(right);
        match (&left, &right) {
            (_, Ok(Value::Bool(value))) if *value == decisive => right,
            (_, Err(fault)) if fault.is_final() => right,
            (Ok(Value::Bool(_)), Err(_) | Ok(Value::Bool(_))) => right,
            (Err(_), _) => left,
            _ => Err(Fault::new("no such overload")),
        }
    }

    fn list(&mut self, elements: &'d [Element]) -> Evaluated<'d> {
        let mut values = Vec::with_capacity(elements.len());
        for element in elements {
            let value = self.eval(&element.value)?;
            match value {
                Value::Optional(value) if element.is_optional => values.extend(value.map(|value| *value)),
                value => values.push(value),
            }
        }
        self.charge(LIST)?;
        Ok(Value::list(values))
    }

    fn map(&mut self, entries: &'d [Entry]) -> Evaluated<'d> {
        let mut values = BTreeMap::new();
        for entry in entries {
            let key = self.eval(&entry.key)?;
            let place = Key::from_value(&key).ok_or_else(|| Fault::new("unsupported key type"))?;
            let value = match self.eval(&entry.value)? {
                Value::Optional(None) if entry.is_optional => continue,
                Value::Optional(Some(value)) if entry.is_optional => *value,
                value => value,
            };
            if values.insert(place, value).is_some() {
                let shown = crate::functions::format::plain(&key);
                return Err(Fault::new(format!("Failed with repeated key: {shown}")));
            }
        }
        self.charge(MAP)?;
        Ok(Value::Map(Map::Owned(Rc::new(values))))
    }

    fn object(&mut self, object: &'d Struct) -> Evaluated<'d> {
        let name = object.name.trim_start_matches('.');
        let mut fields = BTreeMap::new();
        for field in &object.fields {
            let value = match self.eval(&field.value)? {
                Value::Optional(None) if field.is_optional => continue,
                Value::Optional(Some(value)) if field.is_optional => *value,
                value => value,
            };
            if name == JSON_PATCH && field.name != "value" && !matches!(value, Value::String(_)) {
                return Err(Fault::new(format!(
                    "unexpected type {} for JSONPatchType '{}' field",
                    value.type_name(),
                    field.name
                )));
            }
            fields.insert(field.name.as_str(), value);
        }
        self.charge(OBJECT)?;
        Ok(Value::Object(Rc::new(Constructed { name, fields })))
    }

    fn fold(&mut self, expr: &'d Expr, fold: &'d Fold) -> Evaluated<'d> {
        let start = |evaluator: &mut Self, name: &'d str| {
            let value = evaluator.eval(&fold.start)?;
            evaluator.locals.push(Local {
                name,
                value,
                is_moved: false,
            });
            Ok(())
        };
        if expr.as_binding().is_some() {
            start(self, &fold.accumulator)?;
            let result = self.eval(&fold.result);
            self.locals.pop();
            return result;
        }
        let range = self.eval(&fold.range)?;
        start(self, &fold.accumulator)?;
        let depth = self.locals.len();
        let done = self.rounds(fold, &range);
        self.locals.truncate(depth);
        let is_search = matches!(fold.start.node, Node::Literal(Literal::Bool(_)));
        let mut done = done;
        if let Some(gathered) = self.locals.last_mut() {
            gathered.is_moved = fold.accumulator == ACCUMULATOR;
            if let (true, Value::String(why)) = (is_search && done.is_ok(), &gathered.value) {
                done = Err(Fault::new(&**why));
            }
        }
        let result = done.and_then(|()| self.eval(&fold.result));
        self.locals.pop();
        result
    }

    fn rounds(&mut self, fold: &'d Fold, range: &Value<'d>) -> Result<(), Fault> {
        let (keys, count) = match range {
            Value::List(list) => (None, list.len()),
            Value::Map(map) => {
                let keys = map.keys();
                let count = keys.len();
                (Some(keys), count)
            }
            other => {
                let found = other.go_type_name();
                return Err(Fault::new(match fold.second {
                    Some(_) => format!("unsupported comprehension range type: {found}"),
                    None => format!("got '{found}', expected iterable type"),
                }));
            }
        };
        for index in 0..count {
            let (first, second) = round(fold, range, keys.as_deref(), index)?;
            if !self.one_round(fold, first, second)? {
                break;
            }
        }
        Ok(())
    }

    /// Runs one iteration; returns false if the loop condition stopped the loop.
    fn one_round(&mut self, fold: &'d Fold, first: Value<'d>, second: Option<Value<'d>>) -> Result<bool, Fault> {
        let gathered = self.locals.len() - 1;
        let variables = [Some(first), second];
        let names = [Some(fold.variable.as_str()), fold.second.as_deref()];
        for (name, value) in names.into_iter().zip(variables) {
            if let (Some(name), Some(value)) = (name, value) {
                self.locals.push(Local {
                    name,
                    value,
                    is_moved: false,
                });
            }
        }
        let goes_on = !matches!(self.eval(&fold.condition)?, Value::Bool(false));
        if goes_on {
            self.locals[gathered].is_moved = fold.accumulator == ACCUMULATOR;
            let value = self.step(fold, gathered)?;
            self.locals[gathered].value = value;
            self.locals[gathered].is_moved = false;
        }
        self.locals.truncate(gathered + 1);
        Ok(goes_on)
    }

    /// Evaluates a step of `all` and `exists`. If the predicate fails for one element, a later decisive element still wins.
    fn step(&mut self, fold: &'d Fold, gathered: usize) -> Evaluated<'d> {
        let Node::Call(call) = &fold.step.node else {
            return self.eval(&fold.step);
        };
        let decisive = match call.function.as_str() {
            operator::AND => false,
            operator::OR => true,
            _ => return self.eval(&fold.step),
        };
        let before = self.locals[gathered].value.clone();
        let [_, predicate] = call.args.as_slice() else {
            return self.eval(&fold.step);
        };
        self.charge(1)?;
        let depth = self.locals.len();
        let found = self.eval(predicate);
        self.locals.truncate(depth);
        Ok(match found {
            Ok(Value::Bool(value)) if value == decisive => Value::Bool(value),
            Ok(Value::Bool(_)) => before,
            Err(fault) if fault.is_final() => return Err(fault),
            // The accumulator keeps the first failure as a string, which cannot be confused with a boolean result.
            Err(fault) => failure(before, fault.message().to_owned()),
            Ok(_) => failure(before, "no such overload".to_owned()),
        })
    }
}

/// True for variables and what is selected from them, of which cel-go makes attributes.
fn is_attribute(expr: &Expr) -> bool {
    match &expr.node {
        Node::Ident(_) => true,
        Node::Select(select) => !select.is_test,
        Node::Call(call) => matches!(
            call.function.as_str(),
            operator::INDEX | operator::OPTIONAL_INDEX | operator::OPTIONAL_SELECT | operator::CONDITIONAL
        ),
        _ => false,
    }
}

/// Returns the accumulator that records the first failure of `all` or `exists`.
fn failure<'d>(before: Value<'d>, why: String) -> Value<'d> {
    match before {
        Value::Bool(_) => Value::text(why),
        earlier => earlier,
    }
}

fn round<'d>(
    fold: &Fold,
    range: &Value<'d>,
    keys: Option<&[Value<'d>]>,
    index: usize,
) -> Result<(Value<'d>, Option<Value<'d>>), Fault> {
    let missing = || Fault::new("index out of bounds");
    match (range, keys) {
        (Value::Map(map), Some(keys)) => {
            let key = keys.get(index).cloned().ok_or_else(missing)?;
            let value = match fold.second {
                Some(_) => Some(map.get(&key).ok_or_else(missing)??),
                None => None,
            };
            Ok((key, value))
        }
        (Value::List(list), _) => {
            let element = list.get(index).ok_or_else(missing)??;
            match fold.second {
                Some(_) => Ok((Value::Int(i64::try_from(index).unwrap_or(i64::MAX)), Some(element))),
                None => Ok((element, None)),
            }
        }
        _ => Err(missing()),
    }
}

fn constant(literal: &Literal) -> Value<'_> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::Uint(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::String(text) => Value::String(Text::Borrowed(text)),
        Literal::Bytes(bytes) => Value::Bytes(bytes.as_slice().into()),
    }
}

fn has_field(operand: &Value<'_>, field: &str) -> Result<bool, Fault> {
    match operand {
        Value::Optional(None) => Ok(false),
        Value::Optional(Some(inner)) => has_field(inner, field),
        Value::Map(map) => Ok(map.get(&Value::String(Text::Borrowed(field))).is_some()),
        Value::Object(object) => Ok(object.has(field)),
        other => field_of(other, field).map(|found| found.is_some()),
    }
}

fn optional_field<'d>(operand: Value<'d>, field: &str) -> Evaluated<'d> {
    let operand = match operand {
        Value::Optional(None) => return Ok(Value::Optional(None)),
        Value::Optional(Some(inner)) => *inner,
        other => other,
    };
    Ok(Value::Optional(field_of(&operand, field)?.map(Box::new)))
}
