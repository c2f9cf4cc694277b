//! Which types fit each other, and what types that were open turn out to be.

use std::collections::HashMap;
use std::sync::Arc;

use super::Type;

/// What open types turned out to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings {
    bound: HashMap<u32, Type>,
    next: u32,
}

impl Bindings {
    /// A type that is open.
    pub(crate) fn open(&mut self) -> Type {
        self.next += 1;
        Type::Param(self.next - 1)
    }

    /// `count` new open types; the number of the first.
    pub(crate) fn open_many(&mut self, count: u32) -> u32 {
        self.next += count;
        self.next - count
    }

    /// Whether both fit each other; only then something is bound.
    pub(crate) fn fits(&mut self, one: &Type, other: &Type) -> bool {
        self.try_all([(one, other)].into_iter())
    }

    /// Whether all pairs fit each other; only then something is bound.
    pub(crate) fn try_all<'t>(&mut self, mut pairs: impl Iterator<Item = (&'t Type, &'t Type)>) -> bool {
        let before = self.bound.clone();
        let fits = pairs.all(|(one, other)| self.assign(one, other));
        if !fits {
            self.bound = before;
        }
        fits
    }

    fn assign(&mut self, one: &Type, other: &Type) -> bool {
        if let Type::Param(number) = other {
            match self.substitutes(one, *number) {
                Some(true) => return true,
                Some(false) if self.bound.contains_key(number) => return false,
                _ => {}
            }
        }
        if let Type::Param(number) = one {
            return self.substitutes(other, *number) == Some(true);
        }
        match (one, other) {
            (one, other) if one.is_dyn_or_error() || other.is_dyn_or_error() => true,
            (Type::Null, other) | (other, Type::Null) => matches!(
                other,
                Type::Null | Type::Optional(_) | Type::Library(_) | Type::Struct(_) | Type::Duration | Type::Timestamp
            ),
            (Type::Type(_), Type::Type(_)) => true,
            (Type::List(one), Type::List(other)) | (Type::Optional(one), Type::Optional(other)) => {
                self.assign(one, other)
            }
            (Type::Map(key, value), Type::Map(other_key, other_value)) => {
                self.assign(key, other_key) && self.assign(value, other_value)
            }
            (one, other) => one == other,
        }
    }

    /// Whether the open type `number` can be `other`. `Some(false)`: what it is already does not fit; none: it would
    /// contain itself.
    fn substitutes(&mut self, other: &Type, number: u32) -> Option<bool> {
        if *other == Type::Param(number) {
            return Some(true);
        }
        let Some(known) = self.bound.get(&number).cloned() else {
            if self.is_free_of(number, other) {
                self.bound.insert(number, other.clone());
                return Some(true);
            }
            return None;
        };
        if *other == known {
            return Some(true);
        }
        if !self.assign(other, &known) {
            return Some(false);
        }
        let general = if is_at_most_as_specific(other, &known) {
            other.clone()
        } else {
            known
        };
        if self.is_free_of(number, &general) {
            self.bound.insert(number, general);
        }
        Some(true)
    }

    fn is_free_of(&self, number: u32, within: &Type) -> bool {
        match within {
            Type::Param(other) if *other == number => false,
            Type::Param(other) => self.bound.get(other).is_none_or(|bound| self.is_free_of(number, bound)),
            Type::List(inner) | Type::Optional(inner) | Type::Type(inner) => self.is_free_of(number, inner),
            Type::Map(key, value) => self.is_free_of(number, key) && self.is_free_of(number, value),
            _ => true,
        }
    }

    /// The type with what is known put in; what is still open becomes `dyn` with `closes`.
    pub(crate) fn resolve(&self, ty: &Type, closes: bool) -> Type {
        match ty {
            Type::Param(number) => match self.bound.get(number) {
                Some(bound) => self.resolve(bound, closes),
                None if closes => Type::Dyn,
                None => ty.clone(),
            },
            Type::List(inner) => Type::list(self.resolve(inner, closes)),
            Type::Optional(inner) => Type::optional(self.resolve(inner, closes)),
            Type::Type(inner) => Type::Type(Arc::new(self.resolve(inner, closes))),
            Type::Map(key, value) => Type::Map(
                Arc::new(self.resolve(key, closes)),
                Arc::new(self.resolve(value, closes)),
            ),
            other => other.clone(),
        }
    }
}

/// Whether `one` says no more than `other`.
pub(crate) fn is_at_most_as_specific(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Dyn | Type::Param(_), _) => true,
        (_, Type::Dyn | Type::Param(_)) => false,
        (Type::List(one), Type::List(other)) | (Type::Optional(one), Type::Optional(other)) => {
            is_at_most_as_specific(one, other)
        }
        (Type::Map(key, value), Type::Map(other_key, other_value)) => {
            is_at_most_as_specific(key, other_key) && is_at_most_as_specific(value, other_value)
        }
        (Type::Type(_), Type::Type(_)) => true,
        (one, other) => one == other,
    }
}
