//! Unification of types: compatibility, and bindings of type parameters.

use std::sync::Arc;

use super::Type;

/// The maximum number of parts of a type. Types share their parts, so that a short expression can have a type that is too large
/// to enumerate; real expressions stay far below this limit.
const MAX_PARTS: usize = 2_000;

/// The maximum number of type parts visited before an expression is refused.
const MAX_STEPS: u32 = 5_000_000;

/// The bindings of type parameters.
#[derive(Clone, Debug)]
pub(crate) struct Bindings {
    /// The bound type, by parameter number.
    bound: Vec<Option<Type>>,
    /// Previous bindings that changed since the last successful match, for rollback.
    replaced: Vec<(u32, Option<Type>)>,
    steps_left: u32,
}

impl Default for Bindings {
    fn default() -> Self {
        Self {
            bound: Vec::new(),
            replaced: Vec::new(),
            steps_left: MAX_STEPS,
        }
    }
}

impl Bindings {
    /// Creates an unbound type parameter.
    pub(crate) fn open(&mut self) -> Type {
        Type::Param(self.open_many(1))
    }

    /// Creates `count` unbound type parameters; returns the number of the first.
    pub(crate) fn open_many(&mut self, count: u32) -> u32 {
        let first = u32::try_from(self.bound.len()).unwrap_or(u32::MAX);
        self.bound.extend((0..count).map(|_| None));
        first
    }

    fn known(&self, number: u32) -> Option<&Type> {
        self.bound.get(number as usize).and_then(Option::as_ref)
    }

    fn bind(&mut self, number: u32, ty: Type) {
        if let Some(place) = self.bound.get_mut(number as usize) {
            self.replaced.push((number, place.replace(ty)));
        }
    }

    /// Takes one step; returns false if the step limit is reached.
    fn step(&mut self) -> bool {
        self.steps_left = self.steps_left.saturating_sub(1);
        !self.is_exhausted()
    }

    /// True if the step limit is reached; from then on nothing matches.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps_left == 0
    }

    /// True if a type has more than [`MAX_PARTS`] parts.
    pub(crate) fn is_too_large(&mut self, ty: &Type) -> bool {
        let mut left = MAX_PARTS;
        !self.fits_into(ty, &mut left)
    }

    fn fits_into(&mut self, ty: &Type, left: &mut usize) -> bool {
        if *left == 0 || !self.step() {
            return false;
        }
        *left -= 1;
        match ty {
            Type::Param(number) => match self.known(*number).cloned() {
                Some(bound) => self.fits_into(&bound, left),
                None => true,
            },
            Type::List(inner) | Type::Optional(inner) | Type::Type(inner) => self.fits_into(inner, left),
            Type::Map(key, value) => self.fits_into(key, left) && self.fits_into(value, left),
            _ => true,
        }
    }

    /// Unifies two types; returns false and binds nothing if they do not match.
    pub(crate) fn fits(&mut self, one: &Type, other: &Type) -> bool {
        self.try_all([(one, other)].into_iter())
    }

    /// Unifies all pairs; returns false and binds nothing if one of them does not match.
    pub(crate) fn try_all<'t>(&mut self, mut pairs: impl Iterator<Item = (&'t Type, &'t Type)>) -> bool {
        self.replaced.clear();
        let fits = pairs.all(|(one, other)| self.assign(one, other));
        if !fits {
            while let Some((number, before)) = self.replaced.pop() {
                if let Some(place) = self.bound.get_mut(number as usize) {
                    *place = before;
                }
            }
        }
        fits
    }

    fn assign(&mut self, one: &Type, other: &Type) -> bool {
        if !self.step() {
            return false;
        }
        if let Type::Param(number) = other {
            match self.substitutes(one, *number) {
                Some(true) => return true,
                Some(false) if self.known(*number).is_some() => return false,
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

    /// Checks if the type parameter `number` can be `other`. `Some(false)`: its current binding does not match. `None`: it
    /// would contain itself.
    fn substitutes(&mut self, other: &Type, number: u32) -> Option<bool> {
        if *other == Type::Param(number) {
            return Some(true);
        }
        let Some(known) = self.known(number).cloned() else {
            if self.is_free_of(number, other) {
                self.bind(number, other.clone());
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
            self.bind(number, general);
        }
        Some(true)
    }

    fn is_free_of(&mut self, number: u32, within: &Type) -> bool {
        if !self.step() {
            return false;
        }
        match within {
            Type::Param(other) if *other == number => false,
            Type::Param(other) => match self.known(*other).cloned() {
                Some(bound) => self.is_free_of(number, &bound),
                None => true,
            },
            Type::List(inner) | Type::Optional(inner) | Type::Type(inner) => self.is_free_of(number, inner),
            Type::Map(key, value) => self.is_free_of(number, key) && self.is_free_of(number, value),
            _ => true,
        }
    }

    /// Substitutes all bindings in a type; unbound parameters become `dyn` if `closes`.
    pub(crate) fn resolve(&mut self, ty: &Type, closes: bool) -> Type {
        self.changed(ty, closes).unwrap_or_else(|| ty.clone())
    }

    /// Like [`Self::resolve`]; `None` if nothing changes, so that types keep sharing equal parts.
    fn changed(&mut self, ty: &Type, closes: bool) -> Option<Type> {
        if !self.step() {
            return Some(Type::Error);
        }
        match ty {
            Type::Param(number) => match self.known(*number).cloned() {
                Some(bound) => Some(self.resolve(&bound, closes)),
                None => closes.then_some(Type::Dyn),
            },
            Type::List(inner) => self.changed(inner, closes).map(Type::list),
            Type::Optional(inner) => self.changed(inner, closes).map(Type::optional),
            Type::Type(inner) => self.changed(inner, closes).map(|inner| Type::Type(Arc::new(inner))),
            Type::Map(key, value) => match (self.changed(key, closes), self.changed(value, closes)) {
                (None, None) => None,
                (changed_key, changed_value) => Some(Type::Map(
                    changed_key.map_or_else(|| Arc::clone(key), Arc::new),
                    changed_value.map_or_else(|| Arc::clone(value), Arc::new),
                )),
            },
            _ => None,
        }
    }
}

/// True if `one` is no more specific than `other`.
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
