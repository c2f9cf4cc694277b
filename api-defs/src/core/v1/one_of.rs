//! Structs of which only one member may be set.

use planesmith_machinery::field_error::FieldErrors;

/// Checks the members of such a struct one by one: the first that is set is validated, further ones are refused.
#[derive(Debug)]
pub(crate) struct OneOf {
    complaint: &'static str,
    found: bool,
}

impl OneOf {
    /// Sets the error message for further members.
    pub(crate) fn or(complaint: &'static str) -> Self {
        Self {
            complaint,
            found: false,
        }
    }

    /// True if a member is set.
    pub(crate) fn found(&self) -> bool {
        self.found
    }

    /// Counts a member that is never refused.
    pub(crate) fn count<T>(&mut self, member: Option<&T>) {
        self.found |= member.is_some();
    }

    /// Checks the member `field`.
    pub(crate) fn member<T>(
        &mut self,
        field: &str,
        member: Option<&T>,
        errors: &mut FieldErrors,
        check: impl FnOnce(&T, &mut FieldErrors),
    ) {
        self.member_called((field, field), member, errors, check);
    }

    /// Checks a member like `member`, for members whose path differs between refusal and validation.
    pub(crate) fn member_called<T>(
        &mut self,
        (refused, checked): (&str, &str),
        member: Option<&T>,
        errors: &mut FieldErrors,
        check: impl FnOnce(&T, &mut FieldErrors),
    ) {
        let Some(member) = member else { return };
        if std::mem::replace(&mut self.found, true) {
            errors.forbidden(refused, self.complaint);
        } else {
            check(member, &mut errors.at(checked));
        }
    }
}
