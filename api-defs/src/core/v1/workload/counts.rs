//! Numbers of pods and seconds in the specs and statuses of controllers.

use planesmith_machinery::field_error::FieldErrors;

/// A number that may be absent.
pub(crate) trait Count {
    /// Returns the number; `None` when it is absent.
    fn number(self) -> Option<i64>;
}

impl Count for i32 {
    fn number(self) -> Option<i64> {
        Some(i64::from(self))
    }
}

impl Count for i64 {
    fn number(self) -> Option<i64> {
        Some(self)
    }
}

impl Count for Option<i32> {
    fn number(self) -> Option<i64> {
        self.map(i64::from)
    }
}

impl Count for Option<i64> {
    fn number(self) -> Option<i64> {
        self
    }
}

/// Reports a negative number.
pub(crate) fn check_from_zero(field: &str, count: impl Count, errors: &mut FieldErrors) {
    if let Some(number @ ..0) = count.number() {
        errors.invalid(field, number, "must be greater than or equal to 0");
    }
}

/// Reports a part that is larger than the whole; `name` is the name of the whole in the message.
pub(crate) fn check_at_most(field: &str, part: i32, (whole, name): (i32, &str), errors: &mut FieldErrors) {
    if part > whole {
        errors.invalid(field, part, format!("cannot be greater than {name}"));
    }
}

/// Reports a decreased number of name collisions, which would repeat names.
pub(crate) fn check_collisions(new: Option<i32>, old: Option<i32>, errors: &mut FieldErrors) {
    let Some(old) = old else { return };
    if new.is_none_or(|new| new < old) {
        errors.invalid("collisionCount", new.unwrap_or(0), "cannot be decremented");
    }
}
