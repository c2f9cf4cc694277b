//! API approval of kinds in the protected groups of Kubernetes.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::validation::is_absolute_url;

use crate::apiextensions::v1::CustomResourceDefinition;

/// Annotation with the URL of the approval.
const APPROVED: &str = "api-approved.kubernetes.io";
const WHERE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

/// State of the API approval that a kind in a protected group needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// The annotation is neither a URL nor an opt-out.
    Invalid,
    /// The annotation contains the URL of the approval.
    Approved,
    /// The annotation states that the kind is not approved.
    Bypassed,
    /// The annotation is missing.
    Missing,
}

/// API approval of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// State that the annotation expresses.
    pub state: ApprovalState,
    /// Human-readable explanation of the state.
    pub message: String,
}

impl CustomResourceDefinition {
    /// Returns the API approval of the kind; `None` when its group needs no approval.
    #[must_use]
    pub fn approval(&self) -> Option<Approval> {
        let group = self.spec.group.as_str();
        let is_protected = ["k8s.io", "kubernetes.io"].iter().any(|domain| {
            let rest = group.strip_suffix(domain);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        });
        if !is_protected {
            return None;
        }
        let value = self.metadata.annotations.get(APPROVED).map_or("", String::as_str);
        let name = quote(APPROVED);
        let (state, message) = if value.is_empty() {
            let message = format!("protected groups must have approval annotation {name}, {WHERE}");
            (ApprovalState::Missing, message)
        } else if value.starts_with("unapproved") {
            (ApprovalState::Bypassed, format!("not approved: {}", quote(value)))
        } else if is_absolute_url(value) {
            (ApprovalState::Approved, format!("approved in {value}"))
        } else {
            let either = "with either a URL or a reason starting with \"unapproved\"";
            let message = format!("protected groups must have approval annotation {name} {either}, {WHERE}");
            (ApprovalState::Invalid, message)
        };
        Some(Approval { state, message })
    }
}

pub(super) fn check(new: &CustomResourceDefinition, old: Option<&CustomResourceDefinition>, errors: &mut FieldErrors) {
    let Some(approval) = new.approval() else { return };
    let before = old.and_then(CustomResourceDefinition::approval);
    if before.is_some_and(|before| before.state == approval.state) {
        return;
    }
    let mut errors = errors.at_key("metadata.annotations", APPROVED);
    match approval.state {
        ApprovalState::Approved | ApprovalState::Bypassed => {}
        ApprovalState::Missing => errors.required("", approval.message),
        ApprovalState::Invalid => {
            let value = new.metadata.annotations.get(APPROVED).map_or("", String::as_str);
            errors.invalid("", value, approval.message);
        }
    }
}
