//! Types of all parts of an expression.

use std::collections::HashMap;

use crate::ast::{Call, Element, Entry, Expr, Fold, Id, Literal, Node, Select, Struct, operator};
use crate::functions::{Overload, overloads};
use crate::source::{Position, Source};
use crate::types::{ANY_OBJECT, Bindings, JSON_PATCH, Type};

/// The start of the names of functions for patches.
const PATCH_FUNCTIONS: &str = "jsonpatch.";

/// The message for an expression whose type has more parts than the limit.
const TOO_LARGE: &str = "the type of the expression has too many parts";

/// The results of type checking, indexed by expression id.
#[derive(Debug)]
pub(crate) struct Checked {
    types: Vec<Option<Type>>,
    overloads: Vec<Vec<&'static Overload>>,
    qualified: Vec<Option<Box<str>>>,
    /// The names of the variables that the expression uses.
    pub(crate) used: Vec<String>,
}

impl Checked {
    pub(crate) fn type_of(&self, expr: &Expr) -> &Type {
        self.types.get(expr.id).and_then(Option::as_ref).unwrap_or(&Type::Dyn)
    }

    pub(crate) fn overloads(&self, expr: &Expr) -> &[&'static Overload] {
        self.overloads.get(expr.id).map_or(&[], Vec::as_slice)
    }

    /// Returns the dotted name that an expression resolved to. Calls of functions with such names, as in `sets.contains(..)`,
    /// have no target.
    pub(crate) fn qualified(&self, expr: &Expr) -> Option<&str> {
        self.qualified.get(expr.id)?.as_deref()
    }

    fn keep_overloads(&mut self, expr: &Expr, overloads: Vec<&'static Overload>) {
        if let Some(place) = self.overloads.get_mut(expr.id) {
            *place = overloads;
        }
    }

    fn keep_qualified(&mut self, expr: &Expr, name: &str) {
        if let Some(place) = self.qualified.get_mut(expr.id) {
            *place = Some(name.into());
        }
    }
}

impl std::fmt::Debug for Overload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

/// Infers the types of `expr`, whose free names are `variables`, and which can construct `objects`. Reports problems to
/// `source`.
pub(crate) fn check(
    expr: &Expr,
    ids: Id,
    (variables, objects): (&HashMap<String, Type>, &HashMap<String, Type>),
    source: &mut Source,
) -> Checked {
    let mut checker = Checker {
        source,
        variables,
        objects,
        locals: Vec::new(),
        bindings: Bindings::default(),
        checked: Checked {
            types: vec![None; ids],
            overloads: vec![Vec::new(); ids],
            qualified: vec![None; ids],
            used: Vec::new(),
        },
    };
    checker.expr(expr);
    let Checker {
        source,
        mut bindings,
        mut checked,
        ..
    } = checker;
    for ty in checked.types.iter_mut().flatten() {
        *ty = bindings.resolve(ty, true);
    }
    if bindings.is_exhausted() {
        source.report(expr.at, TOO_LARGE.to_owned());
    }
    checked
}

struct Checker<'s> {
    source: &'s mut Source,
    variables: &'s HashMap<String, Type>,
    objects: &'s HashMap<String, Type>,
    locals: Vec<(String, Type)>,
    bindings: Bindings,
    checked: Checked,
}

