//! Authorizer queries. Expressions are type-checked against these signatures; evaluation is not implemented.

use super::{Context, Entry};
use crate::value::{Evaluated, Fault, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("path: authorizer.(string) path_check", "authorizer_path", unanswered),
    ("group: authorizer.(string) group_check", "authorizer_group", unanswered),
    (
        "serviceAccount: authorizer.(string, string) authorizer",
        "authorizer_serviceaccount",
        unanswered,
    ),
    (
        "resource: group_check.(string) resource_check",
        "groupcheck_resource",
        unanswered,
    ),
    (
        "subresource: resource_check.(string) resource_check",
        "resourcecheck_subresource",
        unanswered,
    ),
    (
        "namespace: resource_check.(string) resource_check",
        "resourcecheck_namespace",
        unanswered,
    ),
    (
        "name: resource_check.(string) resource_check",
        "resourcecheck_name",
        unanswered,
    ),
    (
        "fieldSelector: resource_check.(string) resource_check",
        "authorizer_fieldselector",
        unanswered,
    ),
    (
        "labelSelector: resource_check.(string) resource_check",
        "authorizer_labelselector",
        unanswered,
    ),
    ("check: path_check.(string) decision", "pathcheck_check", unanswered),
    (
        "check: resource_check.(string) decision",
        "resourcecheck_check",
        unanswered,
    ),
    ("errored: decision.() bool", "decision_errored", unanswered),
    ("error: decision.() string", "decision_error", unanswered),
    ("allowed: decision.() bool", "decision_allowed", unanswered),
    ("reason: decision.() string", "decision_reason", unanswered),
];

fn unanswered<'d>(_: &mut Context<'_>, _: Vec<Value<'d>>) -> Evaluated<'d> {
    Err(Fault::new("no authorizer is available to this expression"))
}
