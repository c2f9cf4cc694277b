//! Static cost estimates of expressions.

use std::collections::HashMap;

use super::{Range, calls};
use crate::ast::{ACCUMULATOR, Call, Expr, Fold, Id, Literal, Node, operator};
use crate::checker::Checked;
use crate::declared::Declared;
use crate::price::{LIST, MAP, OBJECT, TEXT};
use crate::types::Type;

/// Returns the maximum cost of `expr`. `root` declares `self` and `oldSelf`; no value in them is larger than `longest`, in
/// characters, elements or entries.
pub(crate) fn estimate(expr: &Expr, checked: &Checked, root: Option<&Declared>, longest: u64) -> u64 {
    let mut estimator = Estimator {
        checked,
        root,
        longest,
        paths: HashMap::new(),
        locals: HashMap::new(),
        sizes: HashMap::new(),
        entries: HashMap::new(),
    };
    estimator.cost(expr).max
}

/// Size bounds of a container's entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntrySize {
    is_list: bool,
    key: Range,
    value: Range,
}

struct Local {
    path: Vec<String>,
    size: Option<Range>,
    entries: Option<EntrySize>,
}

/// A target or argument of a call.
pub(super) struct Argument<'e> {
    pub(super) expr: &'e Expr,
    pub(super) ty: &'e Type,
    pub(super) path: Vec<String>,
    /// The size, as far as it follows from the expression.
    pub(super) size: Option<Range>,
}

pub(super) struct Estimator<'e> {
    checked: &'e Checked,
    root: Option<&'e Declared>,
    longest: u64,
    paths: HashMap<Id, Vec<String>>,
    locals: HashMap<&'e str, Vec<Local>>,
    sizes: HashMap<Id, Range>,
    entries: HashMap<Id, EntrySize>,
}

impl<'e> Estimator<'e> {
    fn cost(&mut self, expr: &'e Expr) -> Range {
        match &expr.node {
            Node::Literal(_) | Node::Broken => Range::NONE,
            Node::Ident(name) => {
                let path = match self.local(name) {
                    Some(local) => local.path.clone(),
                    None => vec![name.clone()],
                };
                self.paths.insert(expr.id, path);
                Range::ONE
            }
            Node::Select(select) => {
                let operand = self.cost(&select.operand);
                if select.is_test {
                    return operand;
                }
                let has_fields = matches!(
                    self.checked.type_of(&select.operand),
                    Type::Map(..) | Type::Struct(_) | Type::Param(_)
                );
                let mut path = self.path(&select.operand);
                path.push(select.field.clone());
                self.paths.insert(expr.id, path);
                if has_fields { operand.plus(Range::ONE) } else { operand }
            }
            Node::Call(call) => self.call(expr, call),
            Node::List(elements) => {
                let (mut cost, mut value) = (Range::fixed(LIST), Range::NEVER);
                if elements.is_empty() {
                    value.min = 0;
                }
                for element in elements {
                    cost = cost.plus(self.cost(&element.value));
                    value = value.or(self.size_or_unknown(&element.value));
                }
                let key = Range::ONE;
                self.entries.insert(
                    expr.id,
                    EntrySize {
                        is_list: true,
                        key,
                        value,
                    },
                );
                cost
            }
            Node::Map(entries) => {
                let (mut cost, mut key, mut value) = (Range::fixed(MAP), Range::NEVER, Range::NEVER);
                if entries.is_empty() {
                    (key.min, value.min) = (0, 0);
                }
                for entry in entries {
                    cost = cost.plus(self.cost(&entry.key)).plus(self.cost(&entry.value));
                    key = key.or(self.size_or_unknown(&entry.key));
                    value = value.or(self.size_or_unknown(&entry.value));
                }
                self.entries.insert(
                    expr.id,
                    EntrySize {
                        is_list: false,
                        key,
                        value,
                    },
                );
                cost
            }
            Node::Struct(object) => {
                let fields = object.fields.iter().map(|field| self.cost(&field.value));
                fields.fold(Range::fixed(OBJECT), Range::plus)
            }
            Node::Fold(fold) => match expr.as_binding() {
                Some(_) => self.binding(expr, fold),
                None => self.fold(expr, fold),
            },
        }
    }

    fn binding(&mut self, expr: &'e Expr, fold: &'e Fold) -> Range {
        let cost = self.cost(&fold.range).plus(self.cost(&fold.start));
        self.push_value(&fold.accumulator, &fold.start);
        let cost = cost.plus(self.cost(&fold.result));
        self.pop(&fold.accumulator);
        self.copy_sizes(expr, &fold.result);
        cost
    }

