//! Policies: rules in CEL that the server evaluates itself.
//!
//! Reading order: `matching` (the requests that a policy or a binding selects), [`active_policies`] (policies with their bindings, compiled
//! once), `params` (the parameters of a binding),
//! `denial` (refusals); then the plugins `validating` and `mutating`, and `type_checking`, the controller that reports type errors.

mod active_policies;
mod denial;
mod matching;
mod mutating;
mod params;
mod type_checking;
mod validating;

pub(crate) use self::mutating::MUTATING_POLICIES;
pub(crate) use self::type_checking::{CONTROLLER, type_checking};
pub(crate) use self::validating::VALIDATING_POLICIES;

use planesmith_access::admission::Attributes;

use crate::request::Request;

/// Resources that no policy applies to: reviews of users and of their rights.
const EXCLUDED: [(&str, &str); 6] = [
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
];

/// True if no policy applies to a request.
fn is_exempt(attributes: &Attributes<'_>) -> bool {
    Request::is_exempt(attributes)
        || EXCLUDED
            .iter()
            .any(|(group, resource)| attributes.is_for(group, resource))
}
