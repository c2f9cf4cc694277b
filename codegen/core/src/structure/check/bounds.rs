//! Checks that declared constraints fit the field's type, each other and the default.

use proc_macro2::Span;

use super::super::attr::{Bounds, FieldAttrs, ListWord};
use super::super::model::RuleModel;
use crate::diagnostics::Diagnostics;
use crate::json;
use crate::keys::{Spanned, all_of};
use crate::type_ref::TypeRef;

/// Returns the constraints of a field, in the order in which they are checked at run time.
pub(super) fn rules(attrs: &FieldAttrs, shape: &TypeRef, diagnostics: &Diagnostics) -> Vec<RuleModel> {
    let mut rules = of_values(&attrs.bounds, shape, diagnostics);
    default(attrs, shape, diagnostics);
    rules.extend(attrs.unique.and_then(|span| unique(attrs, span, diagnostics)));
    rules.extend(attrs.immutable.map(|_| RuleModel::Immutable));
    rules
}

/// Returns the constraint of `unique`, by the list type and its keys.
fn unique(attrs: &FieldAttrs, span: Span, diagnostics: &Diagnostics) -> Option<RuleModel> {
    let keys = attrs.list_map_keys.as_ref().map_or(&[][..], |keys| &keys.value);
    match attrs.list_type.as_ref().map(|given| given.value) {
        Some(ListWord::Set) => Some(RuleModel::Unique(Vec::new())),
        Some(ListWord::Map) => Some(RuleModel::Unique(keys.iter().map(|key| key.value.clone()).collect())),
        // The parser has reported the invalid value.
        None if attrs.has_list_type => None,
        Some(ListWord::Atomic) | None => {
            let help = "add `list_type = set`, or `list_type = map` and `list_map_keys(...)`";
            diagnostics.report(span, "`unique` needs a list with identifiable elements", help);
            None
        }
    }
}

/// Returns the constraints of a field, or of its elements, given their shape.
fn of_values(bounds: &Bounds, shape: &TypeRef, diagnostics: &Diagnostics) -> Vec<RuleModel> {
    fitting(bounds, shape, diagnostics);
    ordered(&bounds.minimum, &bounds.maximum, ["minimum", "maximum"], diagnostics);
    ordered(
        &bounds.min_length,
        &bounds.max_length,
        ["min_length", "max_length"],
        diagnostics,
    );
    choices("one_of", bounds.one_of_literals(), diagnostics);
    choices("known", bounds.known_literals(), diagnostics);
    if let (Some(_), Some(known)) = (&bounds.one_of, &bounds.known) {
        let help = "`one_of` refuses other values, `known` only lists the usual ones; keep one";
        diagnostics.report(known.span, "`known` contradicts `one_of`", help);
    }
    pattern(bounds, diagnostics);
    let texts = |given: &[Spanned<String>]| {
        let texts = given.iter().map(|text| text.value.clone());
        (!given.is_empty()).then(|| texts.collect())
    };
    let rules = [
        texts(bounds.one_of_literals()).map(RuleModel::Enum),
        texts(bounds.known_literals()).map(RuleModel::KnownValues),
        bounds.minimum.as_ref().map(|number| RuleModel::Minimum(number.value)),
        bounds.maximum.as_ref().map(|number| RuleModel::Maximum(number.value)),
        bounds
            .min_length
            .as_ref()
            .map(|length| RuleModel::MinLength(length.value)),
        bounds
            .max_length
            .as_ref()
            .map(|length| RuleModel::MaxLength(length.value)),
        bounds
            .pattern
            .as_ref()
            .map(|pattern| RuleModel::Pattern(pattern.value.clone())),
        bounds
            .each
            .as_ref()
            .and_then(|each| of_elements(each, shape, diagnostics)),
    ];
    rules.into_iter().flatten().collect()
}

impl Bounds {
    /// Returns the texts of `one_of`; none without the key.
    fn one_of_literals(&self) -> &[Spanned<String>] {
        self.one_of.as_ref().map_or(&[], |given| &given.value)
    }

    /// Returns the texts of `known`; none without the key, or if it names a constant.
    fn known_literals(&self) -> &[Spanned<String>] {
        self.known.as_ref().map_or(&[], |given| given.value.literals())
    }
}