    fn fold(&mut self, expr: &'e Expr, fold: &'e Fold) -> Range {
        let mut cost = self.cost(&fold.range).plus(self.cost(&fold.start));
        self.push_value(&fold.accumulator, &fold.start);
        self.push_element(&fold.variable, &fold.range, fold.second.is_some());
        if let Some(second) = &fold.second {
            self.push_second(second, &fold.range);
        }
        let round = self.cost(&fold.condition);
        let round = self.cost(&fold.step).plus(round);
        self.pop(&fold.variable);
        if let Some(second) = &fold.second {
            self.pop(second);
        }
        cost = cost.plus(self.cost(&fold.result));
        self.pop(&fold.accumulator);
        let rounds = self.size_or_unknown(&fold.range);
        match &fold.start.node {
            Node::Literal(_) => {
                if let Some(size) = self.size(&fold.start) {
                    self.sizes.insert(expr.id, size);
                }
            }
            Node::List(_) | Node::Map(_) => {
                self.sizes.insert(expr.id, rounds);
                if let Some(entries) = self.entry_size(&fold.step) {
                    self.entries.insert(expr.id, entries);
                }
            }
            _ => {}
        }
        cost.plus(rounds.times(round))
    }

    fn call(&mut self, expr: &'e Expr, call: &'e Call) -> Range {
        if call.function == "dyn"
            && let [arg] = call.args.as_slice()
        {
            let cost = self.cost(arg);
            self.copy_sizes(expr, arg);
            return cost.plus(Range::ONE);
        }
        let mut costs = Vec::with_capacity(call.args.len());
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            costs.push(self.cost(arg));
            args.push(self.argument(arg));
        }
        let overloads = self.checked.overloads(expr);
        let name = self.checked.qualified(expr).unwrap_or(&call.function);
        let mut cost = Range::NONE;
        let mut target = None;
        if let Some(expr) = call.target.as_ref().filter(|_| name == call.function) {
            cost = self.cost(expr);
            target = Some(self.argument(expr));
        }
        if overloads.is_empty() {
            // Only optional field access has no overload.
            return match call.function == operator::OPTIONAL_SELECT {
                true => costs.into_iter().fold(Range::ONE, Range::plus),
                false => Range::NONE,
            };
        }
        let mut widest = Range::NEVER;
        let mut size: Option<Range> = None;
        for overload in overloads {
            let (own, result) = self.overload(expr, name, overload.id, target.as_ref(), &args, &costs);
            widest = widest.or(own);
            if let Some(result) = result {
                size = Some(size.map_or(result, |size| size.or(result)));
            }
            let step = match overload.id {
                "index_list" => Some("@items"),
                "index_map" => Some("@values"),
                _ => None,
            };
            if let (Some(step), Some(container)) = (step, call.args.first()) {
                size = self.entry_size(container).map(|entries| entries.value);
                let mut path = self.path(container);
                path.push(step.to_owned());
                self.paths.insert(expr.id, path);
            }
            if size.is_none() {
                size = self.size(expr);
            }
        }
        if let Some(size) = size {
            self.sizes.insert(expr.id, size);
        }
        cost.plus(widest)
    }

    fn overload(
        &mut self,
        expr: &'e Expr,
        function: &str,
        id: &str,
        target: Option<&Argument<'e>>,
        args: &[Argument<'e>],
        costs: &[Range],
    ) -> (Range, Option<Range>) {
        let sum = costs.iter().copied().fold(Range::NONE, Range::plus);
        match (id, args, costs) {
            ("logical_and" | "logical_or", _, [left, right]) => {
                let cost = Range {
                    min: left.min,
                    max: left.plus(*right).max,
                };
                return (cost, None);
            }
            ("conditional", [_, yes, no], [condition, yes_cost, no_cost]) => {
                let size = sized(yes).or(sized(no));
                let entries = self.entry_size(yes.expr).zip(self.entry_size(no.expr));
                self.keep_entries(expr, entries);
                return (condition.plus(yes_cost.or(*no_cost)), Some(size));
            }
            ("add_string" | "add_bytes" | "add_list", [left, right], _) => {
                let size = sized(left).plus(sized(right));
                let entries = self.entry_size(left.expr).zip(self.entry_size(right.expr));
                self.keep_entries(expr, entries);
                let cost = if id == "add_list" { Range::ONE } else { size.by(TEXT) };
                return (cost.plus(sum), Some(size));
            }
            _ => {}
        }
        let (cost, size) = calls::estimate(self, function, id, target, args).unwrap_or((Range::ONE, None));
        (cost.plus(sum), size)
    }

    fn keep_entries(&mut self, expr: &Expr, entries: Option<(EntrySize, EntrySize)>) {
        if let Some((one, other)) = entries {
            self.entries.insert(
                expr.id,
                EntrySize {
                    is_list: one.is_list,
                    key: one.key.or(other.key),
                    value: one.value.or(other.value),
                },
            );
        }
    }

    fn argument(&mut self, expr: &'e Expr) -> Argument<'e> {
        let mut path = self.path(expr);
        if path.first().is_some_and(|first| first == ACCUMULATOR) {
            path.clear();
        }
        Argument {
            expr,
            ty: self.checked.type_of(expr),
            path,
            size: self.size(expr),
        }
    }

    /// Returns the schema's size bound at `path`. Its first part stands for the root, as in kube-apiserver: also the elements of a
    /// list of the expression itself have the size of the root.
    pub(super) fn declared_size(&self, path: &[String]) -> Option<Range> {
        let (_, path) = path.split_first()?;
        let mut declared = self.root?;
        let mut max = declared.max_elements;
        for (index, part) in path.iter().enumerate() {
            declared = match part.as_str() {
                "@items" | "@values" => declared.element.as_deref()?,
                // Keys have no schema of their own.
                "@keys" if index + 1 == path.len() && matches!(declared.ty, Type::Map(..)) => {
                    return Some(Range {
                        min: 0,
                        max: declared.max_key.min(self.longest),
                    });
                }
                _ if declared.has_any_field => declared.element.as_deref()?,
                field => declared.fields.get(field)?,
            };
            max = declared.max_elements;
        }
        Some(Range {
            min: 0,
            max: max.min(self.longest),
        })
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.get(name)?.last()
    }

    fn path(&self, expr: &Expr) -> Vec<String> {
        if let Node::Ident(name) = &expr.node
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned().unwrap_or_default()
    }

    fn size(&mut self, expr: &Expr) -> Option<Range> {
        if let Some(size) = self.sizes.get(&expr.id) {
            return Some(*size);
        }
        let length = match &expr.node {
            Node::Literal(Literal::String(text)) => Some(text.chars().count()),
            Node::Literal(Literal::Bytes(bytes)) => Some(bytes.len()),
            Node::Literal(_) => Some(1),
            Node::List(elements) => Some(elements.len()),
            Node::Map(entries) => Some(entries.len()),
            _ => None,
        };
        if let Some(length) = length {
            return Some(Range::fixed(length as u64));
        }
        if let Some(size) = self.declared_size(&self.path(expr)) {
            self.sizes.insert(expr.id, size);
            return Some(size);
        }
        if self.checked.type_of(expr).is_scalar() {
            return Some(Range::ONE);
        }
        match &expr.node {
            Node::Ident(name) => self.local(name)?.size,
            _ => None,
        }
    }

    fn size_or_unknown(&mut self, expr: &Expr) -> Range {
        self.size(expr).unwrap_or(Range::UNKNOWN)
    }

    fn entry_size(&self, expr: &Expr) -> Option<EntrySize> {
        if let Some(entries) = self.entries.get(&expr.id) {
            return Some(*entries);
        }
        match &expr.node {
            Node::Ident(name) => self.local(name)?.entries,
            _ => None,
        }
    }

    fn copy_sizes(&mut self, to: &Expr, from: &Expr) {
        if let Some(size) = self.size(from) {
            self.sizes.insert(to.id, size);
        }
        if let Some(entries) = self.entry_size(from) {
            self.entries.insert(to.id, entries);
        }
    }

    fn push(&mut self, name: &'e str, path: Vec<String>, size: Option<Range>, entries: Option<EntrySize>) {
        self.locals.entry(name).or_default().push(Local { path, size, entries });
    }

    fn pop(&mut self, name: &str) {
        if let Some(locals) = self.locals.get_mut(name) {
            locals.pop();
        }
    }

    fn push_value(&mut self, name: &'e str, value: &Expr) {
        let (path, size, entries) = (self.path(value), self.size(value), self.entry_size(value));
        self.push(name, path, size, entries);
    }

    /// The first variable of a loop: an element, a key, or an index when there is a second one.
    fn push_element(&mut self, name: &'e str, range: &Expr, has_second: bool) {
        let entries = self.entry_size(range);
        let is_list = entries.map_or(matches!(self.checked.type_of(range), Type::List(_)), |entries| {
            entries.is_list
        });
        let (step, size) = match (is_list, has_second) {
            (true, true) => ("@indices", entries.map(|entries| entries.key)),
            (true, false) => ("@items", entries.map(|entries| entries.value)),
            (false, _) => ("@keys", entries.map(|entries| entries.key)),
        };
        let mut path = self.path(range);
        path.push(step.to_owned());
        self.push(name, path, size, None);
    }

    fn push_second(&mut self, name: &'e str, range: &Expr) {
        let entries = self.entry_size(range);
        let is_list = entries.map_or(matches!(self.checked.type_of(range), Type::List(_)), |entries| {
            entries.is_list
        });
        let mut path = self.path(range);
        path.push(if is_list { "@items" } else { "@values" }.to_owned());
        self.push(name, path, entries.map(|entries| entries.value), None);
    }
}

fn sized(argument: &Argument<'_>) -> Range {
    argument.size.unwrap_or(Range::UNKNOWN)
}
