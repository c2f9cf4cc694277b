//! The functions available to expressions, with their signatures.
//!
//! A function also has a price (`Price::for_overload`) and an estimate (`cost/calls`); without them it counts as 1.

#![expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "all functions have one signature, so that a table can hold them"
)]

mod addresses;
mod authorizer;
pub(crate) mod clauses;
mod conversions;
pub(crate) mod format;
mod formats;
mod lists;
mod operators;
mod optionals;
mod quantities;
mod regexes;
mod semver;
mod strings;
mod times;
mod urls;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use planesmith_machinery::go_pattern::Pattern;

use crate::ast::operator;
use crate::authorization::Authorizer;
use crate::price::Price;
use crate::types::Type;
use crate::value::{Effort, Evaluated, Fault, List, Value};

/// The implementation of a function, called with arguments that match its signature.
pub(crate) type Run = for<'d> fn(&mut Context<'_>, Vec<Value<'d>>) -> Evaluated<'d>;

/// State shared by all function calls of one evaluation.
#[derive(Debug)]
pub(crate) struct Context<'p> {
    /// Decides about the checks of the expression; `None` if it has no authorizer.
    pub(crate) authorizer: Option<&'p dyn Authorizer>,
    /// Patterns that are literals of the expression.
    pub(crate) patterns: &'p HashMap<String, Pattern>,
    /// Patterns compiled during evaluation.
    pub(crate) compiled: HashMap<String, Pattern>,
    /// The remaining cost budget.
    pub(crate) budget: u64,
    /// The remaining memory and matching budget.
    pub(crate) effort: Effort,
}

impl Context<'_> {
    /// Returns all elements of a list.
    fn elements<'d>(&mut self, list: &List<'d>) -> Result<Vec<Value<'d>>, Fault> {
        self.effort.takes_elements(list.len())?;
        list.elements()
    }
}

/// One overload of a function.
pub(crate) struct Overload {
    /// The identifier in the cost tables.
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    /// True if called as `args[0].name(..)`.
    pub(crate) is_member: bool,
    pub(crate) args: Vec<Type>,
    pub(crate) result: Type,
    /// The number of type parameters: `Type::Param` below that number.
    pub(crate) params: u32,
    pub(crate) run: Run,
    pub(crate) price: Price,
}

/// A signature such as `charAt: string.(int) string`, the id, and the function.
type Entry = (&'static str, &'static str, Run);

const TABLES: [&[Entry]; 13] = [
    operators::FUNCTIONS,
    conversions::FUNCTIONS,
    strings::FUNCTIONS,
    regexes::FUNCTIONS,
    lists::FUNCTIONS,
    optionals::FUNCTIONS,
    times::FUNCTIONS,
    urls::FUNCTIONS,
    addresses::FUNCTIONS,
    quantities::FUNCTIONS,
    semver::FUNCTIONS,
    formats::FUNCTIONS,
    authorizer::FUNCTIONS,
];

static OVERLOADS: LazyLock<HashMap<&'static str, Vec<Overload>>> = LazyLock::new(|| {
    let mut overloads: HashMap<&str, Vec<Overload>> = HashMap::new();
    for (signature, id, run) in TABLES.into_iter().flatten() {
        // A test parses every signature.
        if let Some(overload) = read(signature, id, *run) {
            overloads.entry(overload.name).or_default().push(overload);
        }
    }
    overloads
});

/// Returns all overloads of the function called `name`; `None` if it does not exist.
pub(crate) fn overloads(name: &str) -> Option<&'static [Overload]> {
    OVERLOADS.get(name.strip_prefix('.').unwrap_or(name)).map(Vec::as_slice)
}

/// True for the functions that convert values to the type after which they are named.
pub(crate) fn is_conversion(name: &str) -> bool {
    let mut conversions = conversions::FUNCTIONS.iter();
    conversions.any(|(signature, ..)| signature.strip_prefix(name).is_some_and(|rest| rest.starts_with(": ")))
}

/// Returns the identifiers of all overloads.
#[cfg(test)]
pub(crate) fn ids() -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().flatten().map(|(_, id, _)| *id)
}

/// Parses a signature; `None` if it is malformed.
fn read(signature: &'static str, id: &'static str, run: Run) -> Option<Overload> {
    let (name, rest) = signature.split_once(": ")?;
    let mut reader = Reader { rest, params: 0 };
    let mut args = Vec::new();
    let is_member = !reader.rest.starts_with('(');
    if is_member {
        args.push(reader.ty()?);
        reader.pass(".")?;
    }
    reader.pass("(")?;
    args.extend(reader.types()?);
    reader.pass(" ")?;
    let result = reader.ty()?;
    reader.rest.is_empty().then_some(Overload {
        id,
        name,
        is_member,
        args,
        result,
        params: reader.params,
        run,
        price: Price::for_overload(name, id),
    })
}

struct Reader {
    rest: &'static str,
    params: u32,
}

