//! Fields that an applier wants to be something else than another manager does.

use std::fmt;

use planesmith_machinery::status::{ApiError, Cause};

use super::ApplyError;
use crate::managers::{Operation, identifier};

/// A field that another manager has set to something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The other manager.
    manager: String,
    subresource: String,
    /// The version in which the other manager named its fields, if it did not apply them.
    updated_in: Option<String>,
    /// The field, e.g. `.spec.replicas`.
    pub field: String,
}

impl Conflict {
    pub(super) fn new(
        manager: &str,
        operation: Operation,
        api_version: &str,
        subresource: &str,
        field: String,
    ) -> Self {
        Self {
            manager: manager.to_owned(),
            subresource: subresource.to_owned(),
            updated_in: (operation == Operation::Update).then(|| api_version.to_owned()),
            field,
        }
    }

    /// The sort key of conflicts, which identifies the manager.
    pub(super) fn order(&self) -> Vec<u8> {
        let (operation, version) = match &self.updated_in {
            Some(version) => (Operation::Update, version.as_str()),
            None => (Operation::Apply, ""),
        };
        identifier(&self.manager, operation, version, &self.subresource)
    }

    fn owner(&self) -> Owner<'_> {
        Owner(self)
    }
}

/// The manager of a conflict, as messages name it.
struct Owner<'a>(&'a Conflict);

impl fmt::Display for Owner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quote = planesmith_wire::go_format::quote;
        f.write_str(&quote(&self.0.manager))?;
        if !self.0.subresource.is_empty() {
            write!(f, " with subresource {}", quote(&self.0.subresource))?;
        }
        if let Some(version) = &self.0.updated_in {
            write!(f, " using {version}")?;
        }
        Ok(())
    }
}

impl ApplyError {
    /// The answer to the applier of the object `subject`, e.g. `/name; /v1, Kind=ConfigMap`.
    #[must_use]
    pub fn to_api_error(&self, subject: &str) -> ApiError {
        match self {
            ApplyError::TypeMismatch(why) => {
                ApiError::unnamed(500, format!("failed to create typed patch object ({subject}): {why}"))
            }
            ApplyError::Unconvertible(why) => ApiError::unnamed(
                500,
                format!("failed to convert new object ({subject}) to proper version: {why}"),
            ),
            ApplyError::Unversioned(why) => ApiError::unnamed(500, why.as_str()),
            ApplyError::Conflicts(conflicts) => {
                let causes = conflicts.iter().map(|conflict| Cause {
                    reason: "FieldManagerConflict".to_owned(),
                    message: format!("conflict with {}", conflict.owner()),
                    field: conflict.field.clone(),
                });
                ApiError::apply_conflict(causes.collect(), message(conflicts))
            }
        }
    }
}

/// All conflicts, by manager; those of one manager stand next to each other.
fn message(conflicts: &[Conflict]) -> String {
    if let [only] = conflicts {
        return format!(
            "Apply failed with 1 conflict: conflict with {}: {}",
            only.owner(),
            only.field
        );
    }
    let mut lines = Vec::with_capacity(conflicts.len() + 1);
    let same_owner = |left: &Conflict, right: &Conflict| left.order() == right.order();
    for of_one in conflicts.chunk_by(same_owner) {
        lines.push(format!("conflicts with {}:", of_one[0].owner()));
        lines.extend(of_one.iter().map(|conflict| format!("- {}", conflict.field)));
    }
    format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
}
