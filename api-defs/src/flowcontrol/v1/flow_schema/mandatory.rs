//! The two mandatory schemas, which are immutable: one for exempt requests and one for all other requests.

use super::{
    FlowDistinguisherMethod, FlowSchemaSpec, NonResourcePolicyRule, PolicyRulesWithSubjects,
    PriorityLevelConfigurationReference, ResourcePolicyRule, Subject,
};

/// Wildcard in lists of names.
const ALL: &str = "*";

impl FlowSchemaSpec {
    /// Returns the spec of the mandatory schema `name`, which is the same on every server; `None` for other names.
    #[must_use]
    pub fn mandatory(name: &str) -> Option<Self> {
        match name {
            "exempt" => Some(schema(name, 1, None, &["system:masters"])),
            "catch-all" => Some(schema(
                name,
                10_000,
                Some("ByUser"),
                &["system:unauthenticated", "system:authenticated"],
            )),
            _ => None,
        }
    }
}

/// Returns a schema for all requests of some groups.
fn schema(level: &str, precedence: i32, method: Option<&str>, groups: &[&str]) -> FlowSchemaSpec {
    let all = || vec![ALL.to_owned()];
    FlowSchemaSpec {
        priority_level_configuration: PriorityLevelConfigurationReference { name: level.to_owned() },
        matching_precedence: precedence,
        distinguisher_method: method.map(|type_| FlowDistinguisherMethod {
            type_: type_.to_owned(),
        }),
        rules: vec![PolicyRulesWithSubjects {
            subjects: groups.iter().map(|group| Subject::group(group)).collect(),
            resource_rules: vec![ResourcePolicyRule {
                verbs: all(),
                api_groups: all(),
                resources: all(),
                cluster_scope: true,
                namespaces: all(),
            }],
            non_resource_rules: vec![NonResourcePolicyRule {
                verbs: all(),
                non_resource_urls: all(),
            }],
        }],
    }
}
