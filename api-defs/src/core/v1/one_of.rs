//! Structs of which one member may be given.

use planesmith_machinery::field_error::FieldErrors;

/// Looks at the members of such a struct in turn: the first that is given is checked, further ones are refused.
#[derive(Debug)]
pub(crate) struct OneOf {
    complaint: &'static str,
    found: bool,
}

impl OneOf {
    /// Refuses further members in these words.
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

    /// Looks at the member `field`.
    pub(crate) fn member<T>(
        &mut self,
        field: &str,
        member: Option<&T>,
        errors: &mut FieldErrors,
        check: impl FnOnce(&T, &mut FieldErrors),
    ) {
        self.member_called((field, field), member, errors, check);
    }

    /// As `member`, for the few that clients know under one name when refused and another when checked.
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
