//! Webhooks that can refuse requests. They are called in parallel, after all changes to the object.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::{LabelSelector, ObjectMeta};
use planesmith_machinery::strategy::{MetadataRules, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;
use planesmith_machinery::{Resource, Struct};

use super::webhook::{Webhook, check};
use super::{MatchCondition, RuleWithOperations, WebhookClientConfig, default_selection, reserved_name};

/// Webhooks that can refuse requests. They are called in parallel, after all changes to the object.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "admissionregistration.k8s.io",
    version = "v1",
    categories("api-extensions"),
    cluster,
    generation = as_sent,
    conditional_update,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Webhooks", type = "integer", doc = "Number of webhooks.", with = webhooks),
    column(age)
)]
pub struct ValidatingWebhookConfiguration {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Webhooks with unique names and the requests they match. They are called in parallel.
    #[field(proto = 2, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub webhooks: Vec<ValidatingWebhook>,
}

/// A webhook and the requests it matches.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ValidatingWebhook {
    /// Name of the webhook, a domain name with at least three parts, unique in its list.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Address of the webhook.
    #[field(proto = 2, keep)]
    pub client_config: WebhookClientConfig,
    /// Operations and resources. A request matches if any of the rules matches. Webhooks are never called for
    /// configurations of webhooks.
    #[field(proto = 3, list_type = atomic)]
    pub rules: Vec<RuleWithOperations>,
    /// Behavior when the webhook cannot be called: Fail (the default) refuses the request, Ignore admits it.
    #[field(proto = 4, known("Fail", "Ignore"), go_type = "FailurePolicyType")]
    pub failure_policy: Option<String>,
    /// Matching of other groups and versions of the same resource: Equivalent (the default) includes them and converts
    /// the objects before the call, Exact does not.
    #[field(proto = 9, known("Equivalent", "Exact"), go_type = "MatchPolicyType")]
    pub match_policy: Option<String>,
    /// Labels of the objects' namespaces; all namespaces when empty. Objects without a namespace always match.
    #[field(proto = 5)]
    pub namespace_selector: Option<LabelSelector>,
    /// Labels of the objects, before or after the change; all objects when empty. Users who can set labels can evade
    /// the webhook.
    #[field(proto = 10)]
    pub object_selector: Option<LabelSelector>,
    /// Side effects of a call: None, or NoneOnDryRun if the webhook omits them for dry-run requests. A webhook with any
    /// other value receives no dry-run requests; new configurations must have one of the two.
    #[field(
        proto = 6,
        keep,
        known("None", "NoneOnDryRun", "Some", "Unknown"),
        go_type = "SideEffectClass"
    )]
    pub side_effects: Option<String>,
    /// Timeout of a call in seconds, 1 to 30. Default: 10.
    #[field(proto = 7)]
    pub timeout_seconds: Option<i32>,
    /// Supported versions of AdmissionReview in order of preference: v1 or v1beta1.
    #[field(proto = 8, keep, list_type = atomic)]
    pub admission_review_versions: Vec<String>,
    /// Conditions that must all be true for the webhook to be called; at most 64.
    #[field(proto = 11, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub match_conditions: Vec<MatchCondition>,
}

fn webhooks(configuration: &ValidatingWebhookConfiguration) -> Cell {
    Cell::Integer(i64::try_from(configuration.webhooks.len()).unwrap_or(i64::MAX))
}

impl Strategy for ValidatingWebhookConfiguration {
    fn set_defaults(&mut self) {
        for webhook in &mut self.webhooks {
            webhook.set_defaults();
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        check(&self.views(), None, errors);
        reserved_name::check(&self.metadata, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        reserved_name::warnings(&self.metadata)
    }
}

impl StrategyExtensions for ValidatingWebhookConfiguration {
    const CHECK_COST_PER_BYTE: u64 = 1_000;
    const METADATA: MetadataRules = MetadataRules::AnyFinalizers;
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_ONLY;

    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        check(&self.views(), Some(&old.views()), errors);
    }
}

impl ValidatingWebhookConfiguration {
    fn views(&self) -> Vec<Webhook<'_>> {
        self.webhooks.iter().map(ValidatingWebhook::view).collect()
    }
}

impl ValidatingWebhook {
    fn set_defaults(&mut self) {
        self.failure_policy.get_or_insert_with(|| "Fail".to_owned());
        default_selection(
            &mut self.match_policy,
            &mut self.namespace_selector,
            &mut self.object_selector,
        );
        self.timeout_seconds.get_or_insert(10);
        self.client_config.set_defaults();
        for rule in &mut self.rules {
            rule.set_defaults();
        }
    }

    fn view(&self) -> Webhook<'_> {
        Webhook {
            name: &self.name,
            client_config: &self.client_config,
            rules: &self.rules,
            failure_policy: self.failure_policy.as_ref(),
            match_policy: self.match_policy.as_ref(),
            namespace_selector: self.namespace_selector.as_ref(),
            object_selector: self.object_selector.as_ref(),
            side_effects: self.side_effects.as_ref(),
            timeout_seconds: self.timeout_seconds,
            admission_review_versions: &self.admission_review_versions,
            reinvocation_policy: None,
            match_conditions: &self.match_conditions,
        }
    }
}