/// Returns the constraint of `each(...)`.
fn of_elements(each: &Spanned<Box<Bounds>>, shape: &TypeRef, diagnostics: &Diagnostics) -> Option<RuleModel> {
    let (TypeRef::List(inner) | TypeRef::Map(inner)) = shape.present() else {
        let problem = format_args!("`each` needs a list or a map; this field is {}", shape.noun());
        diagnostics.report(each.span, problem, "write what is in `each` without it");
        return None;
    };
    let rules = of_values(&each.value, inner, diagnostics);
    (!rules.is_empty()).then_some(RuleModel::Each(rules))
}

/// The types to which a constraint applies.
#[derive(Clone, Copy, PartialEq)]
enum Fits {
    Numbers,
    Texts,
    /// Strings, or the strings in a list or map.
    ManyTexts,
    Sized,
}

fn fitting(attrs: &Bounds, shape: &TypeRef, diagnostics: &Diagnostics) {
    let given = [
        ("one_of", attrs.one_of.as_ref().map(|given| given.span), Fits::Texts),
        ("known", attrs.known.as_ref().map(|given| given.span), Fits::ManyTexts),
        ("minimum", attrs.minimum.as_ref().map(|given| given.span), Fits::Numbers),
        ("maximum", attrs.maximum.as_ref().map(|given| given.span), Fits::Numbers),
        (
            "min_length",
            attrs.min_length.as_ref().map(|given| given.span),
            Fits::Sized,
        ),
        (
            "max_length",
            attrs.max_length.as_ref().map(|given| given.span),
            Fits::Sized,
        ),
        ("pattern", attrs.pattern.as_ref().map(|given| given.span), Fits::Texts),
    ];
    for (key, span, fits) in given {
        let Some(span) = span else { continue };
        let right = match shape.present() {
            TypeRef::Int32 | TypeRef::Int64 | TypeRef::Double => fits == Fits::Numbers,
            TypeRef::String => fits != Fits::Numbers,
            TypeRef::List(inner) | TypeRef::Map(inner) if fits == Fits::ManyTexts => {
                matches!(inner.present(), TypeRef::String | TypeRef::Named(_))
            }
            TypeRef::List(_) | TypeRef::Map(_) => fits == Fits::Sized,
            TypeRef::Bool => false,
            // The content of a named type is unknown here.
            TypeRef::Named(_) | TypeRef::Optional(_) | TypeRef::Other => true,
        };
        if !right {
            let wanted = match fits {
                Fits::Numbers => "a number",
                Fits::Texts => "text",
                Fits::ManyTexts => "text, or a list or a map of texts",
                Fits::Sized => "text, a list or a map",
            };
            let problem = format_args!("`{key}` needs {wanted}; this field is {}", shape.noun());
            diagnostics.report(span, problem, help(key, shape));
        }
    }
}

fn help(key: &str, shape: &TypeRef) -> &'static str {
    match (key, shape.present()) {
        ("minimum", TypeRef::String | TypeRef::List(_) | TypeRef::Map(_)) => "write `min_length` to bound the length",
        ("maximum", TypeRef::String | TypeRef::List(_) | TypeRef::Map(_)) => "write `max_length` to bound the length",
        ("min_length", TypeRef::Int32 | TypeRef::Int64 | TypeRef::Double) => "write `minimum` to bound the number",
        ("max_length", TypeRef::Int32 | TypeRef::Int64 | TypeRef::Double) => "write `maximum` to bound the number",
        ("one_of" | "pattern", TypeRef::List(_) | TypeRef::Map(_)) => {
            "write it in `each(...)` if it is about the elements"
        }
        _ => "remove it, or change the field's type",
    }
}

fn ordered<T: PartialOrd + std::fmt::Display>(
    low: &Option<Spanned<T>>,
    high: &Option<Spanned<T>>,
    keys: [&str; 2],
    diagnostics: &Diagnostics,
) {
    if let (Some(low), Some(high)) = (low, high)
        && low.value > high.value
    {
        let problem = format_args!("`{}` {} is below `{}` {}", keys[1], high.value, keys[0], low.value);
        diagnostics.report(high.span, problem, "no value would be accepted; swap or change them");
    }
}