impl Checker<'_> {
    fn expr(&mut self, expr: &Expr) -> Type {
        let ty = match &expr.node {
            Node::Literal(literal) => literal_type(literal),
            Node::Ident(name) => self.ident(expr, name),
            Node::Select(select) => self.select(expr, select),
            Node::Call(call) => self.call(expr, call),
            Node::List(elements) => self.list(elements),
            Node::Map(entries) => self.map(entries),
            Node::Struct(value) => self.object(expr, value),
            Node::Fold(fold) => self.fold(fold),
            Node::Broken => Type::Error,
        };
        let ty = match self.bindings.is_too_large(&ty) {
            true if self.bindings.is_exhausted() => Type::Error,
            true => {
                self.source.report(expr.at, TOO_LARGE.to_owned());
                Type::Error
            }
            false => ty,
        };
        if let Some(place) = self.checked.types.get_mut(expr.id) {
            *place = Some(ty.clone());
        }
        ty
    }

    fn known(&mut self, name: &str) -> Option<Type> {
        let name = name.strip_prefix('.').unwrap_or(name);
        if let Some((_, ty)) = self.locals.iter().rev().find(|(local, _)| local == name) {
            return Some(ty.clone());
        }
        if let Some(ty) = self.variables.get(name) {
            if !self.checked.used.iter().any(|used| used == name) {
                self.checked.used.push(name.to_owned());
            }
            return Some(ty.clone());
        }
        Type::named(name).map(|ty| Type::Type(std::sync::Arc::new(ty)))
    }

    fn ident(&mut self, expr: &Expr, name: &str) -> Type {
        self.known(name).unwrap_or_else(|| {
            self.undeclared(expr.at, name);
            Type::Error
        })
    }

    fn undeclared(&mut self, at: Position, name: &str) {
        self.source
            .report(at, format!("undeclared reference to '{name}' (in container '')"));
    }

    fn select(&mut self, expr: &Expr, select: &Select) -> Type {
        if !select.is_test
            && let Some(name) = expr.qualified_name()
            && let Some(ty) = self.known(&name)
        {
            self.checked.keep_qualified(expr, &name);
            return ty;
        }
        let ty = self.field(expr.at, &select.operand, &select.field, false);
        if select.is_test {
            Type::Bool
        } else {
            self.bindings.resolve(&ty, false)
        }
    }

    fn field(&mut self, at: Position, operand: &Expr, field: &str, is_optional: bool) -> Type {
        let operand = self.expr(operand);
        let operand = self.bindings.resolve(&operand, false);
        let (target, was_optional) = operand.unwrapped();
        let found = match target {
            Type::Map(_, value) => (**value).clone(),
            Type::Struct(object) if self.is_any_object(&object.name) => Type::Dyn,
            Type::Struct(object) => object.fields.get(field).cloned().unwrap_or_else(|| {
                self.source.report(at, format!("undefined field '{field}'"));
                Type::Error
            }),
            Type::Param(_) => {
                self.bindings.fits(&Type::Dyn, target);
                Type::Dyn
            }
            // kube-apiserver declares these as objects, and does not find their fields.
            Type::Library(name) => {
                self.source
                    .report(at, format!("unexpected failed resolution of '{name}'"));
                Type::Error
            }
            other => {
                if !other.is_dyn_or_error() {
                    self.source
                        .report(at, format!("type '{other}' does not support field selection"));
                }
                Type::Dyn
            }
        };
        if was_optional || is_optional {
            Type::optional(found)
        } else {
            found
        }
    }

    fn call(&mut self, expr: &Expr, call: &Call) -> Type {
        if call.function == operator::OPTIONAL_SELECT
            && let [operand, field] = call.args.as_slice()
        {
            let Node::Literal(Literal::String(name)) = &field.node else {
                return Type::Error;
            };
            let ty = self.field(expr.at, operand, name, true);
            return self.bindings.resolve(&ty, false);
        }
        let mut args: Vec<Type> = call.args.iter().map(|arg| self.expr(arg)).collect();
        let Some(target) = &call.target else {
            return match self.overloads(&call.function) {
                Some(overloads) => self.resolve(expr, &call.function, overloads, &call.args, args, false),
                None => {
                    self.undeclared(expr.at, &call.function);
                    Type::Error
                }
            };
        };
        if let Some(prefix) = target.qualified_name() {
            let name = format!("{prefix}.{}", call.function);
            if let Some(overloads) = self.overloads(&name) {
                self.checked.keep_qualified(expr, &name);
                return self.resolve(expr, &name, overloads, &call.args, args, false);
            }
        }
        args.insert(0, self.expr(target));
        match self.overloads(&call.function) {
            Some(overloads) => self.resolve(expr, &call.function, overloads, &call.args, args, true),
            None => {
                self.undeclared(expr.at, &call.function);
                Type::Error
            }
        }
    }

    /// Returns the overloads of the function called `name`; `None` if expressions cannot call it here. Functions for patches
    /// exist only where expressions create patches.
    fn overloads(&self, name: &str) -> Option<&'static [Overload]> {
        let is_for_patches = name.trim_start_matches('.').starts_with(PATCH_FUNCTIONS);
        if is_for_patches && !self.objects.contains_key(JSON_PATCH) {
            return None;
        }
        overloads(name)
    }

    fn resolve(
        &mut self,
        expr: &Expr,
        name: &str,
        overloads: &'static [Overload],
        exprs: &[Expr],
        mut args: Vec<Type>,
        is_member: bool,
    ) -> Type {
        if name == operator::AND || name == operator::OR {
            return self.logical(expr, overloads, exprs, &args);
        }
        let mut result: Option<Type> = None;
        let mut fitting = Vec::new();
        for overload in overloads {
            if overload.is_member != is_member || overload.args.len() != args.len() {
                continue;
            }
            let first = self.bindings.open_many(overload.params);
            let wanted: Vec<Type> = overload.args.iter().map(|ty| shifted(ty, first)).collect();
            if !self.bindings.try_all(args.iter().zip(&wanted)) {
                continue;
            }
            fitting.push(overload);
            let found = self.bindings.resolve(&shifted(&overload.result, first), false);
            result = Some(match result {
                None => found,
                Some(known) if known == Type::Dyn || known == found => known,
                Some(_) => Type::Dyn,
            });
        }
        if let Some(result) = result {
            self.checked.keep_overloads(expr, fitting);
            return result;
        }
        for arg in &mut args {
            *arg = self.bindings.resolve(arg, true);
        }
        let mut shown = args.iter().map(Type::to_string);
        let target = if is_member {
            shown.next().map(|target| target + ".")
        } else {
            None
        };
        let listed: Vec<String> = shown.collect();
        let signature = format!("{}({})", target.unwrap_or_default(), listed.join(", "));
        self.source.report(
            expr.at,
            format!("found no matching overload for '{name}' applied to '{signature}'"),
        );
        Type::Error
    }

    fn logical(&mut self, expr: &Expr, overloads: &'static [Overload], exprs: &[Expr], args: &[Type]) -> Type {
        let mut ty = Type::Bool;
        for (arg, found) in exprs.iter().zip(args) {
            if !self.bindings.fits(found, &Type::Bool) {
                self.mismatch(arg.at, &Type::Bool, found);
                ty = Type::Error;
            }
        }
        self.checked.keep_overloads(expr, overloads.iter().collect());
        ty
    }

    fn mismatch(&mut self, at: Position, expected: &Type, found: &Type) {
        self.source
            .report(at, format!("expected type '{expected}' but found '{found}'"));
    }

    /// Infers the type of an element or field; unwraps it if the part is optional.
    fn part(&mut self, expr: &Expr, is_optional: bool) -> Type {
        let ty = self.expr(expr);
        if !is_optional {
            return ty;
        }
        let (inner, was_optional) = ty.unwrapped();
        if !was_optional && *inner != Type::Dyn {
            self.mismatch(expr.at, &Type::optional(inner.clone()), inner);
        }
        inner.clone()
    }

    /// Returns the more general of two types, for values that can be of either.
    fn joined(&mut self, known: Option<Type>, found: Type) -> Type {
        let Some(known) = known else { return found };
        match self.bindings.fits(&known, &found) {
            true if crate::types::is_at_most_as_specific(&known, &found) => known,
            true => found,
            false => Type::Dyn,
        }
    }

    fn list(&mut self, elements: &[Element]) -> Type {
        let mut ty = None;
        for element in elements {
            let found = self.part(&element.value, element.is_optional);
            ty = Some(self.joined(ty, found));
        }
        Type::list(ty.unwrap_or_else(|| self.bindings.open()))
    }

    fn map(&mut self, entries: &[Entry]) -> Type {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            let found = self.expr(&entry.key);
            keys = Some(self.joined(keys, found));
            let found = self.part(&entry.value, entry.is_optional);
            values = Some(self.joined(values, found));
        }
        let keys = keys.unwrap_or_else(|| self.bindings.open());
        let values = values.unwrap_or_else(|| self.bindings.open());
        Type::Map(keys.into(), values.into())
    }

    fn object(&mut self, expr: &Expr, value: &Struct) -> Type {
        let name = value.name.trim_start_matches('.');
        if self.is_any_object(name) {
            for field in &value.fields {
                self.part(&field.value, field.is_optional);
            }
            return Type::object(name, std::collections::BTreeMap::new());
        }
        let declared = self.objects.get(name).cloned();
        let known = declared.as_ref().and_then(|ty| match ty {
            Type::Struct(object) => Some(object.clone()),
            _ => None,
        });
        let Some(known) = known else {
            self.undeclared(expr.at, &value.name);
            return Type::Error;
        };
        for field in &value.fields {
            let found = self.part(&field.value, field.is_optional);
            match known.fields.get(&field.name) {
                None => self
                    .source
                    .report(field.at, format!("undefined field '{}'", field.name)),
                Some(wanted) if self.bindings.fits(wanted, &found) => {}
                Some(wanted) => self.source.report(
                    field.at,
                    format!(
                        "expected type of field '{}' is '{wanted}' but provided type is '{found}'",
                        field.name
                    ),
                ),
            }
        }
        declared.unwrap_or(Type::Error)
    }

    /// True for `Object`, `Object.spec` and so on: parts of an object that a mutation creates, whose fields have no schema
    /// here.
    fn is_any_object(&self, name: &str) -> bool {
        let first = name.split('.').next();
        first == Some(ANY_OBJECT) && self.objects.contains_key(ANY_OBJECT)
    }

    fn fold(&mut self, fold: &Fold) -> Type {
        let range = self.expr(&fold.range);
        let accumulated = self.expr(&fold.start);
        let range = self.bindings.resolve(&range, false);
        let (first, second) = match &range {
            Type::List(element) if fold.second.is_some() => (Type::Int, (**element).clone()),
            Type::List(element) => ((**element).clone(), Type::Dyn),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Param(_) => {
                self.bindings.fits(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                self.source.report(
                    fold.range.at,
                    format!(
                        "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                    ),
                );
                (Type::Error, Type::Error)
            }
        };
        let outer = self.locals.len();
        self.locals.push((fold.accumulator.clone(), accumulated.clone()));
        let inner = self.locals.len();
        self.locals.push((fold.variable.clone(), first));
        if let Some(name) = &fold.second {
            self.locals.push((name.clone(), second));
        }
        for (part, wanted) in [(&fold.condition, &Type::Bool), (&fold.step, &accumulated)] {
            let found = self.expr(part);
            if !self.bindings.fits(wanted, &found) {
                let wanted = self.bindings.resolve(wanted, false);
                self.mismatch(part.at, &wanted, &found);
            }
        }
        self.locals.truncate(inner);
        let result = self.expr(&fold.result);
        self.locals.truncate(outer);
        self.bindings.resolve(&result, false)
    }
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}

/// Renumbers the type parameters of a signature to start at `first`.
fn shifted(ty: &Type, first: u32) -> Type {
    match ty {
        Type::Param(number) => Type::Param(first + number),
        Type::List(inner) => Type::list(shifted(inner, first)),
        Type::Optional(inner) => Type::optional(shifted(inner, first)),
        Type::Type(inner) => Type::Type(shifted(inner, first).into()),
        Type::Map(key, value) => Type::Map(shifted(key, first).into(), shifted(value, first).into()),
        other => other.clone(),
    }
}