impl Reader {
    fn pass(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    /// Parses types up to the closing parenthesis.
    fn types(&mut self) -> Option<Vec<Type>> {
        let mut types = Vec::new();
        while self.pass(")").is_none() {
            if !types.is_empty() {
                self.pass(", ")?;
            }
            types.push(self.ty()?);
        }
        Some(types)
    }

    fn ty(&mut self) -> Option<Type> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        if matches!(name, "list" | "map" | "optional" | "type") {
            self.pass("(")?;
            let inner = self.types()?;
            return Some(match (name, inner.as_slice()) {
                ("list", [element]) => Type::list(element.clone()),
                ("map", [key, value]) => Type::Map(Arc::new(key.clone()), Arc::new(value.clone())),
                ("optional", [value]) => Type::optional(value.clone()),
                ("type", [of]) => Type::Type(Arc::new(of.clone())),
                _ => return None,
            });
        }
        Some(match name {
            "dyn" => Type::Dyn,
            "null" => Type::Null,
            "duration" => Type::Duration,
            "timestamp" => Type::Timestamp,
            "url" => Type::Library("kubernetes.URL"),
            "ip" => Type::Library("net.IP"),
            "cidr" => Type::Library("net.CIDR"),
            "quantity" => Type::Library("kubernetes.Quantity"),
            "semver" => Type::Library("kubernetes.Semver"),
            "format" => Type::Library("kubernetes.NamedFormat"),
            "authorizer" => Type::Library("kubernetes.authorization.Authorizer"),
            "path_check" => Type::Library("kubernetes.authorization.PathCheck"),
            "group_check" => Type::Library("kubernetes.authorization.GroupCheck"),
            "resource_check" => Type::Library("kubernetes.authorization.ResourceCheck"),
            "decision" => Type::Library("kubernetes.authorization.Decision"),
            "A" | "B" => {
                let number = u32::from(name == "B");
                self.params = self.params.max(number + 1);
                Type::Param(number)
            }
            other => Type::named(other)?,
        })
    }
}

/// Returns the fault for arguments that match no overload.
fn no_such_overload(function: &str, args: &[Value<'_>]) -> Fault {
    let types: Vec<&str> = args.iter().map(Value::type_name).collect();
    Fault::new(format!("no such overload: {function}({})", types.join(", ")))
}

/// Calls a function whose overloads the arguments do not match: indexes take values of all types, and durations have a
/// negative.
pub(crate) fn without_overload<'d>(context: &mut Context<'_>, function: &str, args: Vec<Value<'d>>) -> Evaluated<'d> {
    match function {
        operator::INDEX => operators::index(context, args),
        operator::OPTIONAL_INDEX => operators::optional_index(context, args),
        operator::NEGATE => operators::negate(context, args),
        _ => Err(unsupported(context, function, &args)),
    }
}

/// Like [`no_such_overload`]; functions that have one implementation for all types do not name the types.
fn unsupported(context: &Context<'_>, function: &str, args: &[Value<'_>]) -> Fault {
    let is_literal =
        |pattern: &Value<'_>| matches!(pattern, Value::String(text) if context.patterns.contains_key(&**text));
    match (function, args) {
        ("!_" | "@in" | "contains" | "endsWith" | "startsWith", _) => unfit(),
        ("matches" | "find" | "findAll", [_, pattern, ..]) if is_literal(pattern) => unfit(),
        (_, [operand, ..]) => match operators::is_operand(function, operand) {
            Some(true) => unfit(),
            Some(false) => Fault::new(format!("no such overload: {function}")),
            None => no_such_overload(function, args),
        },
        _ => no_such_overload(function, args),
    }
}

/// Returns the fault for an argument of an unexpected type.
pub(crate) fn unfit() -> Fault {
    Fault::new("no such overload")
}

fn text_argument<'a>(args: &'a [Value<'_>], index: usize) -> Result<&'a str, Fault> {
    match args.get(index) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(unfit()),
    }
}

fn int(args: &[Value<'_>], index: usize) -> Result<i64, Fault> {
    match args.get(index) {
        Some(Value::Int(number)) => Ok(*number),
        _ => Err(unfit()),
    }
}

/// A count as an `int`.
fn count(number: usize) -> Value<'static> {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signature_reads() {
        for (signature, id, run) in TABLES.into_iter().flatten() {
            assert!(read(signature, id, *run).is_some(), "{signature}");
        }
        for wrong in [
            "f (int) int",
            "f: (integer) int",
            "f: (int int",
            "f: (map(int)) int",
            "f: (int) int x",
            "f: list.(int) int",
        ] {
            assert!(read(wrong, "f", TABLES[0][0].2).is_none(), "{wrong}");
        }
        let find_all = &overloads("findAll").unwrap()[1];
        assert_eq!(find_all.args, [Type::String, Type::String, Type::Int]);
        assert_eq!(find_all.result, Type::list(Type::String));
        assert!(find_all.is_member);
        assert!(!overloads("sets.contains").unwrap()[0].is_member);
    }
}
