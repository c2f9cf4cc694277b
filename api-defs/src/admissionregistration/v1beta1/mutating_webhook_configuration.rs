//! Webhooks that can change requests. They are called one after the other, before validating webhooks.

use planesmith_machinery::meta::{LabelSelector, ObjectMeta};
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use super::MatchCondition;
use crate::admissionregistration::v1;
use crate::admissionregistration::v1::{RuleWithOperations, WebhookClientConfig, default_selection};

/// Webhooks that can change requests. They are called one after the other, before validating webhooks.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "admissionregistration.k8s.io",
    version = "v1beta1",
    categories("api-extensions"),
    cluster,
    generation,
    conditional_update,
    storage_version = v1::MutatingWebhookConfiguration,
    unserved,
    strategy
)]
pub struct MutatingWebhookConfiguration {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The webhooks.
    #[field(proto = 2, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub webhooks: Vec<MutatingWebhook>,
}

/// A webhook and the requests it matches.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MutatingWebhook {
    /// Name of the webhook, a domain name with at least three parts, unique in its list.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Address of the webhook.
    #[field(proto = 2, keep)]
    pub client_config: WebhookClientConfig,
    /// Operations and resources. A request matches if any of the rules matches. Webhooks are never called for
    /// configurations of webhooks.
    #[field(proto = 3, list_type = atomic, go_type = "[]RuleWithOperations")]
    pub rules: Vec<RuleWithOperations>,
    /// Behavior when the webhook cannot be called: Fail refuses the request, Ignore (the default) admits it.
    #[field(proto = 4, go_type = "FailurePolicyType")]
    pub failure_policy: Option<String>,
    /// Matching of other groups and versions of the same resource: Equivalent includes them and converts the objects
    /// before the call, Exact (the default) does not.
    #[field(proto = 9, go_type = "MatchPolicyType")]
    pub match_policy: Option<String>,
    /// Labels of the objects' namespaces; all namespaces when empty. Objects without a namespace always match.
    #[field(proto = 5)]
    pub namespace_selector: Option<LabelSelector>,
    /// Labels of the objects, before or after the change; all objects when empty. Users who can set labels can evade
    /// the webhook.
    #[field(proto = 11)]
    pub object_selector: Option<LabelSelector>,
    /// Side effects of a call: None, or NoneOnDryRun if the webhook omits them for dry-run requests. A webhook with any
    /// other value receives no dry-run requests; new configurations must have one of the two.
    #[field(proto = 6, go_type = "SideEffectClass")]
    pub side_effects: Option<String>,
    /// Timeout of a call in seconds, 1 to 30. Default: 30.
    #[field(proto = 7)]
    pub timeout_seconds: Option<i32>,
    /// Supported versions of AdmissionReview in order of preference: v1 or v1beta1.
    #[field(proto = 8, list_type = atomic)]
    pub admission_review_versions: Vec<String>,
    /// Repetition of the call after another plugin changed the object: Never (the default) or IfNeeded.
    #[field(proto = 10, known("IfNeeded", "Never"), go_type = "ReinvocationPolicyType")]
    pub reinvocation_policy: Option<String>,
    /// Conditions that must all be true for the webhook to be called; at most 64.
    #[field(proto = 12, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub match_conditions: Vec<MatchCondition>,
}

impl Strategy for MutatingWebhookConfiguration {
    fn set_defaults(&mut self) {
        for webhook in &mut self.webhooks {
            webhook.set_defaults();
        }
    }
}

impl MutatingWebhook {
    fn set_defaults(&mut self) {
        self.failure_policy.get_or_insert_with(|| "Ignore".to_owned());
        self.match_policy.get_or_insert_with(|| "Exact".to_owned());
        default_selection(
            &mut self.match_policy,
            &mut self.namespace_selector,
            &mut self.object_selector,
        );
        self.side_effects.get_or_insert_with(|| "Unknown".to_owned());
        self.timeout_seconds.get_or_insert(30);
        if self.admission_review_versions.is_empty() {
            self.admission_review_versions.push("v1beta1".to_owned());
        }
        self.reinvocation_policy.get_or_insert_with(|| "Never".to_owned());
        self.client_config.set_defaults();
        for rule in &mut self.rules {
            rule.set_defaults();
        }
    }
}