fn choices(key: &str, texts: &[Spanned<String>], diagnostics: &Diagnostics) {
    for (index, text) in texts.iter().enumerate() {
        if texts[..index].iter().any(|other| other.value == text.value) {
            let problem = format_args!("\"{}\" is written twice in `{key}`", text.value);
            diagnostics.report(text.span, problem, "keep one of them");
        }
    }
}

fn pattern(attrs: &Bounds, diagnostics: &Diagnostics) {
    let Some(pattern) = &attrs.pattern else {
        return;
    };
    let Some(reason) = pattern_problem(&pattern.value) else {
        return;
    };
    let problem = format_args!("`{}` is not a regular expression: {reason}", pattern.value);
    diagnostics.report(
        pattern.span,
        problem,
        "write one that the `regex` crate and Go's RE2 read, such as \"^[a-z]+$\"",
    );
}

/// Returns the problem if a text is not a legal `pattern`.
#[must_use]
pub fn pattern_problem(pattern: &str) -> Option<String> {
    match regex_syntax::parse(pattern) {
        Ok(_) => None,
        Err(regex_syntax::Error::Parse(error)) => Some(error.kind().to_string()),
        Err(regex_syntax::Error::Translate(error)) => Some(error.kind().to_string()),
        Err(error) => Some(error.to_string()),
    }
}

/// Checks that the default has the field's type and satisfies the field's constraints.
fn default(attrs: &FieldAttrs, shape: &TypeRef, diagnostics: &Diagnostics) {
    let Some(default) = &attrs.default else {
        return;
    };
    let json = default.value.trim();
    if !is_of(json, shape) {
        let problem = format_args!("the default {json} does not fit; this field is {}", shape.noun());
        diagnostics.report(default.span, problem, "write a value of the field's type");
        return;
    }
    let refuse = |problem: String| {
        diagnostics.report(default.span, problem, "change the default or the constraint");
    };
    let bounds = &attrs.bounds;
    for (key, texts) in [("one_of", bounds.one_of_literals()), ("known", bounds.known_literals())] {
        if *shape.present() == TypeRef::String
            && !texts.is_empty()
            && !texts.iter().any(|text| json::string(&text.value) == json)
        {
            let known = all_of(texts.iter().map(|text| text.value.as_str()));
            refuse(format!("the default {json} is not in `{key}`: {known}"));
        }
    }
    if let Ok(number) = json.parse::<i64>() {
        if let Some(minimum) = attrs.bounds.minimum.as_ref().filter(|minimum| number < minimum.value) {
            refuse(format!("the default {number} is below `minimum` {}", minimum.value));
        }
        if let Some(maximum) = attrs.bounds.maximum.as_ref().filter(|maximum| number > maximum.value) {
            refuse(format!("the default {number} is above `maximum` {}", maximum.value));
        }
    }
    default_length(json, shape, attrs, default.span, diagnostics);
}

fn default_length(json: &str, shape: &TypeRef, attrs: &FieldAttrs, at: Span, diagnostics: &Diagnostics) {
    // The length of a text with escapes is not obvious; the server checks such defaults like any value.
    if *shape.present() != TypeRef::String || json.contains('\\') {
        return;
    }
    let length = json.chars().count().saturating_sub(2) as u64;
    if let Some(least) = attrs.bounds.min_length.as_ref().filter(|least| length < least.value) {
        let problem = format_args!("the default is shorter than `min_length` {}", least.value);
        diagnostics.report(at, problem, "change the default or the constraint");
    }
    if let Some(most) = attrs.bounds.max_length.as_ref().filter(|most| length > most.value) {
        let problem = format_args!("the default is longer than `max_length` {}", most.value);
        diagnostics.report(at, problem, "change the default or the constraint");
    }
}

/// True if a JSON value can have a shape, judged by its first character and its range.
fn is_of(json: &str, shape: &TypeRef) -> bool {
    match shape.present() {
        TypeRef::Bool => matches!(json, "true" | "false"),
        TypeRef::Int32 => json.parse::<i32>().is_ok(),
        TypeRef::Int64 => json.parse::<i64>().is_ok(),
        TypeRef::Double => json.parse::<f64>().is_ok(),
        TypeRef::String => json.starts_with('"'),
        TypeRef::List(_) => json.starts_with('['),
        TypeRef::Map(_) => json.starts_with('{'),
        TypeRef::Named(_) | TypeRef::Optional(_) | TypeRef::Other => true,
    }
}
